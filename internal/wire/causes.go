package wire

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// chains finds what released the packets of one connection.
//
// The unit is the message, by its bytes: a SYN, a ClientHello, a server's flight,
// a request. By the protocol's meaning a message needs others (causes_tls.go,
// causes_quic.go say which): it could not have been sent before they were there.
// What is needed must have arrived before any byte of the message was offered, or
// there is no chain at all. The clock decides nothing: it only can contradict.
//
// A message of several packets has one chain for each of them, since a packet may
// have had to wait for more than its message: for the congestion window, or for
// the limit of an address that is not validated (causes_limits.go). The longest
// chain counts; of equal ones, that of the packet that arrived last. So it does
// not matter which packets were lost: what is sent again has the cause of what was
// sent first, and an acknowledgement is a cause only where nothing else allowed
// the packet.
//
// Properties that an edit must keep: a cause stands before its effect in the log,
// so that every chain ends; what cannot be read, or contradicts itself, gives no
// chain, and never a shorter one.
type chains struct {
	r     *Reading
	a     About
	c     *Connection
	from  int // events before it are no part of the load
	valid *validation
	sides [2]*congestion
	memo  map[limitKey]limit
}

func (r *Reading) chains(a About, c *Connection) *chains {
	k := &chains{r: r, a: a, c: c, memo: map[limitKey]limit{}}
	if c.quic != nil {
		k.valid = r.validation(c)
	}
	return k
}

// done is a message that arrived.
type done struct {
	step     *step // its chain
	complete int   // the event with which its last byte arrived
	first    int   // the event with which its first byte was offered
}

// place is where the bytes of a message are.
type place struct {
	on         *spans
	begin, end int64
}

func placeOf(from, upto unit) place { return place{from.on, from.begin, upto.end} }

// message makes the chain of a message, which needs others; nil where it cannot
// be told.
func (k *chains) message(what, why string, places []place, needs ...*done) *done {
	var base *step
	for _, n := range needs {
		if n == nil {
			return nil
		}
		base = k.r.deeper(base, n.step)
	}
	m := &done{complete: -1, first: -1}
	for _, p := range places {
		if !k.add(m, what, why, p, base, needs) {
			return nil
		}
	}
	if m.step == nil {
		return nil
	}
	return m
}

// maxLooks bounds what it may cost to find out which packets of a message
// arrived. Beyond it there is no chain.
const maxLooks = 1 << 26

// add puts the packets of a place to a message.
func (k *chains) add(m *done, what, why string, at place, base *step, needs []*done) bool {
	parts, ok := at.on.firsts(at.begin, at.end)
	if !ok || len(parts)*len(at.on.again) > maxLooks {
		return false
	}
	for _, p := range parts {
		for _, n := range needs {
			if !k.r.before(n.complete, p.event) {
				return false
			}
		}
		arrived, ok := k.r.delivered(at.on, p.begin, p.end)
		if !ok {
			return false
		}
		cause, because := base, why
		waited := k.limited(p.event, base)
		if !waited.ok {
			return false
		}
		if waited.step != nil && k.r.deeper(base, waited.step) == waited.step {
			cause, because = waited.step, waited.why
		}
		m.step = k.r.deeper(m.step, cause.then(k.r, arrived, k.again(what, p.event, arrived), because))
		if m.complete < 0 || k.r.arrivals(arrived, m.complete) > 0 {
			m.complete = arrived
		}
		if m.first < 0 || p.event < m.first {
			m.first = p.event
		}
	}
	return true
}

// again says of a message that the packet which arrived was not the first.
func (k *chains) again(what string, first, arrived int) string {
	if first == arrived {
		return what
	}
	return fmt.Sprintf("%s, sent again: packet %d did not arrive in time", what, k.r.Events[first].N)
}

// unit finds a message of a direction that was read: the nth of its kind, from 0.
func (k *chains) unit(d lab.Direction, kind MessageKind, n int) (u unit, ok bool) {
	for _, u := range k.c.units[d] {
		if u.kind != kind {
			continue
		}
		if n == 0 {
			return u, true
		}
		n--
	}
	return unit{}, false
}

// handshake is the chain to the packet that ended the handshake for the client.
func (k *chains) handshake() *step {
	if end := k.secured(); end != nil {
		return end.step
	}
	return nil
}

