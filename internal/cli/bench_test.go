package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// The absolute figures. Run them by `make bench`, with nothing else on the
// machine; each prints what it measured as metrics of its own.

// BenchmarkVirtualCellEdge: 100 transfers of 3 MB at 5 % loss each way, RTT
// 100 ms, of each protocol.
func BenchmarkVirtualCellEdge(b *testing.B) {
	build(b)
	for range b.N {
		medians, speed := cellEdge(b, 1, 100, lab.Protocols()...)
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

// BenchmarkDigestGigabyte: how long it takes to read the packets of a download of
// 1 GB on the kernel site and to make the facts of the record of them, after the
// run; and how much memory that takes.
func BenchmarkDigestGigabyte(b *testing.B) {
	c := carrierOf(b, lab.Kernel, 1)
	for _, p := range lab.Protocols() {
		b.Run(string(p), func(b *testing.B) {
			run := runOf(lab.Cell{
				Path: notedPath(b, "open", "rtt 1ms"), Load: lab.Load{Name: "gigabyte", Objects: 1, Size: 1e9},
				Stack: lab.DefaultStack, Site: lab.Kernel, Protocol: p,
			}, 1)
			run.Lateness = 0 // the packets are looked at, not the time
			dir := b.TempDir()
			r := c.CarryOut(b.Context(), lab.Order{Run: run, Attempt: 1, Keep: lab.Keep{Rule: lab.KeepAll, Dir: dir}})
			if r.Kept == nil || r.Kept.Error != "" || r.Wire.Down.Bytes < 1e9 {
				b.Fatalf("%s (%s), kept %+v, %d bytes", r.Outcome, r.Reason, r.Kept, r.Wire.Down.Bytes)
			}
			capture := mustCapture(b, filepath.Join(dir, r.Kept.Capture))
			for b.Loop() {
				wire.Digest(capture, wire.AboutRun(run, lab.Report{}), &r.Wire)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/GB")
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/1e6, "MB")
		})
	}
}
