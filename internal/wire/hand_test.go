package wire

import (
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// hand makes a reading of one connection by hand, whose server sends (Down).
// Times are in ms.
type hand struct {
	c       *Connection
	events  []Event
	packets []*Packet
	from    float64
	to      float64
	fin     bool // the next segment has one
}

func byHand(transport string) *hand {
	h := &hand{c: &Connection{Transport: transport}}
	h.credit(0, math.MaxInt64/2)
	if transport == "tcp" {
		// The client's SYN, which reaches the server at 0.
		i := h.event(lab.Up, 0, 0, 60, 0)
		h.events[i].IP.TCP = ip.TCP{Flags: ip.SYN, SACKPermitted: true}
	}
	return h
}

func ms(v float64) time.Duration { return time.Duration(v * 1e6) }

func (h *hand) credit(at float64, limit int64) {
	kind := "window"
	if h.c.Transport == "quic" {
		kind = "data"
	}
	h.c.Credit[lab.Down] = append(h.c.Credit[lab.Down], Credit{At: ms(at), Kind: kind, Max: limit})
}

// event adds a packet with an IP payload of size bytes, sent at a time and
// delivered at another.
func (h *hand) event(d lab.Direction, at, left float64, size, payload int) int {
	p := &Packet{N: len(h.events) + 1, Way: d, At: ms(at), Left: ms(left), Size: size, Data: make([]byte, size)}
	h.packets = append(h.packets, p)
	e := Event{Packet: p, AckOffset: -1, New: payload, IP: ip.Packet{Proto: ip.ProtoUDP, Size: payload}}
	if h.c.Transport == "tcp" {
		e.IP.Proto = ip.ProtoTCP
		e.IP.TCP.Flags = ip.ACK
	}
	h.events = append(h.events, e)
	h.c.Events = append(h.c.Events, len(h.events)-1)
	return len(h.events) - 1
}

// mss is the payload of a full segment here.
const mss = 1000

// segment sends the nth full segment of the stream (from 0).
func (h *hand) segment(at float64, n int) { h.bytes(at, 1+int64(n)*mss, mss) }

// segments sends some in a row.
func (h *hand) segments(at float64, from, to int) {
	for n := from; n < to; n++ {
		h.segment(at, n)
	}
}

func (h *hand) bytes(at float64, offset int64, size int) {
	i := h.event(lab.Down, at, at+20, 52+size, size)
	again := 0
	for _, s := range h.c.Sent[lab.Down] {
		if s.Number == uint64(offset) {
			again = size
		}
	}
	h.events[i].Offset, h.events[i].New, h.events[i].Again = offset, size-again, again
	if h.fin {
		h.events[i].IP.TCP.Flags |= ip.FIN
		h.fin = false
	}
	h.c.Sent[lab.Down] = append(h.c.Sent[lab.Down], Sent{
		Event: i, Number: uint64(offset), Bytes: size, New: size - again, Again: again, Acked: Never,
	})
}

// ack lets an acknowledgement of the first segments up to the nth reach the
// server, with SACK for others (TCP), or of packets alone (QUIC).
func (h *hand) ack(at float64, n int, others ...int) int {
	i := h.event(lab.Up, at-20, at, 60, 0)
	a := Acked{Event: i, At: ms(at), Offset: 1 + int64(n)*mss, Sacked: len(others) > 0}
	list := h.c.Sent[lab.Down]
	for k := range list {
		s := &list[k]
		isn := (int(s.Number) - 1) / mss
		if h.c.Transport == "quic" {
			isn = int(s.Number)
		}
		is := isn < n
		for _, o := range others {
			is = is || isn == o
		}
		if is && s.Acked == Never && h.events[s.Event].At < ms(at) {
			s.Acked = ms(at)
			a.Bytes += s.Bytes
		}
	}
	h.c.Acks[lab.Down] = append(h.c.Acks[lab.Down], a)
	return i
}

// asks lets a packet with payload of the client reach the server.
func (h *hand) asks(at float64) { h.event(lab.Up, at-20, at, 200, 140) }

// quicSize is the size of a full QUIC packet here.
const quicSize = 1200

// packet sends QUIC packet number, with the nth kB of a stream; n < 0: a PING.
func (h *hand) packet(at float64, number, n int) {
	f := quic.Frame{Kind: quic.Ping}
	if n >= 0 {
		f = quic.Frame{Kind: quic.Stream, Offset: uint64(n) * 1000, Length: 1000}
	}
	h.frame(at, number, quicSize, f)
}

func (h *hand) packetsInARow(at float64, from, to int) {
	for n := from; n < to; n++ {
		h.packet(at, n, n)
	}
}

func (h *hand) frame(at float64, number, size int, f quic.Frame) {
	i := h.event(lab.Down, at, at+20, size+28, size)
	e := &h.events[i]
	e.QUIC = []quic.Packet{{Kind: quic.OneRTT, Opened: true, Number: uint64(number), Size: size, Frames: []quic.Frame{f}}}
	s := Sent{Event: i, Number: uint64(number), Space: 2, Bytes: size, Acked: Never}
	if f.Kind == quic.Stream {
		s.New = f.Length
		for k := range h.c.Sent[lab.Down] {
			if g := h.events[h.c.Sent[lab.Down][k].Event].QUIC[0].Frames[0]; g.Kind == quic.Stream && g.Offset == f.Offset {
				s.New, s.Again = 0, f.Length
			}
		}
	}
	e.New, e.Again = s.New, s.Again
	h.c.Sent[lab.Down] = append(h.c.Sent[lab.Down], s)
}

// reading finishes the reading.
func (h *hand) reading() *Reading {
	c := &Capture{Start: ms(h.from), End: ms(h.to)}
	for i := range h.events {
		e := &h.events[i]
		e.Packet = h.packets[i]
		c.Packets = append(c.Packets, *e.Packet)
		if e.Way == lab.Up && h.c.Transport == "quic" && len(e.QUIC) == 0 {
			kind := quic.OneRTT
			if i == 0 {
				kind = quic.Handshake
			}
			e.QUIC = []quic.Packet{{Kind: kind, Opened: true, Frames: []quic.Frame{{Kind: quic.Ack}}}}
		}
	}
	return &Reading{Capture: c, Events: h.events, Connections: []*Connection{h.c}}
}

// facts are those of the server as a sender.
func (h *hand) facts(a About) lab.SenderFacts {
	f := lab.Wire{Conversations: make([]lab.Conversation, 1)}
	h.reading().senders(a, &f)
	return f.Conversations[0].Down
}
