package wire

import (
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// gigabyte is a download of 1 GB over TCP as the log keeps it: of most packets
// the headers. One packet in 100 is lost, and sent again when the next one is
// acknowledged.
func gigabyte() *Capture {
	const up, down = lab.Up, lab.Down
	c := capture([]seg{{up, 0, 10, syn, 0, 0, 0}, {down, 10, 20, syn, 0, 0, 1}, {up, 20, 30, 0, 1, 100, 1}})
	data, ack := seg{way: down, ack: 101}.packet(), seg{way: up, seq: 101, ack: 1}.packet()
	now := 30 * time.Millisecond
	add := func(way lab.Direction, from []byte, seq, number uint32, size int, lost bool) {
		p := append([]byte(nil), from...)
		putSegment(p, seq, number, size)
		left := now + 10*time.Millisecond
		if lost {
			left = Never
		}
		c.Packets = append(c.Packets, Packet{N: len(c.Packets) + 1, Way: way, At: now, Left: left, Size: 44 + size, Data: p})
		now += 10 * time.Microsecond
	}
	for offset := uint32(1); offset < 1e9; offset += 1448 {
		lost := offset/1448%100 == 50
		add(down, data, isns[down]+offset, isns[up]+101, 1448, lost)
		if offset/1448%2 == 1 {
			add(up, ack, isns[up]+101, isns[down]+offset+1448, 0, false)
		}
		if lost {
			add(down, data, isns[down]+offset, isns[up]+101, 1448, false)
		}
	}
	c.End = now
	return c
}

func BenchmarkDigestGigabyte(b *testing.B) {
	c := gigabyte()
	b.ResetTimer()
	for range b.N {
		var f lab.Wire
		Digest(c, About{RTT: 20 * time.Millisecond, Body: 1e9}, &f)
		b.ReportMetric(float64(len(c.Packets)), "packets")
	}
}
