package tls

import (
	"bytes"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/hostile"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// FuzzOpened: what is in a record that opens is as hostile as any other.
func FuzzOpened(tf *testing.F) {
	f := hostile.Wrap(tf)
	log, err := keylog.Parse([]byte("CLIENT_TRAFFIC_SECRET_0 " + strings.Repeat("00", 32) + " " + strings.Repeat("07", 32)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("hello\x17\x00\x00"), []byte("\x18\x00\x00\x01\x00\x16"))
	f.Add([]byte("\x01\x00\x15"), []byte("\x00"))
	f.Add([]byte("\x0b\x00\x00\x09x\x16"), []byte("\x14"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		if len(first) > 1<<14 || len(second) > 1<<14 {
			return
		}
		k, err := newKeys(&chacha20, bytes.Repeat([]byte{7}, 32))
		if err != nil {
			t.Fatal(err)
		}
		c := NewConn(log) // its client random is all zeros, as no ClientHello was seen
		for i, inner := range [][]byte{first, second} {
			size := len(inner) + tagSize
			header := []byte{recordApplication, 3, 3, byte(size >> 8), byte(size)}
			list := c.Read(lab.Up, append(header, k.aead.Seal(nil, k.nonce(), inner, header)...))
			k.sequence++
			if i == 0 && bytes.HasSuffix(inner, []byte{recordApplication}) &&
				(len(list) != 1 || !bytes.Equal(list[0].Data, inner[:len(inner)-1])) {
				t.Errorf("%+v", list)
			}
			for _, m := range list {
				if m.Way != lab.Up || m.Begin > m.End {
					t.Errorf("%+v", m)
				}
			}
		}
	})
}
