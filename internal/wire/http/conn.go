package http

import (
	"bytes"

	"github.com/samewire/samewire/internal/lab"
)

// Conn reads the application data of a connection with h1 or h2. Make one with
// NewConn. The two directions are read in the order in which they were sent: a
// response after the request that it answers.
type Conn struct {
	protocol protocol
	sniffed  [2][]byte // while the protocol is not known: at most len(preface)
	dead     [2]bool
	lost     bool // bytes of the client are missing
	h1       h1
	h2       h2
	list     []Event // of the present call
}

type protocol int

const (
	unknown protocol = iota
	version1
	version2
)

// preface is what an h2 client says first (RFC 9113, section 3.4). Its first line
// is no request of h1.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// NewConn begins a connection with the protocol that ALPN chose: "h2", or
// "http/1.1". With any other, the first bytes tell which of the two it is.
func NewConn(alpn string) *Conn {
	c := &Conn{}
	switch alpn {
	case "h2":
		c.protocol = version2
	case "http/1.1", "http/1.0":
		c.protocol = version1
	}
	return c
}

// Read takes the next bytes of a direction, in order and without gaps.
func (c *Conn) Read(d lab.Direction, data []byte) []Event {
	if c.dead[d] || len(data) == 0 {
		return nil
	}
	if c.protocol == unknown || len(c.sniffed[d]) > 0 {
		data = append(c.sniffed[d], data...)
		c.sniffed[d] = nil
		if c.protocol == unknown {
			c.protocol = sniff(d, data)
		}
	}
	c.list = nil
	switch c.protocol {
	case version1:
		c.read1(d, data)
	case version2:
		c.read2(d, data)
	default:
		c.sniffed[d] = bytes.Clone(data)
	}
	return c.list
}

// sniff tells the protocol by a direction's first bytes. A server's first byte
// in h2 is the highest of a frame's length, and 'H' would be 4 MiB and more.
func sniff(d lab.Direction, data []byte) protocol {
	switch n := min(len(data), len(preface)); {
	case d == lab.Down && data[0] == 'H':
		return version1
	case d == lab.Down:
		return version2
	case string(data[:n]) != preface[:n]:
		return version1
	case n == len(preface):
		return version2
	}
	return unknown
}

// Close says that a direction has ended: no byte follows.
func (c *Conn) Close(d lab.Direction) []Event {
	c.list = nil
	w := &c.h1.ways[d]
	if !c.dead[d] && c.protocol == version1 && w.state == untilClose {
		c.end1(d, w.offset)
	}
	c.dead[d] = true
	return c.list
}

// Lost says that bytes of a direction are missing from here on: nothing more is
// read in it.
func (c *Conn) Lost(d lab.Direction) {
	c.dead[d] = true
	c.lost = c.lost || d == lab.Up
}

// Restart says that what a direction has brought so far never reached the
// application (rejected early data): it begins again at offset 0, with the same
// protocol.
func (c *Conn) Restart(d lab.Direction) {
	c.dead[d], c.sniffed[d] = false, nil
	c.h1.restart(d)
	c.h2.restart(d)
}

func (c *Conn) add(e Event) { c.list = append(c.list, e) }

// broken ends a direction.
func (c *Conn) broken(d lab.Direction, at int64, why string) {
	c.add(Event{Kind: Broken, Way: d, Begin: at, End: at, Note: why})
	c.dead[d] = true
}

// startKind and endKind are the kinds of a direction's messages.
func startKind(d lab.Direction) Kind {
	if d == lab.Up {
		return RequestStart
	}
	return ResponseStart
}

func endKind(d lab.Direction) Kind {
	if d == lab.Up {
		return RequestEnd
	}
	return ResponseEnd
}
