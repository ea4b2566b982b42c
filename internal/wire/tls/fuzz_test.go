package tls_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/hostile"
	wire "github.com/samewire/samewire/internal/wire/tls"
)

// FuzzConn: hostile records never panic, pieces of any size say the same, and
// messages stay within what came.
func FuzzConn(tf *testing.F) {
	f := hostile.Wrap(tf)
	var keys []byte
	for _, s := range scenarios {
		k := s.load(f)
		keys = append(keys, k.keys.Bytes()...)
		var ways [2][]byte
		for _, w := range k.writes {
			ways[w.d] = append(ways[w.d], w.data...)
		}
		f.Add(ways[lab.Up], ways[lab.Down], byte(len(s.name)))
	}
	f.Add([]byte("\x14\x03\x03\x00\x01\x01\x16\x03\x03\x00\x03abc"), []byte("\x17\x03\x03\x00\x00\x15\x03\x03\x00\x02\x01\x00"), byte(1))
	all := &talk{}
	all.keys.Write(keys)
	log := all.log(f)
	f.Fuzz(func(t *testing.T, up, down []byte, size byte) {
		k := &talk{writes: []write{{lab.Up, up}, {lab.Down, down}}}
		c, want := k.read(log, 0)
		pieces, got := k.read(log, int(size))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("pieces of %d: %s", size, d)
		}
		if d := cmp.Diff(c.Hello(), pieces.Hello()); d != "" {
			t.Errorf("pieces of %d: %s", size, d)
		}
		sent := [2]int64{int64(len(up)), int64(len(down))}
		for _, m := range want {
			if m.Begin < 0 || m.Begin > m.End || m.End > sent[m.Way] || m.Opened && m.Problem != "" {
				t.Errorf("%+v", m)
			}
		}
	})
}

// FuzzMessages is the same for bare handshake messages.
func FuzzMessages(tf *testing.F) {
	f := hostile.Wrap(tf)
	hello := func(s scenario) []byte { return s.load(f).writes[0].data[5:] }
	f.Add(hello(scenarios[0]), []byte("\x08\x00\x00\x02\x00\x00"), byte(3))
	f.Add(hello(scenarios[3]), []byte("\x02\x00\x00\x26\x03\x03"+string(bytes.Repeat([]byte{1}, 32))+"\x00\x13\x01\x00"), byte(9))
	f.Add([]byte("\x0b\xff\xff\xff"), []byte("\x0c\x00\x00\x03\x03\x00\x1d"), byte(0))
	f.Fuzz(func(t *testing.T, up, down []byte, size byte) {
		read := func(size int) (*wire.Hello, []wire.Message) {
			var (
				m    wire.Messages
				list []wire.Message
			)
			for d, data := range [][]byte{up, down} {
				for len(data) > 0 {
					n := len(data)
					if size > 0 {
						n = min(n, size)
					}
					list = append(list, m.Read(lab.Direction(d), wire.LevelInitial, data[:n])...)
					data = data[n:]
				}
			}
			return m.Hello(), list
		}
		hello, want := read(0)
		pieces, got := read(int(size))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("pieces of %d: %s", size, d)
		}
		if d := cmp.Diff(hello, pieces); d != "" {
			t.Errorf("pieces of %d: %s", size, d)
		}
	})
}
