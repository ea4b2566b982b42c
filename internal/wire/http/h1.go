package http

import (
	"bytes"
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

const (
	// maxLine is how many bytes of a line are kept. What is needed of a line (method,
	// status, lengths) is at its beginning; the rest of a longer one is passed over.
	maxLine = 8192
	// maxPending is how many requests may wait for their response.
	maxPending = 4096
)

// state is what a direction of h1 expects next.
type state int

const (
	startLine  state = iota
	fields           // of the header section
	content          // with its length known
	chunkSize        // a line
	chunk            // its data
	chunkEnd         // the line end after it
	trailers         // and the empty line
	untilClose       // content until the connection's end
	tunnel           // no more HTTP: after CONNECT, or 101 Switching Protocols
)

// h1 is a connection of HTTP/1.1.
type h1 struct {
	ways    [2]h1way
	methods []string // of the requests without a final response yet
}

type h1way struct {
	offset  int64
	state   state
	line    []byte // so far
	begin   int64  // of the line
	long    bool   // it is longer than maxLine
	count   uint64 // messages that ended
	started bool   // the message's start was told
	remain  int64  // bytes of content, or of a chunk

	// Of the present message's header section.
	status  int
	length  int64 // -1: not there
	chunked bool
	coded   bool // it has a Transfer-Encoding
}

func (h *h1) restart(d lab.Direction) {
	h.ways[d] = h1way{}
	if d == lab.Up {
		h.methods = nil
	}
}

// read1 reads bytes of h1.
func (c *Conn) read1(d lab.Direction, data []byte) {
	w := &c.h1.ways[d]
	for len(data) > 0 && !c.dead[d] {
		var n int
		switch w.state {
		case content, chunk:
			n = c.body1(d, len(data))
		case untilClose, tunnel:
			n = len(data)
			w.offset += int64(n)
		default:
			n = c.line1(d, data)
		}
		data = data[n:]
	}
}

// body1 passes over content.
func (c *Conn) body1(d lab.Direction, have int) int {
	w := &c.h1.ways[d]
	n := int(min(int64(have), w.remain))
	w.offset += int64(n)
	w.remain -= int64(n)
	switch {
	case w.remain > 0:
	case w.state == chunk:
		w.state = chunkEnd
	default:
		c.end1(d, w.offset-1)
	}
	return n
}

// line1 reads a line, or as much of it as is there.
func (c *Conn) line1(d lab.Direction, data []byte) int {
	w := &c.h1.ways[d]
	if w.state == startLine && len(w.line) == 0 && !w.started && data[0] != '\r' && data[0] != '\n' {
		w.started, w.length = true, -1
		c.add(Event{Kind: startKind(d), Way: d, Stream: w.count, Begin: w.offset, End: w.offset + 1})
	}
	if len(w.line) == 0 {
		w.begin = w.offset
	}
	n := bytes.IndexByte(data, '\n') + 1
	part := data[:n]
	if n == 0 {
		part = data
	}
	keep := min(len(part), maxLine-len(w.line))
	w.line = append(w.line, part[:keep]...)
	w.long = w.long || keep < len(part)
	w.offset += int64(len(part))
	if n == 0 {
		return len(part)
	}
	line := bytes.TrimRight(w.line, "\r\n")
	if why := c.take1(d, line); why != "" {
		c.broken(d, w.begin, why)
	}
	w.line, w.long = w.line[:0], false
	return n
}

// take1 takes a whole line; why says why the direction cannot be read on.
func (c *Conn) take1(d lab.Direction, line []byte) (why string) {
	w := &c.h1.ways[d]
	switch w.state {
	case startLine:
		return c.first1(d, line)
	case fields:
		if len(line) > 0 {
			return w.field(line)
		}
		return c.headersEnd(d)
	case chunkSize:
		return w.chunkLine(line)
	case chunkEnd:
		if len(line) > 0 {
			return "no line end after a chunk"
		}
		w.state = chunkSize
	case trailers:
		if len(line) == 0 {
			c.end1(d, w.offset-1)
		}
	}
	return ""
}

// end1 tells the end of a message, whose last byte is at begin.
func (c *Conn) end1(d lab.Direction, begin int64) {
	w := &c.h1.ways[d]
	c.add(Event{Kind: endKind(d), Way: d, Stream: w.count, Begin: begin, End: w.offset})
	w.count++
	w.state, w.started = startLine, false
	w.status, w.chunked, w.coded = 0, false, false
}

// first1 reads a request line or a status line (RFC 9112, sections 3 and 4).
func (c *Conn) first1(d lab.Direction, line []byte) string {
	w := &c.h1.ways[d]
	if !w.started {
		if len(line) > 0 {
			return "a bare carriage return before the first line"
		}
		return "" // before a request line (RFC 9112, section 2.2)
	}
	w.length, w.chunked, w.coded = -1, false, false
	w.state = fields
	word, rest, _ := bytes.Cut(line, []byte{' '})
	if d == lab.Down {
		if !bytes.HasPrefix(word, []byte("HTTP/1.")) || len(rest) < 3 || !digits(rest[:3]) {
			return fmt.Sprintf("no status line of HTTP/1: %.40q", line)
		}
		w.status = int(rest[0]-'0')*100 + int(rest[1]-'0')*10 + int(rest[2]-'0')
		return ""
	}
	if len(word) == 0 || len(word) > 32 || !w.long && !bytes.Contains(rest, []byte(" HTTP/1.")) {
		return fmt.Sprintf("no request line of HTTP/1: %.40q", line)
	}
	if len(c.h1.methods) >= maxPending {
		return fmt.Sprintf("more than %d requests without a response", maxPending)
	}
	c.h1.methods = append(c.h1.methods, string(word))
	return ""
}

func digits(b []byte) bool {
	for _, x := range b {
		if x < '0' || x > '9' {
			return false
		}
	}
	return len(b) > 0
}
