package http

import (
	"encoding/binary"
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// frameEnds tells a frame that is complete, and the end of its message.
func (c *Conn) frameEnds(d lab.Direction) {
	w := &c.h2.ways[d]
	e := Event{Way: d, Stream: uint64(w.stream()), Begin: w.begin, End: w.offset, Size: int64(w.size())}
	if int(w.kind()) < len(frameKinds) {
		e.Kind = frameKinds[w.kind()]
		c.numbers(d, &e)
	} else {
		e.Kind, e.Note = Other, fmt.Sprintf("frame type 0x%02x", w.kind())
	}
	if c.dead[d] {
		return
	}
	if !w.start {
		c.add(e)
	}
	if c.ends(d) {
		c.end2(d, e)
	}
}

// ends says whether a frame is its message's last. A header section ends with
// END_HEADERS, perhaps frames after END_STREAM (RFC 9113, section 6.10).
func (c *Conn) ends(d lab.Direction) bool {
	w := &c.h2.ways[d]
	switch w.kind() {
	case frameData:
		return w.flags()&flagEndStream != 0
	case frameHeaders:
		w.ending = 0
		if w.flags()&flagEndStream != 0 {
			w.ending = w.stream()
		}
	case frameContinuation:
	default:
		return false
	}
	if w.flags()&flagEndHeaders == 0 || w.ending == 0 || w.ending != w.stream() {
		return false
	}
	w.ending = 0
	return true
}

func (c *Conn) end2(d lab.Direction, e Event) {
	s := c.h2.streams[uint32(e.Stream)]
	if s == nil || s.ended[d] || !s.began[d] {
		return
	}
	s.ended[d] = true
	c.add(Event{Kind: endKind(d), Way: d, Stream: e.Stream, Begin: e.Begin, End: e.End})
	if s.ended[lab.Up] && s.ended[lab.Down] {
		delete(c.h2.streams, uint32(e.Stream))
	}
}

// numbers reads what a frame says in numbers. One that is too short for them is
// a connection error (RFC 9113, section 4.2), and breaks the direction.
func (c *Conn) numbers(d lab.Direction, e *Event) {
	w := &c.h2.ways[d]
	p := w.kept[:min(w.size(), len(w.kept))]
	need := [...]int{frameReset: 4, framePush: 4, framePing: 8, frameGoAway: 8, frameWindowUpdate: 4}
	if k := int(w.kind()); k < len(need) && len(p) < need[k] {
		c.broken(d, w.begin, fmt.Sprintf("%s frame of %d bytes, want %d", e.Kind, len(p), need[k]))
		return
	}
	ack := w.flags()&flagAck != 0
	switch w.kind() {
	case frameReset:
		e.Value = uint64(binary.BigEndian.Uint32(p))
		delete(c.h2.streams, uint32(e.Stream))
	case frameSettings:
		if ack {
			e.Kind = SettingsAck
		}
		for ; len(p) >= settingSize; p = p[settingSize:] {
			e.Settings = append(e.Settings, Setting{uint64(binary.BigEndian.Uint16(p)), uint64(binary.BigEndian.Uint32(p[2:]))})
		}
	case framePush:
		c.push(d, e, p)
	case framePing:
		if ack {
			e.Kind = PingAck
		}
	case frameGoAway:
		e.Last = uint64(binary.BigEndian.Uint32(p) & (1<<31 - 1))
		e.Value = uint64(binary.BigEndian.Uint32(p[4:]))
	case frameWindowUpdate:
		e.Value = uint64(binary.BigEndian.Uint32(p) & (1<<31 - 1))
	}
}

// push opens the promised stream; its request was the promise.
func (c *Conn) push(d lab.Direction, e *Event, p []byte) {
	if c.h2.ways[d].flags()&flagPadded != 0 {
		p = p[1:]
	}
	if len(p) < 4 || d != lab.Down {
		return
	}
	id := binary.BigEndian.Uint32(p) & (1<<31 - 1)
	e.Value = uint64(id)
	if c.h2.streams[id] != nil {
		return
	}
	if s := c.open2(d, id); s != nil {
		s.began[lab.Up], s.ended[lab.Up] = true, true
	}
}
