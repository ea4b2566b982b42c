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
// repeated, and no more than maxMoves repeated packets wait to be acknowledged,
// so that the cost is linear; a repeated packet is looked for among the blocks
// only when it is new or they are.
type tcpFlight struct {
	c      *tcpConn
	d      lab.Direction
	fresh  []int    // indices of Sent with new data, by their offsets
	gone   int      // of fresh, those that are acknowledged up to a gap
	again  []repeat // packets of Sent without new data that are not acknowledged
	sacked ranges
	edge   int64 // the newest right edge of the window
}

// repeat is a packet without new data.
type repeat struct {
	sent       int // index of Sent
	begin, end int64
	known      bool // it was looked for among the blocks
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
		if len(f.again) == maxMoves { // the oldest is taken for one that was never acknowledged
			f.again = f.again[1:]
		}
		f.again = append(f.again, repeat{sent: last, begin: e.Offset, end: e.Offset + n})
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
	side, news := &f.c.sides[f.d], false
	for _, b := range e.IP.TCP.SACK[:min(max(e.IP.TCP.SACKs, 0), len(e.IP.TCP.SACK))] {
		left, right := side.offset(b.Left), side.offset(b.Right)
		if left < a.Offset || right <= left {
			continue // of a duplicate (RFC 2883), or nonsense
		}
		a.Sacked = true
		bytes, fresh := f.sack(left, right, e.Left)
		a.Bytes, news = a.Bytes+bytes, news || fresh
	}
	kept := f.again[:0]
	for _, s := range f.again {
		if s.end <= a.Offset || (news || !s.known) && f.sacked.covers(s.begin, s.end) {
			a.Bytes += f.mark(s.sent, e.Left)
		} else {
			s.known = true
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

// sack notes a block, and returns the bytes of packets that are now whole, and
// whether anything of it was new.
func (f *tcpFlight) sack(left, right int64, at time.Duration) (bytes int, fresh bool) {
	for _, n := range f.sacked.add(left, right) {
		fresh = true
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
	return bytes, fresh
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
