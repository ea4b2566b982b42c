package wire

import (
	"sort"
	"strconv"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/quic"
)

// debt is something that was owed when a silence began.
type debt struct {
	of      *autopsy // nil: no connection's
	side    lab.Direction
	grave   int // the gravest is the one that a stall's sentence is about
	text    string
	bytes   int64 // in flight
	missing int64 // of those, what had not arrived
	flight  bool  // it is what was in flight
	credit  bool  // it is flow-control credit
	watches []*watch
}

// How grave debts are. Who has something in flight must act before anybody who
// waits for it; and whoever let a timer pass, before all others.
const (
	graveSilent    = 100 // a timer was due, and did not fire
	graveAmplified = 90
	graveLost      = 80 // known to be lost, and not sent again
	graveFlight    = 70
	graveCredit    = 60
	graveHandshake = 45
	graveAnswer    = 40
	graveRequest   = 35
	graveNext      = 30
)

// debts are what was owed on a connection. Packets without data that were not
// acknowledged are no reason for a stall of their own.
func (x *autopsy) debts() []debt {
	if x.closed {
		return nil
	}
	var real, minor []debt
	for _, d := range []lab.Direction{lab.Up, lab.Down} {
		if d == lab.Up && x.reset {
			continue
		}
		flight, some := x.flight(d)
		switch {
		case !some:
		case flight.grave == 0:
			if !x.pings(d) { // nobody waits for a PING, whatever its timer did
				flight = x.graded(flight)
			}
			minor = append(minor, flight)
		default:
			real = append(real, x.graded(flight))
		}
		real = append(real, x.credit(d)...)
	}
	real = append(real, x.amplificationDebt()...)
	real = x.greet(real, minor)
	if !x.reset {
		real = append(real, x.exchanges()...)
	}
	if len(real) == 0 {
		return nil
	}
	return append(real, minor...)
}

// graded makes a debt as grave as its timers say.
func (x *autopsy) graded(d debt) debt {
	for _, w := range d.watches {
		if due, fired := w.count(); fired < due && w.name != "tlp" {
			d.grave = max(d.grave, graveSilent)
		}
	}
	return d
}

// flight is what was in flight in direction d. It has no gravity where no data
// was.
func (x *autopsy) flight(d lab.Direction) (debt, bool) {
	h := &x.half[d]
	if len(h.unacked) == 0 || x.shut(d) {
		return debt{}, false
	}
	bytes := h.sent.total() - h.acked.total()
	flight := debt{of: x, side: d, grave: graveFlight, bytes: bytes, flight: true}
	flight.missing = h.sent.total() - max(h.arrived.total(), h.acked.total())
	if x.c.Transport == "tcp" {
		flight.watches = x.armed(d)
	} else if w := x.probing(d); w != nil {
		flight.watches = []*watch{w}
	}
	who := "the " + sideOf(d)
	switch {
	case bytes > 0:
		flight.text = who + " had " + grouped(bytes) + " B in flight, of which " + x.fate(d, bytes)
	case x.c.Transport == "tcp" && h.unacked[0].Number == 0:
		flight.text = x.opening(d)
	case x.challenged(d):
		flight.text = who + " had a PATH_CHALLENGE in flight that had not been answered"
		flight.grave = graveCredit
	default:
		flight.grave = 0
		flight.text = who + " had " + plural(len(h.unacked), "packet") + " without data in flight, not acknowledged" + x.carrying(d)
	}
	if again := x.missing(d); again > 0 {
		flight.text += "; acknowledgements of later packets had told it that " + grouped(again) +
			" B were lost (RFC 9002, section 6.1), and it did not send them again"
		flight.grave = graveLost
	}
	return flight, true
}

// fate says how much of the bytes in flight had arrived.
func (x *autopsy) fate(d lab.Direction, bytes int64) string {
	h := &x.half[d]
	switch arrived := h.arrived.total() - h.acked.total(); arrived {
	case 0:
		return "nothing had arrived"
	case bytes:
		return "everything had arrived: only acknowledgements had not"
	default:
		return grouped(arrived) + " B had arrived"
	}
}

// opening says what became of a SYN, or of the answer to it.
func (x *autopsy) opening(d lab.Direction) string {
	arrived := false
	for _, s := range x.half[d].unacked {
		arrived = arrived || came(x.r.Events[s.Event].Packet, x.s.from)
	}
	what := "the client's SYN"
	if d == lab.Down {
		what = "the server's SYN-ACK"
	}
	if arrived {
		return what + " had arrived and was not answered"
	}
	return what + " had not arrived"
}

// missing is how many bytes of direction d were known to be lost to the sender of
// QUIC packets when the silence began, and were in no packet that it sent until
// the silence's end. What is not acknowledged and older than something that is
// counts: the time threshold of RFC 9002, section 6.1.2, is over within any
// silence that is long enough.
func (x *autopsy) missing(d lab.Direction) int64 {
	h := &x.half[d]
	if x.c.Transport != "quic" || len(h.last) == len(h.unacked) {
		return 0
	}
	covered, all := carried{}, carried{}
	for of, s := range h.acked {
		for _, e := range *s {
			covered.add(morsel{of, e.begin, e.end})
			all.add(morsel{of, e.begin, e.end})
		}
	}
	tail := map[int]bool{}
	for _, s := range h.last {
		tail[s.Event] = true
	}
	for _, s := range x.c.Sent[d] {
		at := x.r.Events[s.Event].At
		if at > x.s.to {
			break
		}
		for _, p := range x.morsels(s) {
			if at > x.s.from || tail[s.Event] {
				covered.add(p)
			}
			all.add(p)
		}
	}
	return all.total() - covered.total()
}

