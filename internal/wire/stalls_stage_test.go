package wire

import (
	"sort"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// stage is a reading made by hand: one connection on a path with an RTT of 40 ms.
type stage struct {
	r *Reading
	c *Connection
	// numbers are the next QUIC packet numbers, by direction and space.
	numbers [2][3]uint64
}

const stageRTT = 40 * time.Millisecond

func newStage(transport string, end float64) *stage {
	// The packets must not move: events point to them.
	capture := &Capture{Packets: make([]Packet, 0, 4096), End: ms(end)}
	c := &Connection{Transport: transport, Decrypted: true}
	return &stage{c: c, r: &Reading{Capture: capture, Connections: []*Connection{c}}}
}

// cast is what a packet on the stage has besides its time and direction.
type cast struct {
	lost        bool
	space       int // QUIC
	frames      []quic.Frame
	token       int
	size        int   // of the UDP or TCP payload; QUIC: 0 means 1200
	offset      int64 // TCP
	flags       byte  // TCP; ACK is set in all but the first SYN
	window      int   // TCP, not scaled; 0: nothing is said
	acks        bool  // all that had arrived is acknowledged
	noAsk       bool  // QUIC: not ack-eliciting
	again       bool
	messages    []MessageKind
	messagesFor uint64
}

func (s *stage) send(at float64, d lab.Direction, k cast) int {
	i := len(s.r.Events)
	p := Packet{N: i + 1, Way: d, At: ms(at), Left: ms(at) + stageRTT/2, Size: k.size + 40}
	if k.lost {
		p.Left, p.Fate.Drop = Never, lab.DropRule
	}
	s.r.Capture.Packets = append(s.r.Capture.Packets, p)
	e := Event{Packet: &s.r.Capture.Packets[i], AckOffset: -1, Offset: k.offset}
	e.IP.Proto = ip.ProtoUDP
	if s.c.Transport == "tcp" {
		e.IP.Proto = ip.ProtoTCP
		e.IP.TCP.Flags = k.flags | ip.ACK
		e.IP.TCP.SACKPermitted = k.flags&ip.SYN != 0
		e.IP.TCP.WindowScale = -1
		if d == lab.Up && k.flags&ip.SYN != 0 {
			e.IP.TCP.Flags = ip.SYN
		}
	} else if k.size == 0 {
		k.size = 1200
	}
	e.IP.Size = k.size
	for _, m := range k.messages {
		e.Messages = append(e.Messages, Message{Kind: m, First: i, Stream: k.messagesFor})
	}
	sent := Sent{Event: i, Bytes: k.size, Acked: Never}
	if k.again {
		sent.Again = k.size
	}
	if s.c.Transport == "quic" {
		n := &s.numbers[d][k.space]
		kind := []quic.Kind{quic.Initial, quic.Handshake, quic.OneRTT}[k.space]
		e.QUIC = []quic.Packet{{Kind: kind, Opened: true, Number: *n, Frames: k.frames, Token: k.token, Size: k.size}}
		sent.Number, sent.Space = *n, k.space
		*n++
	} else {
		sent.Number = uint64(k.offset)
	}
	s.r.Events = append(s.r.Events, e)
	s.c.Events = append(s.c.Events, i)
	if !k.noAsk && (s.c.Transport == "quic" || k.size > 0 || k.flags&(ip.SYN|ip.FIN) != 0) {
		s.c.Sent[d] = append(s.c.Sent[d], sent)
	}
	if k.acks {
		s.ack(i, d)
	}
	if k.window >= 0 && s.c.Transport == "tcp" && k.acks {
		s.allow(i, d, k.window)
	}
	return i
}

// ack has event i acknowledge all that had arrived when it was sent.
func (s *stage) ack(i int, d lab.Direction) {
	e := &s.r.Events[i]
	for n := range s.c.Sent[1-d] {
		o := &s.c.Sent[1-d][n]
		if s.r.Events[o.Event].Left > e.At {
			continue
		}
		e.AckOffset = max(e.AckOffset, int64(o.Number)+int64(o.Bytes))
		if o.Acked == Never {
			o.Acked = e.Left
		}
	}
	if e.Delivered() {
		s.c.Acks[1-d] = append(s.c.Acks[1-d], Acked{Event: i, At: e.Left, Offset: e.AckOffset})
	}
}

func (s *stage) allow(i int, d lab.Direction, window int) {
	e := &s.r.Events[i]
	e.IP.TCP.Window = uint16(window)
	if e.Delivered() {
		s.c.Credit[1-d] = append(s.c.Credit[1-d], Credit{Event: i, At: e.Left, Kind: "window", Max: e.AckOffset + int64(window)})
	}
}

func (s *stage) find(a About) []lab.Stall {
	sort.SliceStable(s.c.Credit[lab.Down], func(i, j int) bool { return s.c.Credit[lab.Down][i].At < s.c.Credit[lab.Down][j].At })
	var f lab.Wire
	a.RTT = stageRTT
	s.r.stalls(a, &f)
	return f.Stalls
}

// connect opens a TCP connection from time 0 with a TLS handshake, and sends a
// request, of which the answer is due at 160 ms.
func (s *stage) connect() {
	s.send(0, lab.Up, cast{flags: ip.SYN})
	s.send(20, lab.Down, cast{flags: ip.SYN, acks: true, window: 60000})
	s.send(40, lab.Up, cast{acks: true, window: 60000})
	s.send(40, lab.Up, cast{offset: 1, size: 500, messages: []MessageKind{ClientHello}})
	s.send(60, lab.Down, cast{offset: 1, size: 1000, acks: true, window: 60000, messages: []MessageKind{ServerHello, Finished}})
	s.send(80, lab.Up, cast{offset: 501, size: 100, acks: true, window: 60000, messages: []MessageKind{Finished, RequestStart, RequestEnd}})
	s.send(100, lab.Down, cast{acks: true, window: 60000})
}

// greet makes a QUIC handshake, with a request on stream 0 that arrives at 60 ms.
func (s *stage) greet() {
	s.send(0, lab.Up, cast{frames: cryptoFrame(0, 300), messages: []MessageKind{ClientHello}})
	s.send(20, lab.Down, cast{acks: true, frames: cryptoFrame(0, 100), messages: []MessageKind{ServerHello}})
	s.send(20, lab.Down, cast{space: 1, frames: cryptoFrame(0, 900), messages: []MessageKind{Finished}})
	s.send(40, lab.Up, cast{space: 1, acks: true, frames: cryptoFrame(0, 36), messages: []MessageKind{Finished}})
	s.send(40, lab.Up, cast{space: 2, frames: streamFrame(0, 0, 50, true), messages: []MessageKind{RequestStart, RequestEnd}})
	s.send(60, lab.Down, cast{space: 2, acks: true, frames: []quic.Frame{{Kind: quic.HandshakeDone}}})
	s.send(80, lab.Up, cast{space: 2, acks: true, noAsk: true})
}

func cryptoFrame(offset uint64, n int) []quic.Frame {
	return []quic.Frame{{Kind: quic.Crypto, Offset: offset, Length: n}}
}

func streamFrame(id, offset uint64, n int, fin bool) []quic.Frame {
	return []quic.Frame{{Kind: quic.Stream, Stream: id, Offset: offset, Length: n, Fin: fin}}
}
