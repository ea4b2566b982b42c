package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/worker"
)

// runsOf carries out n runs of a cell and returns a metric of each in s, the
// least first. Runs that the lab spoilt are carried out again.
func runsOf(t testing.TB, c *worker.Pool, path, load string, p lab.Protocol, metric string, n int) (got []float64) {
	t.Helper()
	for rep := 1; len(got) < n; rep++ {
		if rep > 3*n+10 {
			t.Fatalf("%s %s %s: only %d of %d runs were not too late", path, load, p, len(got), rep)
		}
		r := c.Carry(t.Context(), cellRun(t, lab.Kernel, path, load, p, rep))
		if r.Outcome == lab.Invalid {
			t.Logf("%s: %s", describeRun(r.Run), r.Reason)
			continue
		}
		got = append(got, *mustOK(t, r).Value(metric))
	}
	slices.Sort(got)
	return got
}

func medianOf(t testing.TB, c *worker.Pool, path, load string, p lab.Protocol, metric string, n int) float64 {
	t.Helper()
	got := runsOf(t, c, path, load, p, metric, n)
	return (got[(n-1)/2] + got[n/2]) / 2
}

// patiently looks at something up to four times, until there is no fault:
// whatever else the machine does only makes runs slower, so that what is fast
// enough once is so.
func patiently(t *testing.T, fault func() string) {
	t.Helper()
	said := fault()
	for n := 0; said != "" && n < 3; n++ {
		t.Logf("again: %s", said)
		said = fault()
	}
	if said != "" {
		t.Error(said)
	}
}

// sooner puts what is less into a minimum, which is 0 at first.
func sooner(least *float64, got float64) {
	if *least == 0 || got < *least {
		*least = got
	}
}

// fastestOf is the fastest of n runs, which says what the kernel's path and
// stacks can do on a machine that is busy with other things, too. (h2 with many
// streams has two modes one round trip apart: net/http's small TLS records at
// a connection's start sometimes fill the initial window of ten packets.)
func fastestOf(t testing.TB, c *worker.Pool, path, load string, p lab.Protocol, n int) float64 {
	t.Helper()
	return runsOf(t, c, path, load, p, lab.Duration, n)[0]
}

// A cold connection at RTT 150 ms: TCP and TLS 1.3 cost one round trip more
// than QUIC, and the first byte comes after three round trips or two.
func TestKernelColdConnection(t *testing.T) {
	c := carrierOf(t, lab.Kernel, 1)
	const rtt = 0.150
	var h1, h2, h3 float64
	patiently(t, func() string {
		for p, least := range map[lab.Protocol]*float64{lab.H1: &h1, lab.H2: &h2, lab.H3: &h3} {
			sooner(least, runsOf(t, c, "intercontinental", "cold", p, lab.TTFB, 4)[0])
		}
		t.Logf("first byte: h1 %.1f ms, h2 %.1f, h3 %.1f", h1*1e3, h2*1e3, h3*1e3)
		var faults []string
		for p, k := range map[lab.Protocol]struct{ got, trips float64 }{lab.H1: {h1, 3}, lab.H2: {h2, 3}, lab.H3: {h3, 2}} {
			if got := k.got / rtt; math.Abs(got/k.trips-1) > 0.05 {
				faults = append(faults, fmt.Sprintf("%s: first byte after %.3f round trips, want %.0f within 5 %%", p, got, k.trips))
			}
			if more := k.got - h3; k.trips == 3 && math.Abs(more-rtt) > 0.005 {
				faults = append(faults, fmt.Sprintf("%s takes %.1f ms more than h3, want one round trip of 150 within 5", p, more*1e3))
			}
		}
		return strings.Join(faults, "; ")
	})
}

// Real programs (Caddy and curl, less curl's start) over a path of this kind,
// in ms for h1, h2, h3.
var realPrograms = []struct {
	path, load string
	ms         [3]float64
}{
	{"wired", "ten-small", [3]float64{168, 208, 145}},
	{"wired", "fifty-small", [3]float64{459, 303, 227}},
	{"intercontinental", "ten-small", [3]float64{610, 760, 522}},
	{"intercontinental", "fifty-small", [3]float64{1674, 1077, 836}},
}

func TestKernelSmallObjects(t *testing.T) {
	c := carrierOf(t, lab.Kernel, 1)
	for _, k := range realPrograms {
		t.Run(k.path+" "+k.load, func(t *testing.T) {
			var got [3]float64
			patiently(t, func() string {
				var faults []string
				for i, p := range lab.Protocols() {
					sooner(&got[i], fastestOf(t, c, k.path, k.load, p, 3)*1e3)
					if math.Abs(got[i]/k.ms[i]-1) > 0.10 {
						faults = append(faults, fmt.Sprintf("%s took %.0f ms, real programs %.0f: more than 10 %% apart", p, got[i], k.ms[i]))
					}
				}
				t.Logf("h1 %.0f, h2 %.0f, h3 %.0f ms; real programs %v", got[0], got[1], got[2], k.ms)
				if !slices.Equal(order(got), order(k.ms)) {
					faults = append(faults, fmt.Sprintf("order %v, real programs %v", order(got), order(k.ms)))
				}
				return strings.Join(faults, "; ")
			})
		})
	}
}

