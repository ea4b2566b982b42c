package wire

import (
	"cmp"
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// half is the sending half of a connection, with what its algorithms share.
type half struct {
	r    *Reading
	c    *Connection
	d    lab.Direction
	quic bool
	sent []Sent // those before the load's end
	// learnt has the indices of sent that were acknowledged, in the order in which
	// the sender learnt it.
	learnt []int
	// before has for each of sent the newest one before it that carried the first
	// byte it repeats; -1: it repeats nothing.
	before []int
	// repeated says whether a later one carried some of the same bytes.
	repeated []bool
	// gone is when the sender no longer counts each of sent as in flight.
	gone []time.Duration
	// full is the most bytes that one of sent had.
	full int
	// arrivals are the packets of the other host that reached the sender, in the
	// order in which they did.
	arrivals []arrival
}

// arrival is a packet that reached the sender.
type arrival struct {
	at      time.Duration
	payload bool // it carried new data, which may be answered
}

func (r *Reading) newHalf(conn int, d lab.Direction) *half {
	c := r.Connections[conn]
	h := &half{r: r, c: c, d: d, quic: c.Transport == "quic", sent: c.Sent[d]}
	n, _ := slices.BinarySearchFunc(h.sent, true, func(s Sent, _ bool) int {
		if r.ended(r.Events[s.Event].At) {
			return 0
		}
		return -1
	})
	h.sent = h.sent[:n]
	for i := range h.sent {
		h.full = max(h.full, h.sent[i].Bytes)
		if h.sent[i].Acked != Never {
			h.learnt = append(h.learnt, i)
		}
	}
	slices.SortStableFunc(h.learnt, func(a, b int) int { return cmp.Compare(h.sent[a].Acked, h.sent[b].Acked) })
	h.findRepeats()
	h.findGone()
	h.findArrivals()
	return h
}

func (h *half) event(i int) *Event { return &h.r.Events[h.sent[i].Event] }

func (h *half) at(i int) time.Duration { return h.event(i).At }

// bytes is what one of sent adds to what is in flight: of TCP bytes that were
// sent again do not count twice (RFC 5681's FlightSize).
func (h *half) bytes(i int) int {
	if h.quic {
		return h.sent[i].Bytes
	}
	return h.sent[i].New
}

// end is the offset after a TCP segment, SYN and FIN counted.
func (h *half) end(i int) int64 {
	end := int64(h.sent[i].Number) + int64(h.sent[i].Bytes)
	flags := h.event(i).IP.TCP.Flags
	if flags&ip.SYN != 0 {
		end++
	}
	if flags&ip.FIN != 0 {
		end++
	}
	return end
}

// packet is the QUIC packet that one of sent is; nil where it is not there.
func (h *half) packet(i int) *quic.Packet {
	return h.event(i).carrierOf(h.sent[i])
}

// carrierOf is the QUIC packet of the datagram that a Sent is; nil: it could not be
// opened.
func (e *Event) carrierOf(s Sent) *quic.Packet {
	for i := range e.QUIC {
		if p := &e.QUIC[i]; p.Opened && p.Number == s.Number && space(p.Kind) == s.Space {
			return p
		}
	}
	return nil
}

func (h *half) findArrivals() {
	for _, i := range h.c.Events {
		e := &h.r.Events[i]
		if e.Way != h.d && e.arrived() {
			h.arrivals = append(h.arrivals, arrival{e.Left, e.New > 0 && h.c.asks(e)})
		}
	}
	slices.SortStableFunc(h.arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
}

// asks says whether the data of a packet may be answered. Where messages can be
// read it takes one that is completed; SETTINGS and the like, and tickets, ask for
// nothing. Else it is any data, but of QUIC what follows on the handshake.
func (c *Connection) asks(e *Event) bool {
	if c.Decrypted {
		return slices.ContainsFunc(e.Messages, func(m Message) bool {
			return m.Kind != OtherMessage && m.Kind != NewSessionTicket
		})
	}
	for i := range e.QUIC {
		p := &e.QUIC[i]
		for k := range p.Frames {
			if kind := p.Frames[k].Kind; kind == quic.Stream || kind == quic.Crypto && p.Kind != quic.OneRTT {
				return true
			}
		}
	}
	return len(e.QUIC) == 0
}

// space is a QUIC packet's packet number space, as in Sent; -1 without numbers.
func space(k quic.Kind) int {
	switch k {
	case quic.Initial:
		return 0
	case quic.Handshake:
		return 1
	case quic.ZeroRTT, quic.OneRTT:
		return 2
	default:
		return -1
	}
}

// sealed says whether packets of a kind are protected, and can be opened.
func sealed(k quic.Kind) bool { return space(k) >= 0 }
