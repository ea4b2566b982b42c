package wire

import (
	"sort"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// autopsy is the state of a connection when a silence began: what each side had
// sent, what of it had arrived, and what it had been told.
//
// Properties that an edit must keep:
//   - what a host is said to know has reached it: acknowledgements and credit
//     count from their arrival, not from when they were sent;
//   - bytes are counted once, however often they were sent: in flight is what was
//     sent, and not acknowledged in any of its transmissions.
type autopsy struct {
	r    *Reading
	c    *Connection
	conn int // its index
	s    silence
	half [2]party // by the direction in which the host sends

	// gone are the packet number spaces whose keys a sender had discarded: what was
	// in flight there is no more (RFC 9002, section 6.4).
	gone     [2][3]bool
	closed   bool // by either side, before the silence
	reset    bool // the client was, by a server that did not know its address: the server's own connection goes on
	requests map[uint64]*errand
	messages [2]map[MessageKind]int // the event of the first of each kind; TLS and QUIC only
}

// half is one side of a connection as a sender.
type party struct {
	sent, acked, arrived carried
	unacked              []Sent // in order of sending
	last                 []Sent // of those, what no later packet of the space was acknowledged after
	rtt                  tempo
	told                 time.Duration // when it was last told that something new had arrived; negative: never
	full                 int           // the largest payload it ever sent in one segment
}

// request is what is known of one request.
type errand struct {
	whole, arrived bool // the request was sent to its end; and had arrived
	begun, ended   bool // of the response
	warm           bool // it was made before the load began
}

// autopsy examines the connection at index conn as a silence began.
func (r *Reading) autopsy(conn int, s silence, marks []int) *autopsy {
	x := &autopsy{r: r, c: r.Connections[conn], conn: conn, s: s, requests: map[uint64]*errand{}}
	x.discard()
	for d := range x.half {
		x.half[d] = x.weigh(lab.Direction(d))
		x.messages[d] = map[MessageKind]int{}
	}
	var fin [2]bool
	for _, i := range marks {
		e := &r.Events[i]
		if e.At > s.from {
			break
		}
		x.hear(i, e)
		if x.unknown(e) {
			x.reset = x.reset || came(e.Packet, s.from)
			continue
		}
		x.closed = x.closed || closes(e)
		if e.IP.TCP.Flags&ip.FIN != 0 {
			fin[e.Way] = true
		}
	}
	x.closed = x.closed || fin[lab.Up] && fin[lab.Down]
	return x
}

// unknown says whether a packet is the reset of a server that knows no connection
// with the address that a translation has given the client.
func (x *autopsy) unknown(e *Event) bool {
	return e.Way == lab.Down && e.IP.Proto == ip.ProtoTCP && e.IP.TCP.Flags&(ip.RST|ip.ACK) == ip.RST && e.IP.Dest != x.c.Client
}

// closes says whether a packet ended the connection at once.
func closes(e *Event) bool {
	if e.IP.Proto == ip.ProtoTCP {
		return e.IP.TCP.Flags&ip.RST != 0
	}
	for _, p := range e.QUIC {
		for _, f := range p.Frames {
			if f.Kind == quic.ConnectionClose {
				return true
			}
		}
	}
	return false
}

// discard finds out which keys each side had discarded before the silence (RFC
// 9001, section 4.9): a client Initial keys when it first sends a Handshake
// packet, a server when it first receives one; both Handshake keys when the
// handshake is confirmed, for the server when it says so.
func (x *autopsy) discard() {
	if x.c.Transport != "quic" {
		return
	}
	for _, i := range x.c.Events {
		e := &x.r.Events[i]
		if e.At > x.s.from || x.gone[lab.Up][1] && x.gone[lab.Down][0] {
			return
		}
		for _, p := range e.QUIC {
			if p.Kind == quic.Handshake && e.Way == lab.Up {
				x.gone[lab.Up][0] = true
				x.gone[lab.Down][0] = x.gone[lab.Down][0] || came(e.Packet, x.s.from)
			}
			if e.Way == lab.Down && confirms(p) {
				x.gone[lab.Down][0], x.gone[lab.Down][1] = true, true
				x.gone[lab.Up][1] = x.gone[lab.Up][1] || came(e.Packet, x.s.from)
			}
		}
	}
}

func confirms(p quic.Packet) bool {
	for _, f := range p.Frames {
		if f.Kind == quic.HandshakeDone {
			return true
		}
	}
	return false
}

// weigh adds up what was sent in direction d before the silence.
func (x *autopsy) weigh(d lab.Direction) party {
	h := party{sent: carried{}, acked: carried{}, arrived: carried{}, told: -1}
	newest := map[int]uint64{} // by space: the highest number acknowledged
	for _, s := range x.settled(d, &h) {
		e := &x.r.Events[s.Event]
		h.full = max(h.full, s.Bytes)
		told := s.Acked <= x.s.from
		acked := told || x.gone[d][s.Space]
		if told && s.Number >= newest[s.Space] {
			newest[s.Space] = s.Number
		}
		if told {
			h.told = max(h.told, s.Acked)
		} else if !acked {
			h.unacked = append(h.unacked, s)
		}
		for _, p := range x.morsels(s) {
			h.sent.add(p)
			if acked {
				h.acked.add(p)
			}
			if acked || came(e.Packet, x.s.from) {
				h.arrived.add(p)
			}
		}
	}
	h.rtt = x.measure(d)
	h.last, h.unacked = x.flying(d, h, newest)
	return h
}

// settled adds to h what TCP has sent and been told of, up to the first packet of
// which it has not, as one piece, and returns the packets after it that were sent
// before the silence.
func (x *autopsy) settled(d lab.Direction, h *party) []Sent {
	sent := x.sentBy(d, x.s.from)
	if x.c.Transport != "tcp" {
		return sent
	}
	n, end := 0, int64(1)
	for n < len(sent) && sent[n].Acked <= x.s.from {
		h.full = max(h.full, sent[n].Bytes)
		h.told = max(h.told, sent[n].Acked)
		end = max(end, int64(sent[n].Number)+int64(sent[n].Bytes))
		n++
	}
	for _, c := range []carried{h.sent, h.acked, h.arrived} {
		c.add(morsel{begin: 1, end: end})
	}
	return sent[n:]
}

// flying returns what is not acknowledged: of TCP without what was acknowledged
// by another transmission, and of it what comes after the newest acknowledged
// packet: only a timer can find that it was lost (RFC 9002, section 6.2; of TCP,
// all).
func (x *autopsy) flying(d lab.Direction, h party, newest map[int]uint64) (last, unacked []Sent) {
	for _, s := range h.unacked {
		if x.c.Transport == "tcp" {
			if s.Bytes > 0 && h.acked.has(morsel{begin: int64(s.Number), end: int64(s.Number) + int64(s.Bytes)}) || s.Bytes == 0 && h.told >= 0 {
				continue // a SYN sent again; or a FIN, for which no load waits
			}
			last = append(last, s)
		} else if top, some := newest[s.Space]; !some || s.Number > top {
			last = append(last, s)
		}
		unacked = append(unacked, s)
	}
	return last, unacked
}

// morsels returns what a packet carried that must arrive.
func (x *autopsy) morsels(s Sent) []morsel {
	if x.c.Transport == "tcp" {
		return []morsel{{begin: int64(s.Number), end: int64(s.Number) + int64(s.Bytes)}}
	}
	p := x.packet(s)
	if p == nil {
		return nil
	}
	var all []morsel
	for _, f := range p.Frames {
		begin := int64(f.Offset)
		end := begin + int64(f.Length)
		switch f.Kind {
		case quic.Stream:
			all = append(all, morsel{channel{dataStream, f.Stream}, begin, end})
			if f.Fin {
				all = append(all, morsel{channel{finStream, f.Stream}, 0, 1})
			}
		case quic.Crypto:
			all = append(all, morsel{channel{cryptoStream, uint64(s.Space)}, begin, end})
		}
	}
	return all
}

// packet returns the QUIC packet of s; nil where it cannot be found.
func (x *autopsy) packet(s Sent) *quic.Packet {
	return x.r.Events[s.Event].carrierOf(s)
}

// hear notes the messages of a packet.
func (x *autopsy) hear(i int, e *Event) {
	for _, m := range e.Messages {
		switch m.Kind {
		case RequestStart, RequestEnd, ResponseStart, ResponseEnd:
			x.exchange(e, m)
		default:
			if _, seen := x.messages[e.Way][m.Kind]; !seen {
				x.messages[e.Way][m.Kind] = i
			}
		}
	}
}

func (x *autopsy) exchange(e *Event, m Message) {
	q := x.requests[m.Stream]
	if q == nil {
		q = &errand{warm: e.At < x.r.began()}
		x.requests[m.Stream] = q
	}
	switch m.Kind {
	case RequestEnd:
		q.whole = true
		q.arrived = x.reached(e, channel{dataStream, m.Stream})
	case ResponseStart:
		q.begun = true
	case ResponseEnd:
		q.ended = true
	}
}

// reached says whether what a packet carried of a stream had arrived when the
// silence began, be it by another packet, with all that comes before it. For TCP
// there is only one stream.
func (x *autopsy) reached(e *Event, of channel) bool {
	arrived := x.half[e.Way].arrived
	if x.c.Transport == "tcp" {
		return arrived.of(channel{}).has(1, e.Offset+int64(e.IP.Size))
	}
	for _, p := range e.QUIC {
		for _, f := range p.Frames {
			switch {
			case f.Kind == quic.Stream && of == channel{dataStream, f.Stream}:
				if !arrived.of(of).has(0, int64(f.Offset)+int64(f.Length)) || f.Fin && !arrived.of(channel{finStream, f.Stream}).has(0, 1) {
					return false
				}
			case f.Kind == quic.Crypto && of.kind == cryptoStream && space(p.Kind) == int(of.id):
				if !arrived.of(of).has(0, int64(f.Offset)+int64(f.Length)) {
					return false
				}
			}
		}
	}
	return true
}

// sentBy is what was sent in direction d until a time, itself included.
func (x *autopsy) sentBy(d lab.Direction, by time.Duration) []Sent {
	sent := x.c.Sent[d]
	return sent[:sort.Search(len(sent), func(i int) bool { return x.r.Events[sent[i].Event].At > by })]
}

// sends returns when side d sent something in (after, until]: packets that must
// be acknowledged, or any at all.
func (x *autopsy) sends(d lab.Direction, after, until time.Duration, any bool) (times []time.Duration) {
	if any {
		for _, i := range x.c.Events {
			if e := &x.r.Events[i]; e.Way == d && e.At > after && e.At <= until {
				times = append(times, e.At)
			}
		}
		return times
	}
	for _, s := range x.c.Sent[d][len(x.sentBy(d, after)):] {
		at := x.r.Events[s.Event].At
		if at > until {
			break
		}
		times = append(times, at)
	}
	return times
}
