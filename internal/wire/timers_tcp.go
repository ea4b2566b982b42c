package wire

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
)

// TCP's timers. Linux adds at least 200 ms to the smoothed round trip; gVisor
// waits for at least 200 ms in all. Both are far below the second that RFC 6298
// asks for, and what they do is what a person compares with. The later of the two
// is used, so that neither is accused for nothing.
const (
	leastRTO     = 200 * time.Millisecond
	firstRTO     = time.Second            // before a round trip was measured (RFC 6298, section 2.1)
	longRTO      = 120 * time.Second      // Linux and gVisor; RFC 6298, section 2.5: at least 60 s
	delayedWorst = 200 * time.Millisecond // RFC 8985, section 7.2: the worst case
)

const tcpTwice = "twice the wait before (RFC 6298, section 5.5)"

// rto is TCP's retransmission timeout, and how it follows.
func (t tempo) rto() (time.Duration, string) {
	if t.samples == 0 {
		return firstRTO, "1 s, since no round trip had been measured (RFC 6298, section 2.1)"
	}
	wait := t.smoothed + max(leastRTO, 4*t.variation)
	return min(wait, longRTO), "after " + length(wait) + " = SRTT " + length(t.smoothed) + " + max(200 ms, 4 × RTTVAR " +
		length(t.variation) + ") (RFC 6298, section 2, with 200 ms as Linux and gVisor have it instead of the RFC's 1 s)"
}

// armed are the timers of TCP for what direction d had in flight.
func (x *autopsy) armed(d lab.Direction) []*watch {
	h := &x.half[d]
	if len(h.unacked) == 0 {
		return nil
	}
	wait, why := h.rtt.rto()
	base := max(h.told, x.r.Events[h.unacked[0].Event].At)
	rto := &watch{
		x: x, side: d, name: "rto", base: base, first: wait, most: longRTO,
		why: why + ", from the last acknowledgement or segment", twice: tcpTwice,
	}
	var all []*watch
	if tlp := x.probe(d, base, wait); tlp != nil {
		all = append(all, tlp)
	}
	return append(all, rto.run())
}

// probe is the tail-loss probe (RFC 8985, section 7.2); nil where there is none:
// without SACK, where something is known to be missing or was sent again, or
// where the retransmission timeout comes first.
func (x *autopsy) probe(d lab.Direction, base, rto time.Duration) *watch {
	h := &x.half[d]
	if h.rtt.samples == 0 || !x.sack() || x.recovering(d) {
		return nil
	}
	for _, s := range h.unacked {
		if s.Again > 0 || s.Bytes == 0 {
			return nil
		}
	}
	last := x.r.Events[h.unacked[len(h.unacked)-1].Event].At
	w := &watch{
		x: x, side: d, name: "tlp", base: max(base, last), first: 2 * h.rtt.smoothed, early: h.rtt.smoothed, once: true,
		why: "2 × SRTT " + length(h.rtt.smoothed),
	}
	if len(h.unacked) == 1 {
		w.first += delayedWorst
		w.why += " + 200 ms for a delayed acknowledgement"
	}
	w.why = "after " + length(w.first) + " = " + w.why + " (RFC 8985, section 7.2: a sender should)"
	sooner := rto < w.first
	w.first = min(w.first, rto)
	if w.run(); sooner && (len(w.rings) == 0 || w.rings[0].at-w.base >= rto/2) {
		return nil // the retransmission timeout was due before the probe
	}
	return w
}

// sack says whether both sides permitted selective acknowledgements.
func (x *autopsy) sack() bool {
	var permitted [2]bool
	for n, i := range x.c.Events {
		if e := &x.r.Events[i]; e.IP.TCP.Flags&ip.SYN != 0 {
			permitted[e.Way] = e.IP.TCP.SACKPermitted
		} else if n > 64 {
			break
		}
	}
	return permitted[lab.Up] && permitted[lab.Down]
}

// recovering says whether the last acknowledgement that reached the sender showed
// a gap.
func (x *autopsy) recovering(d lab.Direction) bool {
	last := false
	for _, a := range x.c.Acks[d] {
		if a.At > x.s.from {
			break
		}
		last = a.Sacked
	}
	return last
}

// persist is the timer of a sender whose receiver has closed its window.
func (x *autopsy) persist(d lab.Direction, since time.Duration) *watch {
	wait, why := x.half[d].rtt.rto()
	w := &watch{
		x: x, side: d, name: "persist", base: since, first: wait, most: longRTO, any: true,
		why:   "the window is zero, and is to be probed after a retransmission timeout (RFC 9293, section 3.8.6.1): " + why,
		twice: "twice the wait before (RFC 9293, section 3.8.6.1)",
	}
	return w.run()
}
