package wire

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/quic"
)

const (
	firstRTT = 333 * time.Millisecond // RFC 9002, section 6.2.2
	// soonPTO is how soon a probe may come where there is no sample: quic-go takes
	// 100 ms for the round trip, and waits for two.
	soonPTO     = 150 * time.Millisecond
	granularity = time.Millisecond // RFC 9002, section 6.1.2
	// ackDelayDue is what an endpoint may wait before it acknowledges where it says
	// nothing else (RFC 9000, section 18.2). Those known say 25 or 26 ms.
	ackDelayDue = 25 * time.Millisecond
	// leastDatagram is the size of a datagram that carries an Initial (RFC 9000,
	// section 14.1).
	leastDatagram = 1200
)

// pto is QUIC's probe timeout, and how it follows. It has the receiver's delay
// only for application data.
func (t tempo) pto(application bool) (time.Duration, string) {
	why := " = SRTT " + length(t.smoothed) + " + max(4 × RTTVAR " + length(t.variation) + ", 1 ms)"
	if t.samples == 0 {
		t.smoothed, t.variation = firstRTT, firstRTT/2
		why = ", 3 × 333 ms, since no round trip had been measured"
	}
	wait := t.smoothed + max(4*t.variation, granularity)
	if application {
		wait += ackDelayDue
		why += " + max_ack_delay 25 ms"
	}
	return wait, "after " + length(wait) + why
}

// probing is the probe timeout of what direction d had in flight; nil where none
// is armed (RFC 9002, section 6.2).
func (x *autopsy) probing(d lab.Direction) *watch {
	h := &x.half[d]
	if d == lab.Down && x.amplified().blocked { // section 6.2.2.1
		return nil
	}
	if len(h.last) == 0 {
		if d == lab.Up && !x.validated() {
			return x.deadlock()
		}
		return nil
	}
	first := h.last[0]
	for _, s := range h.last {
		if s.Space < first.Space {
			first = s
		}
	}
	wait, why := h.rtt.pto(first.Space == 2)
	w := &watch{
		x: x, side: d, name: "pto", base: max(h.told, x.r.Events[first.Event].At), first: wait,
		why:   why + ", from the last acknowledgement or packet that asks for one (RFC 9002, section 6.2.1)",
		twice: "twice the wait before (RFC 9002, section 6.2.1)",
	}
	if h.rtt.samples == 0 {
		w.early = soonPTO
	}
	return w.run()
}

// deadlock is the probe timeout that a client must have with nothing in flight,
// until it knows that the server has validated its address.
func (x *autopsy) deadlock() *watch {
	h := &x.half[lab.Up]
	base, some := h.told, false
	for _, s := range x.c.Sent[lab.Up] {
		if at := x.r.Events[s.Event].At; at <= x.s.from {
			base, some = max(base, at), true
		}
	}
	if !some {
		return nil
	}
	wait, why := h.rtt.pto(false)
	w := &watch{
		x: x, side: lab.Up, name: "pto", base: base, first: wait,
		why:   why + ": with nothing in flight too, until the client knows that the server has validated its address (RFC 9002, section 6.2.2.1)",
		twice: "twice the wait before (RFC 9002, section 6.2.1)",
	}
	return w.run()
}

// validated says whether the client knew that the server had validated its
// address: a Handshake packet of its own, or a later one, was acknowledged, or the
// handshake confirmed.
func (x *autopsy) validated() bool {
	for _, s := range x.c.Sent[lab.Up] {
		if s.Space > 0 && s.Acked <= x.s.from {
			return true
		}
	}
	return x.gone[lab.Up][1]
}

// amplification is what a server had sent to an address that is not validated.
type amplification struct {
	sent, received int64 // bytes of UDP payload
	blocked        bool
}

// amplified adds up what the server had sent before the client's address was
// validated (RFC 9000, section 8.1). It is blocked when the next datagram would
// be beyond three times what it had received.
func (x *autopsy) amplified() (a amplification) {
	if x.c.Transport != "quic" {
		return a
	}
	for _, i := range x.c.Events {
		e := &x.r.Events[i]
		if e.At > x.s.from {
			break
		}
		switch {
		case e.Way == lab.Down:
			a.sent += int64(e.IP.Size)
		case !came(e.Packet, x.s.from):
		case provesAddress(e):
			return amplification{}
		default:
			a.received += int64(e.IP.Size)
		}
	}
	a.blocked = a.received > 0 && a.sent > 0 && a.sent+leastDatagram > 3*a.received
	return a
}

// provesAddress says whether a client's datagram validates its address.
func provesAddress(e *Event) bool {
	for _, p := range e.QUIC {
		if p.Kind == quic.Handshake || p.Kind == quic.OneRTT || p.Kind == quic.Initial && p.Token > 0 {
			return true
		}
	}
	return false
}
