package wire

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
)

// armed are the timers of TCP for what direction d had in flight.
func (x *autopsy) armed(d lab.Direction) []*watch {
	h := &x.half[d]
	if len(h.unacked) == 0 {
		return nil
	}
	wait, why := x.rto(d)
	base := max(h.told, x.r.Events[h.unacked[0].Event].At)
	rto := &watch{
		x: x, side: d, name: "rto", base: base, first: wait, most: longRTO,
		why: why + ", from the last acknowledgement or segment", twice: tcpTwice,
	}
	var all []*watch
	if tlp := x.probe(d, base, wait); tlp != nil {
		all = append(all, tlp)
		// The probe starts the other timer again (RFC 8985, section 7.3): one packet is
		// the work of one of them.
		if _, fired := tlp.count(); fired > 0 {
			rto.base, rto.probed = max(rto.base, tlp.rings[0].at), true
		}
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
	last, rtt := x.r.Events[h.unacked[len(h.unacked)-1].Event].At, max(h.rtt.smoothed, x.stamps(d).smoothed)
	w := &watch{
		x: x, side: d, name: "tlp", base: max(base, last), first: 2 * rtt, early: h.rtt.smoothed, once: true,
		why: "2 × SRTT " + length(rtt),
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
	wait, why := x.rto(d)
	w := &watch{
		x: x, side: d, name: "persist", base: since, first: wait, most: longRTO, any: true,
		why:   "the window is zero, and is to be probed after a retransmission timeout (RFC 9293, section 3.8.6.1): " + why,
		twice: "twice the wait before (RFC 9293, section 3.8.6.1)",
	}
	return w.run()
}
