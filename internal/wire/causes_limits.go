package wire

import (
	"fmt"
	"sort"

	"github.com/samewire/samewire/internal/lab"
)

// limit is what a packet had to wait for: the step that lifted the limit that was
// in the way, and why; no step where there was none. It is not ok where that
// cannot be told.
type limit struct {
	step *step
	why  string
	ok   bool
}

// limitKey is a packet, and what it needs by its meaning. What is asked for twice
// is remembered, so that no capture makes the chains branch without end.
type limitKey struct {
	event int
	base  *step
}

// limited is what event i had to wait for besides what its content needs (base).
func (k *chains) limited(i int, base *step) limit {
	key := limitKey{i, base}
	if l, ok := k.memo[key]; ok {
		return l
	}
	s, ok := k.windowed(i, base)
	l := limit{s, "the window had been full", ok}
	if v := k.validated(i, base); ok && v != nil && k.r.deeper(s, v) == v {
		l.step, l.why = v, fmt.Sprintf("the server had sent %d times what it had received", antiAmplification)
	}
	k.memo[key] = l
	return l
}

// congestion is what one side of a connection had sent, packet by packet of Sent.
type congestion struct {
	sent  []int64 // bytes with this packet
	least []int64 // the smallest initial window with which all packets up to this one could be sent
	lossy []bool  // something was sent again up to this one
	acked []int64 // bytes with each of Acks
}

// congestion adds up what was sent and acknowledged in a direction.
//
// A congestion window of w bytes at first grows by no more than what is
// acknowledged (RFC 5681, section 3.1; RFC 9002, section 7.3.1). So a sender that
// has sent s bytes, of which it knows that a arrived, began with a window of at
// least s − 2a bytes.
func (k *chains) congestion(d lab.Direction) *congestion {
	if k.sides[d] != nil {
		return k.sides[d]
	}
	g := &congestion{}
	k.sides[d] = g
	list, acks := k.c.Sent[d], k.c.Acks[d]
	total, known, heard := int64(0), int64(0), 0
	least, lossy := int64(0), false
	for _, s := range list {
		for heard < len(acks) && k.r.before(acks[heard].Event, s.Event) {
			known += int64(acks[heard].Bytes)
			heard++
		}
		total += int64(s.Bytes)
		least, lossy = max(least, total-2*known), lossy || s.Again > 0
		g.sent, g.least, g.lossy = append(g.sent, total), append(g.least, least), append(g.lossy, lossy)
	}
	known = 0
	for _, a := range acks {
		known += int64(a.Bytes)
		g.acked = append(g.acked, known)
	}
	return g
}

// windowed is the acknowledgement without which event i could not have been
// sent, however fast the congestion window had grown; nil where the initial window
// was enough. After a loss a window beyond the initial one is not known.
func (k *chains) windowed(i int, base *step) (*step, bool) {
	d := k.r.Events[i].Way
	g, list := k.congestion(d), k.c.Sent[d]
	n := sort.Search(len(list), func(n int) bool { return list[n].Event > i }) - 1
	if n < 0 || list[n].Event != i {
		return nil, true
	}
	need := (g.sent[n] - max(k.initialWindow(d), g.least[n]) + 1) / 2
	if need <= 0 {
		return nil, true
	}
	if g.lossy[n] {
		return nil, false
	}
	a := sort.Search(len(g.acked), func(a int) bool { return g.acked[a] >= need })
	if a == len(g.acked) {
		return nil, true
	}
	ack := k.c.Acks[d][a].Event
	data := list[sort.Search(n, func(n int) bool { return g.sent[n] >= need })].Event
	if ack < k.from || base != nil && base.event >= data {
		return nil, true // it was there before what the content needs
	}
	if !k.r.before(ack, i) || !k.r.before(data, ack) {
		return nil, false
	}
	waited := k.limited(data, base)
	if !waited.ok {
		return nil, false
	}
	first := k.r.deeper(base, waited.step).then(k.r, data, "data that the window let pass", "")
	what := fmt.Sprintf("acknowledgement of %d bytes", k.c.Acks[d][a].Bytes)
	return first.then(k.r, ack, what, "what it acknowledges had arrived"), true
}

// initialWindow is the congestion window of a direction at first, in bytes: of
// TCP what the lab set, else that of RFC 6928; of QUIC what the embedded program
// has, else that of RFC 9002, section 7.2.
func (k *chains) initialWindow(d lab.Direction) int64 {
	stack := k.a.Run.Cell.Stack
	if k.c.quic != nil {
		program := stack.Server
		if d == lab.Up {
			program = stack.Client
		}
		if program == lab.Embedded {
			return embeddedWindow
		}
		return 10 * 1200
	}
	segments := int64(stack.InitCwnd)
	if segments == 0 {
		segments = 10
	}
	return segments * k.segment()
}

// embeddedWindow is quic-go's initial window: 32 packets of 1280 bytes
// (initialCongestionWindow in internal/congestion/cubic_sender.go and
// InitialPacketSize in internal/protocol/params.go, v0.65.0).
const embeddedWindow = 32 * 1280

// segment is the payload of a full segment of a TCP connection, by its SYNs (RFC
// 9293, section 3.7.1; RFC 6691): 1448 bytes where they were not seen.
func (k *chains) segment() int64 {
	size, options := int64(1460), int64(12)
	for d := range k.c.stream {
		i := k.c.stream[d].carrier(0)
		if i < 0 {
			continue
		}
		h := k.r.Events[i].IP.TCP
		if h.MSS > 0 {
			size = min(size, int64(h.MSS))
		}
		if !h.Timestamps {
			options = 0
		}
	}
	return max(size-options, 1)
}
