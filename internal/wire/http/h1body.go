package http

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/samewire/samewire/internal/lab"
)

// field reads a field line of the header section: those two that say how long
// the content is (RFC 9112, section 6).
func (w *h1way) field(line []byte) string {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("content-length")):
		n, err := strconv.ParseUint(string(value), 10, 62)
		if err != nil || w.length >= 0 && w.length != int64(n) {
			return fmt.Sprintf("content-length %.40q", value)
		}
		w.length = int64(n)
	case bytes.EqualFold(name, []byte("transfer-encoding")):
		const chunked = "chunked"
		w.coded = true
		tail := value[max(0, len(value)-len(chunked)):]
		w.chunked = bytes.EqualFold(tail, []byte(chunked))
	}
	return ""
}

// headersEnd decides what follows the header section (RFC 9112, section 6.3).
func (c *Conn) headersEnd(d lab.Direction) string {
	w := &c.h1.ways[d]
	method := ""
	if d == lab.Down {
		if w.status/100 == 1 && w.status != 101 { // interim: the final one follows
			w.state = startLine
			return ""
		}
		method = c.answered()
	} else {
		method = c.h1.methods[len(c.h1.methods)-1]
	}
	switch last := w.offset - 1; {
	case d == lab.Down && (w.status == 101 || method == "CONNECT" && w.status/100 == 2):
		c.end1(d, last)
		c.h1.ways[lab.Up].state, w.state = tunnel, tunnel
	case d == lab.Up && method == "CONNECT":
		c.end1(d, last)
		w.state = tunnel
	case d == lab.Down && (method == "HEAD" || w.status == 204 || w.status == 304):
		c.end1(d, last)
	case w.chunked:
		w.state = chunkSize
	case w.coded && d == lab.Up:
		return "a request's transfer-encoding does not end with chunked"
	case w.length > 0 && !w.coded:
		w.state, w.remain = content, w.length
	case d == lab.Up || w.length == 0 && !w.coded:
		c.end1(d, last)
	default:
		w.state = untilClose
	}
	return ""
}

// answered is the method of the request that a final response answers; empty:
// the request was not seen.
func (c *Conn) answered() string {
	if len(c.h1.methods) == 0 {
		return ""
	}
	method := c.h1.methods[0]
	c.h1.methods = c.h1.methods[1:]
	return method
}

// chunkLine reads a chunk's size (RFC 9112, section 7.1).
func (w *h1way) chunkLine(line []byte) string {
	size, _, _ := bytes.Cut(line, []byte{';'})
	n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 62)
	if err != nil {
		return fmt.Sprintf("chunk size %.40q", size)
	}
	w.state, w.remain = chunk, int64(n)
	if n == 0 {
		w.state = trailers
	}
	return ""
}