// secured is the message that ended the handshake for the client: the server's
// Finished, with all that must have come before it.
func (k *chains) secured() *done {
	if k.c.Hello == nil {
		return nil
	}
	hello := k.hello()
	if k.c.Hello.Version == "1.2" && k.c.quic == nil {
		return k.finished12(hello)
	}
	return k.flight13(hello)
}

// The reasons that more than one message has.
const (
	whyHello  = "it answers the ClientHello"
	whyOpen   = "TLS begins once the connection is open"
	whyAgain  = "the server asked for another ClientHello"
	whySecure = "the client sends it once the server's Finished has come"
)

// opened is what the ClientHello of a TCP connection needs: the SYN-ACK.
func (k *chains) opened() *done {
	syn := k.message("SYN", "", []place{{k.c.stream[lab.Up], 0, 1}})
	return k.message("SYN-ACK", "it answers the SYN", []place{{k.c.stream[lab.Down], 0, 1}}, syn)
}

// hello is the last ClientHello: the one that the server went on with.
func (k *chains) hello() *done {
	first, ok := k.unit(lab.Up, ClientHello, 0)
	if !ok {
		return nil
	}
	needs, why, ok := k.helloNeeds()
	if !ok {
		return nil
	}
	hello := k.message("ClientHello", why, []place{placeOf(first, first)}, needs...)
	retry, ok := k.unit(lab.Down, HelloRetryRequest, 0)
	if !ok {
		return hello
	}
	asked := k.message("HelloRetryRequest", whyHello, []place{placeOf(retry, retry)}, hello)
	second, ok := k.unit(lab.Up, ClientHello, 1)
	if !ok {
		return nil
	}
	return k.message("second ClientHello", whyAgain, []place{placeOf(second, second)}, asked)
}

// helloNeeds is what the first ClientHello needs; nothing where it opens the
// connection.
func (k *chains) helloNeeds() (needs []*done, why string, ok bool) {
	if k.c.quic != nil {
		return k.attempts()
	}
	open := k.opened()
	return []*done{open}, whyOpen, open != nil
}

// flight13 is the server's flight of TLS 1.3, from its ServerHello to its
// Finished (RFC 8446, section 2).
func (k *chains) flight13(hello *done) *done {
	start, ok := k.unit(lab.Down, ServerHello, 0)
	if !ok {
		return nil
	}
	end, ok := k.unit(lab.Down, Finished, 0)
	if !ok {
		return nil
	}
	const what = "server's ServerHello to Finished"
	if start.on == end.on {
		return k.message(what, whyHello, []place{placeOf(start, end)}, hello)
	}
	all := unit{on: end.on}
	return k.message(what, whyHello, []place{placeOf(start, start), placeOf(all, end)}, hello)
}

// finished12 is the server's Finished of TLS 1.2 (RFC 5246, section 7.3). In the
// full handshake it answers the client's; in the abbreviated one it comes first.
func (k *chains) finished12(hello *done) *done {
	start, ok1 := k.unit(lab.Down, ServerHello, 0)
	end, ok2 := k.unit(lab.Down, Finished, 0)
	if !ok1 || !ok2 {
		return nil
	}
	flight, shd, full := k.flight12(hello)
	if !full {
		return k.message("server's ServerHello to Finished", whyHello, []place{placeOf(start, end)}, hello)
	}
	exchange, ok1 := k.unit(lab.Up, ClientKeyExchange, 0)
	client, ok2 := k.unit(lab.Up, Finished, 0)
	if !ok1 || !ok2 {
		return nil
	}
	sent := k.message("client's ClientKeyExchange to Finished", "it answers the ServerHelloDone",
		[]place{placeOf(exchange, client)}, flight)
	rest := unit{on: end.on, begin: shd.end} // a session ticket, and ChangeCipherSpec
	return k.message("server's Finished", "it answers the client's", []place{placeOf(rest, end)}, sent)
}

// flight12 is the server's first flight of a full handshake of TLS 1.2.
func (k *chains) flight12(hello *done) (flight *done, last unit, full bool) {
	start, ok := k.unit(lab.Down, ServerHello, 0)
	if !ok {
		return nil, last, false
	}
	if last, full = k.unit(lab.Down, ServerHelloDone, 0); !full {
		return nil, last, false
	}
	return k.message("server's ServerHello to ServerHelloDone", whyHello, []place{placeOf(start, last)}, hello), last, true
}
