package wire

import (
	"net/netip"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/tls"
)

// tcpConn is a TCP connection that is being read.
type tcpConn struct {
	*Connection
	r     *Reading
	index int
	sides [2]tcpSide // by the direction in which they send
	data  *tlsData
}

// tcpSide is the sending half of a connection. Sequence numbers are those of RFC
// 9293; an offset is how far a number is from that of the SYN.
type tcpSide struct {
	known bool   // the sequence numbers are
	syn   bool   // the SYN was seen, and so what it offered
	isn   uint32 // of the SYN
	ack   uint32 // the newest number that it acknowledged
	next  int64  // the highest offset that was seen, and 1 more
	scale int8   // of the windows that it announces; -1: not offered
	asm   assembler
}

// offset is the place in the stream that a sequence number stands for: the one
// that is nearest to what was sent last (RFC 9293, section 3.4).
func (s *tcpSide) offset(seq uint32) int64 {
	return s.next + int64(int32(seq-s.isn-uint32(s.next)))
}

// learn takes the first number that is seen of a side for that of the first byte
// after its SYN.
func (s *tcpSide) learn(seq uint32) {
	if !s.known {
		s.known, s.isn, s.next = true, seq-1, 1
	}
}

// call names a SYN by what answers it: the server, and the number that it
// acknowledges.
type call struct {
	server netip.AddrPort
	ack    uint32
}

// translated is the connection whose SYN event i answers at an address that an
// address translation has given the client: the two directions are seen before
// their translation. Nil: none is known.
func (b *reader) translated(e *Event) *tcpConn {
	h := &e.IP.TCP
	if e.Way != lab.Down {
		return nil
	}
	if h.Flags&(ip.RST|ip.ACK) == ip.RST {
		return b.refused(e)
	}
	if h.Flags&(ip.SYN|ip.ACK) != ip.SYN|ip.ACK {
		return nil
	}
	c := b.calls[call{e.IP.Source, h.Ack}]
	if c == nil || c.sides[lab.Down].known {
		return nil
	}
	return c
}

// resetSearch is how many connections a reset of unknown addresses is compared
// with.
const resetSearch = 64

// refused is the connection that a server's reset is about where it does not know
// the address that a segment came from: the reset has the number that the segment
// acknowledged (RFC 9293, section 3.10.7.1).
func (b *reader) refused(e *Event) *tcpConn {
	if b.tcp[clientOf(e)] != nil {
		return nil
	}
	for n := len(b.tcpConns) - 1; n >= max(len(b.tcpConns)-resetSearch, 0); n-- {
		c := b.tcpConns[n]
		if c.Server == e.IP.Source && c.sides[lab.Down].known && c.sides[lab.Up].ack-e.IP.TCP.Seq < 1<<16 {
			return c
		}
	}
	return nil
}

// readTCP reads a segment. A SYN with another number than the one before on the
// same addresses opens a new connection.
func (b *reader) readTCP(i int) {
	e := &b.Events[i]
	p := clientOf(e)
	c := b.tcp[p]
	if answered := b.translated(e); answered != nil && answered != c {
		c, b.tcp[p] = answered, answered
	}
	opens := e.Way == lab.Up && e.IP.TCP.Flags&(ip.SYN|ip.ACK) == ip.SYN
	if c == nil || opens && (c.sides[lab.Up].isn != e.IP.TCP.Seq || !c.sides[lab.Up].syn) {
		c = &tcpConn{r: b.Reading}
		c.Connection, c.index = b.open("tcp", i, p)
		for d := range c.sides {
			c.sides[d].asm.next = 1
			c.stream[d] = &spans{}
		}
		c.data = newTLSData(b.Reading, c.Connection, tls.NewConn(b.secrets))
		b.tcp[p] = c
		b.tcpConns = append(b.tcpConns, c)
	}
	if opens {
		b.calls[call{e.IP.Dest, e.IP.TCP.Seq + 1}] = c
	}
	c.segment(i)
}

func (c *tcpConn) segment(i int) {
	e := &c.r.Events[i]
	d, h := e.Way, &e.IP.TCP
	mine, other := &c.sides[d], &c.sides[1-d]
	e.Conn = c.index
	c.Events = append(c.Events, i)
	if h.Flags&ip.SYN != 0 && !mine.syn {
		*mine = tcpSide{known: true, syn: true, isn: h.Seq, scale: h.WindowScale, asm: mine.asm}
	}
	mine.learn(h.Seq)
	e.Offset = mine.offset(h.Seq)
	if h.Flags&ip.ACK != 0 {
		mine.ack = h.Ack
		other.learn(h.Ack)
		e.AckOffset = other.offset(h.Ack)
	}
	c.send(i)
}

// send notes what a segment carries, and reads it.
func (c *tcpConn) send(i int) {
	e := &c.r.Events[i]
	d := e.Way
	begin, size := e.Offset, int64(e.IP.Size)
	end := begin + e.takes()
	if e.IP.TCP.Flags&ip.RST != 0 || end == begin {
		return
	}
	fresh := c.stream[d].add(begin, end, i)
	data := begin
	if e.IP.TCP.Flags&ip.SYN != 0 {
		fresh, data = max(fresh-1, 0), data+1
	}
	e.New = int(min(fresh, size))
	e.Again = int(size) - e.New
	c.sides[d].next = max(c.sides[d].next, end)
	if size > 0 {
		c.read(i, data)
	}
}

// takes is how much of its stream a segment takes: its payload, SYN and FIN.
func (e *Event) takes() int64 {
	n := int64(e.IP.Size)
	for _, f := range []byte{ip.SYN, ip.FIN} {
		if e.IP.TCP.Flags&f != 0 {
			n++
		}
	}
	return n
}

// read passes on the segment's payload, which begins at offset data.
func (c *tcpConn) read(i int, data int64) {
	e := &c.r.Events[i]
	asm := &c.sides[e.Way].asm
	asm.take(data, e.IP.Payload, itself, func(b []byte) { c.data.read(i, b) })
	cut := data + int64(len(e.IP.Payload))
	if len(e.IP.Payload) < e.IP.Size && asm.next == cut && !asm.lost {
		asm.lost = true
		c.Unread[e.Way] = i + 1
		c.data.lost(e.Way)
	}
}

// finish makes what takes the whole connection to know.
func (c *tcpConn) finish() {
	c.data.finish()
	c.acknowledge()
	c.settle(c.r)
}
