package tls_test

import (
	"crypto/tls"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	wire "github.com/samewire/samewire/internal/wire/tls"
)

// BenchmarkRead opens the records of a conversation in segments of 1448 bytes.
func BenchmarkRead(b *testing.B) {
	k := converse(b, &tls.Config{}, &tls.Config{})
	log := k.log(b)
	var ways [2][]byte
	for _, w := range k.writes {
		ways[w.d] = append(ways[w.d], w.data...)
	}
	b.SetBytes(int64(len(ways[0]) + len(ways[1])))
	b.ReportAllocs()
	for b.Loop() {
		c := wire.NewConn(log)
		for d, data := range ways {
			for len(data) > 0 {
				n := min(1448, len(data))
				c.Read(lab.Direction(d), data[:n])
				data = data[n:]
			}
		}
	}
}
