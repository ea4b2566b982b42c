package http

import "fmt"

// varint reads a variable-length integer (RFC 9000, section 16); n is its size,
// 0: it is not whole.
func varint(b []byte) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	n = 1 << (b[0] >> 6)
	if len(b) < n {
		return 0, 0
	}
	v = uint64(b[0] & 0x3f)
	for _, x := range b[1:n] {
		v = v<<8 | uint64(x)
	}
	return v, n
}

// headerSize is how many bytes are needed to read the next header: a stream's
// type, a push ID, or a frame's type and length.
func (s *h3stream) headerSize() int {
	if len(s.kept) == 0 {
		return 1
	}
	first := 1 << (s.kept[0] >> 6)
	if !s.typed || s.pushed {
		return first
	}
	if len(s.kept) <= first {
		return first + 1
	}
	return first + 1<<(s.kept[first]>>6)
}

// take keeps up to size bytes, and says how many it took.
func (s *h3stream) take(data []byte, size int) int {
	n := min(len(data), size-len(s.kept))
	if len(s.kept) == 0 {
		s.begin = s.offset
	}
	s.kept = append(s.kept, data[:n]...)
	s.offset += int64(n)
	return n
}

// header takes a whole header.
func (c *H3) header(s *h3stream) {
	v, n := varint(s.kept)
	switch {
	case !s.typed:
		s.typed = true
		c.streamType(s, v)
	case s.pushed:
		s.pushed = false
	default:
		s.inside, s.kind = true, v
		s.size, _ = varint(s.kept[n:])
		s.remain = s.size
		c.frameBegins(s)
	}
	s.kept = s.kept[:0]
	if s.inside && s.remain == 0 {
		c.frameEnds(s)
	}
}

func (c *H3) streamType(s *h3stream, v uint64) {
	note, known := streamTypes[v]
	if !known {
		note = fmt.Sprintf("type 0x%x", v)
	}
	c.add(s, Event{Kind: StreamType, Begin: s.begin, End: s.offset, Value: v, Note: note})
	s.pushed = v == pushStream
	s.opaque = v != controlStream && v != pushStream
}

func (c *H3) frameBegins(s *h3stream) {
	s.start = s.kind == h3Headers && s.request() && !s.began
	if s.start {
		s.began = true
		c.add(s, Event{Kind: startKind(s.d), Begin: s.begin, End: s.offset})
	}
}

// numeric says whether a frame's payload is numbers that are read.
func (s *h3stream) numeric() bool {
	switch s.kind {
	case h3Settings, h3GoAway, h3MaxPushID, h3CancelPush:
		return true
	}
	return false
}

// payload takes bytes of a frame's payload.
func (c *H3) payload(s *h3stream, data []byte) []byte {
	n := int(min(uint64(len(data)), s.remain))
	if s.numeric() {
		s.kept = append(s.kept, data[:min(n, maxKept-len(s.kept))]...)
	}
	s.remain -= uint64(n)
	s.offset += int64(n)
	if s.remain == 0 {
		c.frameEnds(s)
	}
	return data[n:]
}

func (c *H3) frameEnds(s *h3stream) {
	e := Event{Kind: h3Kinds[s.kind], Begin: s.begin, End: s.offset, Size: int64(s.size)}
	if e.Kind == "" {
		e.Kind, e.Note = Other, fmt.Sprintf("frame type 0x%x", s.kind)
	}
	if s.kind == h3Settings {
		e.Settings = settings3(s.kept)
	} else if s.numeric() {
		e.Value, _ = varint(s.kept)
	}
	s.inside, s.kept = false, s.kept[:0]
	if !s.start {
		c.add(s, e)
	}
}

func settings3(p []byte) []Setting {
	var list []Setting
	for len(list) < MaxSettings {
		id, n := varint(p)
		if n == 0 {
			break
		}
		value, m := varint(p[n:])
		if m == 0 {
			break
		}
		list = append(list, Setting{id, value})
		p = p[n+m:]
	}
	return list
}