// pings says whether the packets of direction d that were not acknowledged carried
// nothing that the other side can wait for: PINGs, as a search for the path's MTU
// sends them (RFC 9000, section 14.4).
func (x *autopsy) pings(d lab.Direction) bool {
	for _, s := range x.half[d].unacked {
		p := x.packet(s)
		if p == nil {
			return false
		}
		for _, f := range p.Frames {
			if f.Kind != quic.Ping && f.Kind != quic.Padding && f.Kind != quic.Ack {
				return false
			}
		}
	}
	return true
}

// carrying lists the kinds of frames in the packets of direction d that were not
// acknowledged, without those of streams and padding.
func (x *autopsy) carrying(d lab.Direction) string {
	seen := map[quic.FrameKind]bool{}
	for _, s := range x.half[d].unacked {
		if p := x.packet(s); p != nil {
			for _, f := range p.Frames {
				seen[f.Kind] = true
			}
		}
	}
	delete(seen, quic.Ack)
	delete(seen, quic.Padding)
	var names []string
	for k := range seen {
		names = append(names, string(k))
	}
	if len(names) == 0 {
		return ""
	}
	sort.Strings(names)
	return " (" + strings.Join(names, ", ") + ")"
}

// challenged says whether a PATH_CHALLENGE of direction d was not acknowledged.
func (x *autopsy) challenged(d lab.Direction) bool {
	for _, s := range x.half[d].unacked {
		if p := x.packet(s); p != nil {
			for _, f := range p.Frames {
				if f.Kind == quic.PathChallenge {
					return true
				}
			}
		}
	}
	return false
}

// amplificationDebt is the client's: only what it sends lets the server go on.
func (x *autopsy) amplificationDebt() []debt {
	a := x.amplified()
	if !a.blocked {
		return nil
	}
	d := debt{
		of: x, side: lab.Up, grave: graveAmplified,
		text: "the server had sent " + grouped(a.sent) + " B and received " + grouped(a.received) +
			" B: until the client's address is validated it may send three times as much (RFC 9000, section 8.1), and only the client can go on",
	}
	if w := x.probing(lab.Up); w != nil && len(x.half[lab.Up].unacked) == 0 {
		d.watches = []*watch{w} // else the flight has it
	}
	return []debt{x.graded(d)}
}

// exchanges are the requests that had not been answered, and the responses that
// had not been finished, apart from what was in flight.
func (x *autopsy) exchanges() []debt {
	var unsent, unanswered, unfinished int
	for _, q := range x.requests {
		switch {
		case q.ended:
		case q.begun:
			unfinished++
		case q.arrived:
			unanswered++
		case !q.whole:
			unsent++
		}
	}
	var all []debt
	owe := func(n int, d lab.Direction, grave int, text string) {
		if n == 0 {
			return
		}
		if x.blind(d) {
			grave, text = graveNext, text+", or has sent it: what followed was not kept"
		}
		all = append(all, debt{of: x, side: d, grave: grave, text: text})
	}
	owe(unanswered, lab.Down, graveAnswer, "the server owed the response to "+plural(unanswered, "request"))
	owe(unfinished, lab.Down, graveAnswer, "the server had begun "+plural(unfinished, "response")+" and not sent the end")
	owe(unsent, lab.Up, graveRequest, "the client had begun "+plural(unsent, "request")+" and not sent the end")
	return all
}

// blind says whether what direction d sent before the silence was not all kept, so
// that nobody knows which messages ended in it.
func (x *autopsy) blind(d lab.Direction) bool {
	n := x.c.Unread[d]
	return n > 0 && x.r.Events[n-1].At <= x.s.from
}

// unasked is the client's debt where nothing else was owed, and yet the load was
// not done: requests that it had not made or, where the connections cannot be
// read, what the load wants and was not delivered.
func (r *Reading) unasked(a About, all []*autopsy, others []debt) []debt {
	if len(others) > 0 || r.Capture.End <= r.Capture.Start {
		return nil
	}
	load := a.Run.Cell.Load
	asked, readable := 0, len(all) > 0
	for _, x := range all {
		for _, q := range x.requests {
			if !q.warm {
				asked++
			}
		}
		readable = readable && x.c.Decrypted && !x.blind(lab.Up) && !x.blind(lab.Down)
	}
	if readable && asked < load.Objects && asked > 0 {
		return []debt{{side: lab.Up, grave: graveNext, text: "the client had made " + strconv.Itoa(asked) + " of " +
			plural(load.Objects, "request") + ", and all had been answered"}}
	}
	if !readable && a.Body < load.Bytes() && len(all) > 0 && !all[0].s.ended {
		d := lab.Down
		if load.Upload {
			d = lab.Up
		}
		return []debt{{side: d, grave: graveNext, text: "the load was not done: " + grouped(a.Body) + " of " + grouped(load.Bytes()) +
			" B had been delivered, and the packets cannot be read far enough to tell what was owed"}}
	}
	return nil
}
