package tls

import "encoding/binary"

// cursor reads fields one after the other. After the first that is not there it
// is bad, and returns zero values.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) bytes(n int) []byte {
	if n > len(c.b) {
		c.b, c.bad = nil, true
		return nil
	}
	v := c.b[:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) u8() byte {
	if v := c.bytes(1); v != nil {
		return v[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if v := c.bytes(2); v != nil {
		return binary.BigEndian.Uint16(v)
	}
	return 0
}

// vec8 and vec16 read what has its length before it, in one byte or two.
func (c *cursor) vec8() *cursor  { return c.inner(c.bytes(int(c.u8()))) }
func (c *cursor) vec16() *cursor { return c.inner(c.bytes(int(c.u16()))) }

func (c *cursor) inner(b []byte) *cursor { return &cursor{b: b, bad: c.bad} }

// more says whether something is left.
func (c *cursor) more() bool { return len(c.b) > 0 }

// extensions reads a block of extensions, calling each with its number and its
// contents; it is not there at all at a message's end. It says whether the block
// was whole; each says whether the extension was well-formed.
func (c *cursor) extensions(each func(id uint16, v *cursor) bool) bool {
	if !c.more() {
		return !c.bad
	}
	list := c.vec16()
	for list.more() {
		id := list.u16()
		v := list.vec16()
		if list.bad || !each(id, v) {
			return false
		}
	}
	return !c.bad
}
