package http

import (
	"encoding/binary"
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// Frames of h2 (RFC 9113, section 6).
const (
	frameData         = 0
	frameHeaders      = 1
	framePriority     = 2
	frameReset        = 3
	frameSettings     = 4
	framePush         = 5
	framePing         = 6
	frameGoAway       = 7
	frameWindowUpdate = 8
	frameContinuation = 9
)

var frameKinds = [...]Kind{Data, Headers, Priority, Reset, Settings, Push, Ping, GoAway, WindowUpdate, Headers}

const (
	flagEndStream  = 1
	flagAck        = 1 // SETTINGS, PING
	flagEndHeaders = 4
	flagPadded     = 8

	frameHeader = 9
	settingSize = 6
	// maxStreams is how many streams may be open, of those that were not reset.
	maxStreams = 1 << 16
)

// h2 is a connection of HTTP/2.
type h2 struct {
	ways    [2]h2way
	streams map[uint32]*h2stream
}

type h2way struct {
	offset  int64
	preface int // bytes of it that came
	head    [frameHeader]byte
	have    int // of the frame, header included
	begin   int64
	start   bool // the frame is the first of its message
	kept    [MaxSettings * settingSize]byte
	newest  uint32 // highest stream that began a request
	ending  uint32 // a stream that ends with its header section, in CONTINUATION
}

// h2stream has, for each direction, whether its message began and ended.
type h2stream struct{ began, ended [2]bool }

func (h *h2) restart(d lab.Direction) {
	h.ways[d] = h2way{}
	if d == lab.Up {
		h.streams = nil
	}
}

func (w *h2way) size() int      { return int(w.head[0])<<16 | int(w.head[1])<<8 | int(w.head[2]) }
func (w *h2way) kind() byte     { return w.head[3] }
func (w *h2way) flags() byte    { return w.head[4] }
func (w *h2way) stream() uint32 { return binary.BigEndian.Uint32(w.head[5:]) & (1<<31 - 1) }

// read2 reads bytes of h2. Nothing of a frame's payload is kept but the first
// bytes of those that have numbers in them.
func (c *Conn) read2(d lab.Direction, data []byte) {
	w := &c.h2.ways[d]
	if d == lab.Up && w.preface < len(preface) {
		data = c.preface(data)
	}
	for len(data) > 0 && !c.dead[d] {
		if w.have < frameHeader {
			if w.have == 0 {
				w.begin = w.offset
			}
			n := copy(w.head[w.have:], data)
			w.have += n
			w.offset += int64(n)
			data = data[n:]
			if w.have < frameHeader {
				return
			}
			c.frameBegins(d)
		}
		at := w.have - frameHeader
		n := min(len(data), w.size()-at)
		if at < len(w.kept) {
			copy(w.kept[at:], data[:n])
		}
		w.have += n
		w.offset += int64(n)
		data = data[n:]
		if w.have == frameHeader+w.size() && !c.dead[d] {
			w.have = 0
			c.frameEnds(d)
		}
	}
}

func (c *Conn) preface(data []byte) []byte {
	w := &c.h2.ways[lab.Up]
	n := min(len(data), len(preface)-w.preface)
	if string(data[:n]) != preface[w.preface:w.preface+n] {
		c.broken(lab.Up, 0, "no connection preface of HTTP/2")
		return nil
	}
	w.preface += n
	w.offset += int64(n)
	if w.preface == len(preface) {
		c.add(Event{Kind: Preface, Way: lab.Up, End: w.offset, Size: int64(len(preface))})
	}
	return data[n:]
}

// frameBegins tells the start of a request or response.
func (c *Conn) frameBegins(d lab.Direction) {
	w := &c.h2.ways[d]
	w.start = false
	if w.kind() != frameHeaders {
		return
	}
	s := c.stream2(d, w.stream())
	if s == nil || s.began[d] || c.dead[d] {
		return
	}
	s.began[d], w.start = true, true
	c.add(Event{Kind: startKind(d), Way: d, Stream: uint64(w.stream()), Begin: w.begin, End: w.offset})
}

// stream2 is the stream of a HEADERS frame; nil: one that is over. A client's
// stream is new where its number is higher than all before (RFC 9113, section
// 5.1.1); a server's must have been opened, or it answers what was not read.
func (c *Conn) stream2(d lab.Direction, id uint32) *h2stream {
	h := &c.h2
	if s := h.streams[id]; s != nil {
		return s
	}
	if newest := &h.ways[d].newest; id > *newest && (d == lab.Up || c.lost) {
		*newest = id
		return c.open2(d, id)
	}
	return nil
}

func (c *Conn) open2(d lab.Direction, id uint32) *h2stream {
	h := &c.h2
	if len(h.streams) >= maxStreams {
		c.broken(d, h.ways[d].begin, fmt.Sprintf("more than %d open streams", maxStreams))
		return nil
	}
	if h.streams == nil {
		h.streams = map[uint32]*h2stream{}
	}
	s := &h2stream{}
	h.streams[id] = s
	return s
}
