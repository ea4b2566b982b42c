package quic

import "encoding/binary"

// maxVarint is the largest number of a variable-length integer (RFC 9000,
// section 16), and so of an offset in a stream.
const maxVarint = 1<<62 - 1

// reader takes fields off the front of bytes. After short is set nothing that it
// returned since counts.
type reader struct {
	rest  []byte
	short bool // the bytes ended within a field
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.short = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) uint32() uint32 {
	b := r.bytes(4)
	if b == nil {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

// bytes takes n bytes; n may be any number that a packet said.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.short = true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// varint takes a variable-length integer.
func (r *reader) varint() uint64 {
	if len(r.rest) == 0 {
		r.short = true
		return 0
	}
	n := 1 << (r.rest[0] >> 6)
	if len(r.rest) < n {
		r.short = true
		return 0
	}
	v := uint64(r.rest[0] & 0x3f)
	for _, b := range r.rest[1:n] {
		v = v<<8 | uint64(b)
	}
	r.rest = r.rest[n:]
	return v
}
