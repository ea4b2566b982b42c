package worker

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
)

// tailSize is how much of a worker's last words is kept.
const tailSize = 2048

// tail keeps the last of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, stripPlayback(p)...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// String returns the last words on one line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(string(t.buf)), " ")
}

// playbackMagic starts the header that a runtime with virtual time puts before
// each write to standard output or error: magic, 8 bytes of time, 4 of length
// (Go's runtime/time_fake.go).
var playbackMagic = []byte("\x00\x00PB")

const playbackHeader = 16

// stripPlayback removes the playback headers from b. What does not carry any
// is returned as it is.
func stripPlayback(b []byte) []byte {
	var out []byte
	for {
		i := bytes.Index(b, playbackMagic)
		if i < 0 || len(b) < i+playbackHeader {
			return append(out, b...)
		}
		out = append(out, b[:i]...)
		n := int(binary.BigEndian.Uint32(b[i+12:]))
		b = b[i+playbackHeader:]
		n = min(n, len(b))
		out = append(out, b[:n]...)
		b = b[n:]
	}
}
