package inproc

import (
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// BenchmarkVirtualTransfer has the processor time of one transfer of 3 MB, and
// how much faster than real time it goes on one core.
func BenchmarkVirtualTransfer(b *testing.B) {
	if _, err := worker(); err != nil { // not within the measured time
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name string
		loss float64
	}{{"lossless", 0}, {"loss 1%", 0.01}, {"loss 5%", 0.05}} {
		b.Run(bench.name, func(b *testing.B) {
			answers, cpu := virtually(b, job{Path: path(100*time.Millisecond, 1e8, bench.loss), Seed: 1, Size: 3e6, Times: b.N})
			var took time.Duration
			packets := 0
			for _, a := range answers[0] {
				if a.Error != "" {
					b.Fatal(a.Error)
				}
				took += a.Last
				packets += a.Facts.Wire.Up.Packets + a.Facts.Wire.Down.Packets
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(cpu.Seconds()*1e3/float64(b.N), "cpu-ms/op")
			b.ReportMetric(cpu.Seconds()*1e6/float64(packets), "cpu-µs/packet")
			b.ReportMetric(took.Seconds()/cpu.Seconds(), "×real")
		})
	}
}

// BenchmarkTransfer is a transfer of 30 MB in real time over an unlimited path.
func BenchmarkTransfer(b *testing.B) {
	const size = 30e6
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		p := path(0, 0, 0)
		p.Family = lab.IPv6
		if a := doOnce(job{Path: p, Size: size}); a.Error != "" {
			b.Fatal(a.Error)
		}
	}
}
