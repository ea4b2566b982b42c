package quic

import (
	"net/netip"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// BenchmarkFind finds the connection of 1-RTT packets among 100.
func BenchmarkFind(b *testing.B) {
	x := NewDemux(nil)
	v := vectors(b)["client-initial-1"]
	for i := range 100 {
		c, _ := x.handled(lab.Up, netip.AddrPortFrom(client1.Addr(), uint16(i)), v)
		c.named(lab.Down, []byte{byte(i), 2, 3, 4, 5, 6, 7, 8})
	}
	payload := make([]byte, 1400)
	payload[0] = fixedBit
	copy(payload[1:], []byte{42, 2, 3, 4, 5, 6, 7, 8})
	b.ReportAllocs()
	for b.Loop() {
		if x.Find(lab.Up, netip.AddrPortFrom(client1.Addr(), 42), server1, payload) == nil {
			b.Fatal("not found")
		}
	}
}

// BenchmarkRead reads 1-RTT packets of 1400 bytes, each with an ACK and data of a
// stream.
func BenchmarkRead(b *testing.B) {
	for name, s := range map[string]*suite{"AES-128": aes128, "AES-256": aes256, "ChaCha20": chacha} {
		b.Run(name, func(b *testing.B) {
			c, keys := established(s)
			const packets = 4096
			id := []byte{1, 1, 1, 1}
			plain := append([]byte{0x02, 0x41, 0x00, 0x05, 0x00, 0x03, 0x0c, 0x00, 0x80, 0x01, 0x00, 0x00}, make([]byte, 1400-1-4-4-16-12)...)
			var all [][]byte
			for n := range uint64(packets) {
				all = append(all, sealShort(keys[lab.Down].now, id, false, n, 4, plain))
			}
			b.SetBytes(int64(len(all[0])))
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				p := c.Read(lab.Down, all[i%packets])
				if !p[0].Opened || len(p[0].Frames) != 2 {
					b.Fatalf("%+v", p[0])
				}
			}
		})
	}
}