// order returns the protocols' indices, the fastest first.
func order(ms [3]float64) []int {
	o := []int{0, 1, 2}
	slices.SortFunc(o, func(a, b int) int { return int(ms[a]*1000) - int(ms[b]*1000) })
	return o
}

func TestKernelBigFile(t *testing.T) {
	c := carrierOf(t, lab.Kernel, 1)
	for _, path := range []string{"wired", "intercontinental"} {
		rtt := presetPath(t, path).RTT().Seconds()
		var h1, h2, h3 float64
		patiently(t, func() string {
			sooner(&h1, fastestOf(t, c, path, "big", lab.H1, 3))
			sooner(&h2, fastestOf(t, c, path, "big", lab.H2, 3))
			sooner(&h3, fastestOf(t, c, path, "big", lab.H3, 3))
			t.Logf("%s: h1 %.0f, h2 %.0f, h3 %.0f ms", path, h1*1e3, h2*1e3, h3*1e3)
			if math.Abs(h1/h2-1) > 0.03 {
				return fmt.Sprintf("%s: h1 %.0f ms and h2 %.0f ms are more than 3 %% apart", path, h1*1e3, h2*1e3)
			}
			if lead := (min(h1, h2) - h3) / rtt; lead < 0 || lead > 2.7 {
				return fmt.Sprintf("%s: h3 leads by %.2f RTT, want 0 to 2.7", path, lead)
			}
			return ""
		})
	}
}

// Where nothing is lost the two sites tell the same story.
func TestKernelAndVirtualAgree(t *testing.T) {
	k, v := carrierOf(t, lab.Kernel, 1), carrierOf(t, lab.Virtual, 1)
	for _, path := range []string{"wired", "intercontinental"} {
		for _, load := range []string{"cold", "ten-small", "fifty-small", "big"} {
			for _, p := range lab.Protocols() {
				protocol := *mustOK(t, v.Carry(t.Context(), cellRun(t, lab.Virtual, path, load, p, 1))).Value(lab.Duration)
				limit := 0.10
				if p == lab.H3 {
					limit = 0.15
				}
				// Whatever else the machine does only makes runs slower: a cell
				// that is beyond the limit is looked at again.
				here := fastestOf(t, k, path, load, p, 3)
				for round := 0; here/protocol-1 > limit && round < 3; round++ {
					here = min(here, fastestOf(t, k, path, load, p, 3))
				}
				apart := here/protocol - 1
				t.Logf("%-16s %-12s %s: virtual %7.1f ms, kernel %7.1f ms: %+.1f %%", path, load, p, protocol*1e3, here*1e3, apart*100)
				if math.Abs(apart) > limit {
					t.Errorf("%s %s %s: kernel and virtual are %+.1f %% apart, limit %.0f %%", path, load, p, apart*100, limit*100)
				}
			}
		}
	}
}

// F22: no run inherits from another. A lossy transfer would leave a small
// slow-start threshold in the kernel's TCP metrics, and the next connection
// would grow slowly.
func TestKernelRunsInheritNothing(t *testing.T) {
	c := carrierOf(t, lab.Kernel, 1)
	const runs = 8 // enough for the faster one of h2's two modes
	first := fastestOf(t, c, "wired", "fifty-small", lab.H2, runs)
	for rep := range 2 {
		if r := c.Carry(t.Context(), cellRun(t, lab.Kernel, "loss-3", "big", lab.H2, rep+1)); r.Wire.Down.Drops[string(lab.DropLoss)] == 0 {
			t.Fatalf("nothing was lost: %s", describeWire(r))
		}
	}
	later := 0.0
	patiently(t, func() string {
		sooner(&later, fastestOf(t, c, "wired", "fifty-small", lab.H2, runs))
		if later/first > 1.1 {
			return fmt.Sprintf("%.1f ms before a lossy transfer and %.1f after it", first*1e3, later*1e3)
		}
		return ""
	})
}

// What each side used is read while its process is there: processor time, and how
// long it waited for a core.
func TestKernelUsageOfBothSides(t *testing.T) {
	c := carrierOf(t, lab.Kernel, 1)
	for _, p := range lab.Protocols() {
		r := c.Carry(t.Context(), cellRun(t, lab.Kernel, "wired", "ten-small", p, 1))
		for n := 0; n < 3 && r.Outcome == lab.Invalid; n++ {
			r = c.Carry(t.Context(), r.Run)
		}
		mustOK(t, r)
		for name, side := range map[string]lab.Side{"client": r.Client, "server": r.Server} {
			if side.CPU == nil || *side.CPU <= 0 || *side.CPU > 1 {
				t.Errorf("%s: %s.cpu is %v", p, name, describeNumber(side.CPU))
			}
			if side.Waited == nil && r.Server.Waited != nil || side.Waited != nil && *side.Waited > 10 {
				t.Errorf("%s: %s.waited is %v", p, name, describeNumber(side.Waited))
			}
		}
		if r.Server.Waited == nil {
			needKernel(t, "it does not count how long threads wait")
		}
	}
}

func describeNumber(v *float64) any {
	if v == nil {
		return "null"
	}
	return *v
}
