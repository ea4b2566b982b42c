package wire

import (
	"sort"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
)

// acknowledge fills Sent, Acks and Credit of a TCP connection.
func (c *tcpConn) acknowledge() {
	flights := [2]*tcpFlight{{c: c, d: lab.Up}, {c: c, d: lab.Down}}
	c.r.timeline(c.Events,
		func(i int) { flights[c.r.Events[i].Way].send(i) },
		func(i int) { flights[1-c.r.Events[i].Way].hear(i) },
	)
}

// tcpFlight is what one side has sent and not been told of (RFC 9293, RFC 2018).
//
// Properties that an edit must keep: fresh is in order of offsets, since new data
// is sent in order; each byte of a SACK block is looked at once, whatever is
// repeated, so that the cost is linear.
type tcpFlight struct {
	c      *tcpConn
	d      lab.Direction
	fresh  []int // indices of Sent with new data, by their offsets
	gone   int   // of fresh, those that are acknowledged up to a gap
	again  []int // indices of Sent without new data that are not acknowledged
	sacked ranges
	edge   int64 // the newest right edge of the window
}

func (f *tcpFlight) send(i int) {
	e := &f.c.r.Events[i]
	n := e.takes()
	if n == 0 || e.IP.TCP.Flags&ip.RST != 0 {
		return
	}
	sent := &f.c.Sent[f.d]
	*sent = append(*sent, Sent{
		Event: i, Number: uint64(max(e.Offset, 0)), Bytes: e.IP.Size, New: e.New, Again: e.Again, Acked: Never,
	})
	last := len(*sent) - 1
	if len(f.fresh) == 0 || e.Offset >= f.end(f.fresh[len(f.fresh)-1]) {
		f.fresh = append(f.fresh, last)
	} else {
		f.again = append(f.again, last)
	}
}

// end is the offset behind a packet of Sent.
func (f *tcpFlight) end(sent int) int64 {
	e := &f.c.r.Events[f.c.Sent[f.d][sent].Event]
	return e.Offset + e.takes()
}

func (f *tcpFlight) begin(sent int) int64 { return f.c.r.Events[f.c.Sent[f.d][sent].Event].Offset }

// hear takes an acknowledgement that reached the sender.
func (f *tcpFlight) hear(i int) {
	e := &f.c.r.Events[i]
	if e.AckOffset < 0 || e.IP.TCP.Flags&ip.RST != 0 {
		return
	}
	a := Acked{Event: i, At: e.Left, Offset: e.AckOffset}
	for ; f.gone < len(f.fresh) && f.end(f.fresh[f.gone]) <= a.Offset; f.gone++ {
		a.Bytes += f.mark(f.fresh[f.gone], e.Left)
	}
	side := &f.c.sides[f.d]
	for _, b := range e.IP.TCP.SACK[:min(max(e.IP.TCP.SACKs, 0), len(e.IP.TCP.SACK))] {
		left, right := side.offset(b.Left), side.offset(b.Right)
		if left < a.Offset || right <= left {
			continue // of a duplicate (RFC 2883), or nonsense
		}
		a.Sacked = true
		a.Bytes += f.sack(left, right, e.Left)
	}
	kept := f.again[:0]
	for _, s := range f.again {
		if f.end(s) <= a.Offset || f.sacked.covers(f.begin(s), f.end(s)) {
			a.Bytes += f.mark(s, e.Left)
		} else {
			kept = append(kept, s)
		}
	}
	f.again = kept
	f.c.Acks[f.d] = append(f.c.Acks[f.d], a)
	f.window(i)
}

// mark notes that a packet was acknowledged, and returns its bytes if that was
// not known.
func (f *tcpFlight) mark(sent int, at time.Duration) int {
	s := &f.c.Sent[f.d][sent]
	if s.Acked != Never {
		return 0
	}
	s.Acked = at
	return s.Bytes
}

// sack notes a block, and returns the bytes of packets that are now whole.
func (f *tcpFlight) sack(left, right int64, at time.Duration) (bytes int) {
	for _, n := range f.sacked.add(left, right) {
		rest := f.fresh[f.gone:]
		from := sort.Search(len(rest), func(i int) bool { return f.end(rest[i]) > n.begin })
		for _, s := range rest[from:] {
			if f.begin(s) >= n.end {
				break
			}
			if f.sacked.covers(f.begin(s), f.end(s)) {
				bytes += f.mark(s, at)
			}
		}
	}
	return bytes
}

// window notes the credit that a segment gives: the offset of the stream up to
// which may be sent. Windows are scaled when both SYNs offered that, and those
// of SYNs never are (RFC 7323, section 2.2).
func (f *tcpFlight) window(i int) {
	e := &f.c.r.Events[i]
	giver := &f.c.sides[1-f.d]
	if !f.c.sides[f.d].syn || !giver.syn {
		return
	}
	window := int64(e.IP.TCP.Window)
	if e.IP.TCP.Flags&ip.SYN == 0 && giver.scale >= 0 && f.c.sides[f.d].scale >= 0 {
		window <<= min(giver.scale, 14)
	}
	edge := e.AckOffset + window
	if list := f.c.Credit[f.d]; len(list) > 0 && edge == f.edge {
		return
	}
	f.edge = edge
	f.c.Credit[f.d] = append(f.c.Credit[f.d], Credit{Event: i, At: e.Left, Kind: "window", Max: edge})
}
