package wire

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/quic"
)

// offers notes the credit of the transport parameters that came with a message.
func (c *quicConn) offers(d lab.Direction, u unit) {
	p := c.conn.Params(d)
	if p == nil || c.told[d] {
		return
	}
	c.told[d] = true
	stream := p.InitialMaxStreamDataBidiLocal // of what the server sends on the client's streams
	if d == lab.Down {
		stream = p.InitialMaxStreamDataBidiRemote
		c.allow(lab.Up, Credit{Kind: "streams", Max: atMost(p.InitialMaxStreamsBidi)}, u)
	}
	c.allow(1-d, Credit{Kind: "data", Max: atMost(p.InitialMaxData)}, u)
	c.allow(1-d, Credit{Kind: "streams at first", Max: atMost(stream)}, u)
}

func atMost(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// finish makes what takes the whole connection to know.
func (c *quicConn) finish() {
	c.Hello = c.conn.Hello()
	for _, i := range c.Events {
		for _, p := range c.r.Events[i].QUIC {
			if p.Problem != "" {
				c.r.Events[i].problem("QUIC " + string(p.Kind) + ": " + p.Problem)
			}
		}
	}
	var flights [2]quicFlight
	for d := range flights {
		slices.SortStableFunc(c.Sent[d], func(a, b Sent) int { return a.Event - b.Event })
		flights[d] = newQUICFlight(c, lab.Direction(d))
	}
	c.r.timeline(c.Events, func(int) {}, func(i int) { flights[1-c.r.Events[i].Way].hear(i) })
	c.settle(c.r)
}

// quicFlight is what one side has sent: for each packet number space, indices of
// Sent by packet number, and the numbers that were acknowledged.
type quicFlight struct {
	c     *quicConn
	d     lab.Direction
	sent  [3][]int
	acked [3]ranges
}

func newQUICFlight(c *quicConn, d lab.Direction) quicFlight {
	f := quicFlight{c: c, d: d}
	for i, s := range c.Sent[d] {
		f.sent[s.Space] = append(f.sent[s.Space], i)
	}
	for _, list := range f.sent {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(c.Sent[d][a].Number, c.Sent[d][b].Number) })
	}
	return f
}

// hear takes what reached the sender.
func (f *quicFlight) hear(i int) {
	for k := range f.c.r.Events[i].QUIC {
		p := &f.c.r.Events[i].QUIC[k]
		if !p.Opened {
			continue
		}
		for n := range p.Frames {
			if frame := &p.Frames[n]; frame.Kind == quic.Ack {
				f.ack(i, int(levelOf(p.Kind)), frame.Ranges)
			} else {
				f.credit(i, frame)
			}
		}
	}
}

func (f *quicFlight) ack(i, space int, list []quic.Range) {
	at := f.c.r.Events[i].Left
	a := Acked{Event: i, At: at, Sacked: len(list) > 1}
	for _, r := range list {
		for _, fresh := range f.acked[space].add(atMost(r.Smallest), atMost(r.Largest)+1) {
			a.Bytes += f.mark(i, space, fresh)
		}
	}
	f.c.Acks[f.d] = append(f.c.Acks[f.d], a)
}

// mark notes that the packets with the numbers of r were acknowledged.
func (f *quicFlight) mark(event, space int, r interval) (bytes int) {
	list := f.sent[space]
	number := func(i int) int64 { return int64(f.c.Sent[f.d][list[i]].Number) }
	for n := sort.Search(len(list), func(i int) bool { return number(i) >= r.begin }); n < len(list) && number(n) < r.end; n++ {
		s := &f.c.Sent[f.d][list[n]]
		if s.Acked == Never && s.Event < event {
			s.Acked = f.c.r.Events[event].Left
			bytes += s.Bytes
		}
	}
	return bytes
}

// credit notes what a frame allows.
func (f *quicFlight) credit(i int, frame *quic.Frame) {
	c := Credit{Event: i, At: f.c.r.Events[i].Left, Max: atMost(frame.Max)}
	switch {
	case frame.Kind == quic.MaxData:
		c.Kind = "data"
	case frame.Kind == quic.MaxStreamData:
		c.Kind, c.Stream = "stream", frame.Stream
	case frame.Kind == quic.MaxStreams && !frame.Uni:
		c.Kind = "streams"
	default:
		return
	}
	f.c.Credit[f.d] = append(f.c.Credit[f.d], c)
}
