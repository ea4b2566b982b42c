package kernel

import (
	"fmt"
	"testing"
	"time"
)

func BenchmarkRoundTrip(b *testing.B) {
	for _, spin := range []bool{false, true} {
		b.Run(fmt.Sprintf("spin=%v", spin), func(b *testing.B) {
			for b.Loop() {
				var got pings
				f := carry(b, &Site{
					Server: &part{name: "echo"}, Client: &part{name: "ping", args: words("100"), answer: &got}, Spin: spin,
				}, runOn(20*time.Millisecond, 0))
				b.ReportMetric(got.P50.Seconds()*1e3, "rtt-p50-ms")
				b.ReportMetric(got.P99.Seconds()*1e3, "rtt-p99-ms")
				b.ReportMetric(f.Lateness.P50*1e6, "late-p50-us")
				b.ReportMetric(f.Lateness.P99*1e6, "late-p99-us")
			}
		})
	}
}

func BenchmarkTransfer(b *testing.B) {
	for b.Loop() {
		var got transfer
		f := carry(b, &Site{
			Server: &part{name: "sink"}, Client: &part{name: "source", args: words("2000"), answer: &got},
		}, runOn(0, 0))
		b.ReportMetric(float64(got.Bytes)*8/got.Took.Seconds()/1e9, "gbit/s")
		b.ReportMetric(f.Lateness.P99*1e6, "late-p99-us")
	}
}

func BenchmarkOpen(b *testing.B) {
	requireKernel(b)
	for b.Loop() {
		hosts, err := new(Site).Open(b.Context(), runOn(0, 0))
		if err != nil {
			b.Fatal(err)
		}
		if err := hosts.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
