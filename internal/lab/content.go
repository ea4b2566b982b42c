package lab

import (
	"encoding/binary"
	"errors"
	"io"
)

// Content is the body of every object of n bytes: the first n bytes of one
// endless sequence in which no two stretches are alike. The eight bytes at
// offset 8k are Mix64(k+1), little endian. Whoever knows the offset can check
// a byte, so that lost, repeated, swapped and shifted pieces all show.

// FillContent writes into p the content that starts at offset off.
func FillContent(p []byte, off int64) {
	var word [8]byte
	for len(p) > 0 {
		binary.LittleEndian.PutUint64(word[:], Mix64(uint64(off/8)+1))
		if off%8 == 0 && len(p) >= 8 {
			copy(p, word[:])
			p, off = p[8:], off+8
			continue
		}
		n := copy(p, word[off%8:])
		p, off = p[n:], off+int64(n)
	}
}

// ContentReader reads the first Size bytes of the content. It can seek, so
// that an HTTP client can send a body again.
type ContentReader struct {
	Size int64
	off  int64
}

// Read implements io.Reader.
func (r *ContentReader) Read(p []byte) (int, error) {
	if r.off >= r.Size {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), r.Size-r.off)]
	FillContent(p, r.off)
	r.off += int64(len(p))
	return len(p), nil
}

// Seek implements io.Seeker.
func (r *ContentReader) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		off += r.off
	case io.SeekEnd:
		off += r.Size
	}
	if off < 0 {
		return 0, errors.New("lab: seek before the content's start")
	}
	r.off = off
	return off, nil
}

// ContentCheck is a writer that compares what it is given with the content.
// The zero value is ready for use.
type ContentCheck struct {
	N       int64 // bytes seen
	Corrupt bool  // some byte was not the content's
	buf     []byte
}

// Write implements io.Writer; it never fails.
func (c *ContentCheck) Write(p []byte) (int, error) {
	if cap(c.buf) < len(p) {
		c.buf = make([]byte, len(p))
	}
	want := c.buf[:len(p)]
	FillContent(want, c.N)
	if string(want) != string(p) {
		c.Corrupt = true
	}
	c.N += int64(len(p))
	return len(p), nil
}
