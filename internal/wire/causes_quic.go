package wire

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/quic"
)

// attempts is what the last ClientHello of a QUIC connection needs: nothing, or
// the Retry or version negotiation that asked for another attempt (RFC 9000,
// sections 6 and 8.1.2).
func (k *chains) attempts() (needs []*done, why string, ok bool) {
	var before *done
	tries := k.c.quic.tries
	for n, a := range tries {
		if n > 0 {
			if before = k.asked(tries[n-1], a, before); before == nil {
				return nil, "", false
			}
			why = fmt.Sprintf("the %s asked for another attempt", a.kind)
		}
	}
	if before == nil {
		return nil, "", len(tries) > 0
	}
	return []*done{before}, why, true
}

// asked is the packet that asked for attempt next: it answers a datagram of the
// one before.
func (k *chains) asked(last, next attempt, need *done) *done {
	if next.event < 0 || !k.r.Events[next.event].arrived() {
		return nil
	}
	for _, i := range k.c.Events {
		e := &k.r.Events[i]
		if i < last.opened || e.Way != lab.Up || !k.r.before(i, next.event) {
			continue
		}
		var cause *step
		if need != nil {
			if !k.r.before(need.complete, i) {
				return nil
			}
			cause = need.step
		}
		first := cause.then(k.r, i, "first Initial", "the server asked for it")
		return &done{
			step:     first.then(k.r, next.event, string(next.kind), "it answers the client's Initial"),
			complete: next.event, first: next.event,
		}
	}
	return nil
}

// validated is the datagram without which the server could not have sent event i
// to an address that is not validated, with its chain; nil where the ClientHello
// was enough. base is what the packet needs by its meaning.
func (k *chains) validated(i int, base *step) *step {
	if k.valid == nil || k.r.Events[i].Way != lab.Down || base == nil {
		return nil
	}
	by, ok := k.valid.releaser(i)
	if !ok || k.r.arrivals(by, base.event) <= 0 || !k.r.before(by, i) {
		return nil
	}
	var cause *step
	for _, acked := range k.acknowledges(by) {
		if !k.r.before(acked, by) || base.event >= acked {
			continue
		}
		part := base
		if waited := k.limited(acked, base); waited.ok {
			part = k.r.deeper(part, waited.step)
		}
		what := fmt.Sprintf("as much as the server may send: %d times what it received", antiAmplification)
		cause = k.r.deeper(cause, part.then(k.r, acked, what, whyHello))
	}
	if cause == nil { // nothing of what it needs made the client send it: a timeout
		return base.prev.then(k.r, by, k.unprompted(by), "")
	}
	return cause.then(k.r, by, "datagram of the client, which lets the server send more", "it acknowledges what came")
}

// unprompted says what a datagram is that gave the server credit and answers nothing
// that the server had sent: a probe (RFC 9002, section 6.2.2.1), as far as it can be
// read.
func (k *chains) unprompted(by int) string {
	for _, p := range k.r.Events[by].QUIC {
		if !p.Opened {
			return "datagram of the client, which lets the server send more"
		}
	}
	return "probe, which the client sent on its own timer, and which lets the server send more"
}

// acknowledges lists the events whose packets have the largest numbers that the
// datagram of event i acknowledges.
func (k *chains) acknowledges(i int) (list []int) {
	e := &k.r.Events[i]
	for _, p := range e.QUIC {
		if !p.Opened {
			continue
		}
		for _, f := range p.Frames {
			if f.Kind != quic.Ack || len(f.Ranges) == 0 {
				continue
			}
			space := int(levelOf(p.Kind))
			for _, s := range k.c.Sent[1-e.Way] {
				if s.Space == space && s.Number == f.Ranges[0].Largest {
					list = append(list, s.Event)
					break
				}
			}
		}
	}
	return list
}
