package wire

import "github.com/samewire/samewire/internal/lab"

// Digest reads the packets of a run, and fills in the facts that follow from
// what they carried, or from how they followed each other. What f has of the
// counts of all packets must be there before, and stays as it is. Without a
// capture there is nothing to read: f then has empty lists.
func Digest(c *Capture, a About, f *lab.Wire) {
	f.Causes, f.Conversations, f.Stalls = []lab.Cause{}, []lab.Conversation{}, []lab.Stall{}
	if c == nil {
		return
	}
	r := Read(c)
	r.handshakes(a, f) // makes the conversations
	r.roundTrips(a, f)
	r.senders(a, f)
	r.bursts(a, f)
	r.usage(a, f)
	r.stalls(a, f)
}

// AboutRun says what is known of a run besides its packets, with what its client
// reported.
func AboutRun(run lab.Run, report lab.Report) About {
	a := About{Run: run, RTT: run.Cell.Path.RTT()}
	for _, q := range report.Requests {
		a.Body += q.Bytes
	}
	return a
}
