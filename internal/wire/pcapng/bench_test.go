package pcapng

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// full is a capture as large as the log's limits let one be: 64 MiB of whole
// datagrams, and the beginnings of a million packets.
func full() *wire.Capture {
	c := &wire.Capture{}
	data := make([]byte, 1300)
	data[0] = 0x45
	for i := range 1_050_000 {
		p := wire.Packet{N: i + 1, Way: lab.Direction(i % 2), At: time.Duration(i), Left: time.Duration(i + 1000), Sending: 100, Size: len(data), Data: data}
		if i > 50_000 {
			p.Data = data[:80]
		}
		c.Packets = append(c.Packets, p)
	}
	return c
}

func BenchmarkWrite(b *testing.B) {
	c := full()
	for b.Loop() {
		if err := Write(io.Discard, c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var file bytes.Buffer
	if err := Write(&file, full()); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
