package wire

import "github.com/samewire/samewire/internal/lab"

// Digest reads the packets of a run, and fills in the facts that follow from
// what they carried. What f has of the counts of all packets stays as it is.
func Digest(c *Capture, a About, f *lab.Wire) {
	r := Read(c)
	r.handshakes(a, f)
	r.roundTrips(a, f)
}
