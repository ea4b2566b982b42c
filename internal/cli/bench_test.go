package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// The absolute figures. Run them by `make bench`, with nothing else on the
// machine; each prints what it measured as metrics of its own.

// BenchmarkVirtualCellEdge: 100 transfers of 3 MB at 5 % loss each way, RTT
// 100 ms, of each protocol.
func BenchmarkVirtualCellEdge(b *testing.B) {
	build(b)
	for range b.N {
		medians, speed := cellEdge(b, 100, lab.Protocols()...)
		for i, p := range lab.Protocols() {
			b.ReportMetric(medians[i], string(p)+"-s")
		}
		b.ReportMetric(medians[2]/medians[0], "h3/h1")
		b.ReportMetric(speed, "x-real-time/core")
	}
}

// BenchmarkSixNetworksVirtual: the whole preset in virtual time, 5 repetitions.
func BenchmarkSixNetworksVirtual(b *testing.B) {
	samewire, _ := build(b)
	for range b.N {
		began := time.Now()
		out := filepath.Join(b.TempDir(), "out")
		said, err := exec.Command(samewire, "run", "six-networks", "--site", "virtual", "--reps", "5", "--out", out).CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, said)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s")
	}
}

// BenchmarkQuickMemory: the peak of the resident memory of all processes of
// samewire together, on quick.
func BenchmarkQuickMemory(b *testing.B) {
	samewire, _ := build(b)
	for range b.N {
		c := exec.Command(samewire, "run", "quick", "--out", filepath.Join(b.TempDir(), "out"))
		began := time.Now()
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- c.Wait() }()
		peak := 0.0
		for running := true; running; {
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				running = false
			case <-time.After(20 * time.Millisecond):
				peak = max(peak, residentMB(samewire))
			}
		}
		b.ReportMetric(peak, "peak-MB")
		b.ReportMetric(time.Since(began).Seconds(), "s")
	}
}

// residentMB is the proportional resident memory (Pss: shared pages count once)
// of the processes that run programs of samewire's folder, in MB.
func residentMB(samewire string) (mb float64) {
	exes, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return 0
	}
	for _, e := range exes {
		if exe, err := os.Readlink(e); err != nil || filepath.Dir(exe) != filepath.Dir(samewire) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(filepath.Dir(e), "smaps_rollup"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
				kb, _ := strconv.ParseFloat(f[1], 64)
				mb += kb * 1024 / 1e6
			}
		}
	}
	return mb
}

// BenchmarkKernelTable: the lossless cells on both sites, side by side.
func BenchmarkKernelTable(b *testing.B) {
	for range b.N {
		k, v := carrierOf(b, lab.Kernel, 1), carrierOf(b, lab.Virtual, 1)
		for _, path := range []string{"wired", "intercontinental"} {
			for _, load := range []string{"cold", "ten-small", "fifty-small", "big"} {
				for _, p := range lab.Protocols() {
					here := medianOf(b, k, path, load, p, lab.Duration, 9)
					protocol := *mustOK(b, v.Carry(b.Context(), cellRun(b, lab.Virtual, path, load, p, 1))).Value(lab.Duration)
					fmt.Printf("%-16s %-12s %s: virtual %7.1f ms, kernel %7.1f ms: %+.1f %%\n",
						path, load, p, protocol*1e3, here*1e3, (here/protocol-1)*100)
				}
			}
		}
	}
}

// BenchmarkKernelLateness: how late packets are on the kernel site.
func BenchmarkKernelLateness(b *testing.B) {
	c := carrierOf(b, lab.Kernel, 1)
	for range b.N {
		var p50, p99 []float64
		for rep := range 10 {
			r := c.Carry(b.Context(), cellRun(b, lab.Kernel, "wired", "big", lab.H3, rep+1))
			p50, p99 = append(p50, r.Lateness.P50*1e6), append(p99, r.Lateness.P99*1e6)
		}
		slices.Sort(p50)
		slices.Sort(p99)
		b.ReportMetric(p50[5], "p50-µs")
		b.ReportMetric(p99[5], "p99-µs")
	}
}
