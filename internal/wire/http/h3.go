package http

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// Frames of h3 (RFC 9114, section 7.2).
const (
	h3Data       = 0x00
	h3Headers    = 0x01
	h3CancelPush = 0x03
	h3Settings   = 0x04
	h3Push       = 0x05
	h3GoAway     = 0x07
	h3MaxPushID  = 0x0d
)

var h3Kinds = map[uint64]Kind{h3Data: Data, h3Headers: Headers, h3CancelPush: CancelPush, h3Settings: Settings,
	h3Push: Push, h3GoAway: GoAway, h3MaxPushID: MaxPushID}

// Types of unidirectional streams (RFC 9114, section 6.2; RFC 9204, section 4.2).
const (
	controlStream = 0
	pushStream    = 1
)

var streamTypes = map[uint64]string{controlStream: "control", pushStream: "push", 2: "QPACK encoder", 3: "QPACK decoder"}

// H3 reads the streams of a connection with h3. Its zero value is ready.
type H3 struct {
	streams map[h3key]*h3stream
	full    bool // more than maxStreams: told once
	list    []Event
}

type h3key struct {
	d  lab.Direction
	id uint64
}

// h3stream is one direction of a stream.
type h3stream struct {
	h3key
	offset int64
	kept   []byte // an unfinished varint, or a payload of numbers; at most maxKept
	opaque bool   // its bytes are no frames, or cannot be read on
	typed  bool   // unidirectional: its type was read
	pushed bool   // a push stream, whose push ID comes before the frames
	began  bool   // its request or response

	inside bool // of a frame: its header was read
	begin  int64
	kind   uint64
	size   uint64
	remain uint64
	start  bool
}

// maxKept bounds what is kept of a frame's payload: MaxSettings pairs of varints.
const maxKept = MaxSettings * 16

// NewH3 begins a connection.
func NewH3() *H3 { return &H3{} }

// Restart forgets the streams of a direction: what they brought never reached
// the application (rejected early data), and they begin again at offset 0.
func (c *H3) Restart(d lab.Direction) {
	for k := range c.streams {
		if k.d == d {
			delete(c.streams, k)
		}
	}
}

// Read takes the next bytes of a stream in one direction, in order and without
// gaps. fin: they are its last, data may then be empty.
func (c *H3) Read(d lab.Direction, stream uint64, data []byte, fin bool) []Event {
	c.list = nil
	s := c.stream(h3key{d, stream})
	if s == nil {
		return c.list
	}
	for len(data) > 0 && !s.opaque {
		data = c.read(s, data)
	}
	s.offset += int64(len(data)) // of an opaque one
	if fin {
		c.fin(s)
		delete(c.streams, s.h3key)
	}
	return c.list
}

func (c *H3) stream(k h3key) *h3stream {
	if s := c.streams[k]; s != nil {
		return s
	}
	if len(c.streams) >= maxStreams {
		if !c.full {
			c.full = true
			c.list = append(c.list, Event{Kind: Broken, Way: k.d, Stream: k.id, Note: fmt.Sprintf("more than %d open streams", maxStreams)})
		}
		return nil
	}
	if c.streams == nil {
		c.streams = map[h3key]*h3stream{}
	}
	// Those that a server opens in both directions have no use in h3.
	s := &h3stream{h3key: k, typed: k.id&2 == 0, opaque: k.id&3 == 1}
	c.streams[k] = s
	return s
}

// request says whether the stream has a request and its response.
func (s *h3stream) request() bool { return s.id&3 == 0 }

func (c *H3) add(s *h3stream, e Event) {
	e.Way, e.Stream = s.d, s.id
	c.list = append(c.list, e)
}

func (c *H3) fin(s *h3stream) {
	switch {
	case s.opaque:
	case s.inside || len(s.kept) > 0:
		c.add(s, Event{Kind: Broken, Begin: s.begin, End: s.offset, Note: "the stream ends within a frame"})
	case s.request() && s.began:
		c.add(s, Event{Kind: endKind(s.d), Begin: s.offset, End: s.offset})
	}
}

// read takes the next piece of a stream, and returns what follows it.
func (c *H3) read(s *h3stream, data []byte) []byte {
	if s.inside {
		return c.payload(s, data)
	}
	n := s.take(data, s.headerSize())
	if len(s.kept) == s.headerSize() { // it grows with the bytes that are there
		c.header(s)
	}
	return data[n:]
}
