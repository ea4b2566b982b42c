package cli

import (
	"math"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// The figures of the prototype of virtual time, in ms, for h1, h2, h3. They are
// what the protocols cost, so they may only change for a reason that is known.
var figures = []struct {
	path, load string
	ms         [3]float64
	within     float64 // share
}{
	{"wired", "cold", [3]float64{121, 121, 81}, 0.01},
	{"intercontinental", "cold", [3]float64{451, 451, 301}, 0.003},
	{"wired", "ten-small", [3]float64{163, 204, 130}, 0.03},
	{"intercontinental", "ten-small", [3]float64{603, 754, 483}, 0.03},
	{"wired", "fifty-small", [3]float64{447, 296, 210}, 0.03},
	{"intercontinental", "fifty-small", [3]float64{1657, 1066, 785}, 0.03},
	{"wired", "big", [3]float64{528, 533, 439}, 0.03},
	{"intercontinental", "big", [3]float64{1578, 1591, 1232}, 0.03},
}

func TestVirtualFigures(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	for _, f := range figures {
		t.Run(f.path+" "+f.load, func(t *testing.T) {
			for i, p := range lab.Protocols() {
				first := mustOK(t, c.Carry(t.Context(), cellRun(t, lab.Virtual, f.path, f.load, p, 1)))
				again := mustOK(t, c.Carry(t.Context(), cellRun(t, lab.Virtual, f.path, f.load, p, 2)))
				got := ms(first.Value(lab.Duration))
				if math.Abs(got/f.ms[i]-1) > f.within {
					t.Errorf("%s took %.1f ms, want %.0f within %.1f %%", p, got, f.ms[i], f.within*100)
				}
				if other := ms(again.Value(lab.Duration)); math.Abs(other-got) > 0.5 {
					t.Errorf("%s took %.2f ms, and with another seed %.2f: lossless runs must be alike to 0.5 ms", p, got, other)
				}
			}
		})
	}
}

func TestVirtualLosslessRunsRetransmitNothing(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	cases := []struct {
		name string
		rtt  time.Duration
		rate lab.Rate
		size int64
	}{
		{"no delay, no rate", 0, 0, 3e6},
		{"no delay, 1 Gbit/s", 0, 1e9, 3e6},
		{"0.2 ms, no rate", 200 * time.Microsecond, 0, 3e6},
		{"0.2 ms, 1 Gbit/s", 200 * time.Microsecond, 1e9, 3e6},
		{"40 ms, 1 Mbit/s", 40 * time.Millisecond, 1e6, 3e5},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			for _, p := range []lab.Protocol{lab.H1, lab.H2} {
				for _, upload := range []bool{false, true} {
					cell := cellRun(t, lab.Virtual, "wired", "big", p, 1).Cell
					way := lab.Way{Delay: k.rtt / 2, Rate: k.rate, Queue: lab.Queue{Bytes: 4e6}}
					cell.Path.Up, cell.Path.Down = way, way
					cell.Load.Size, cell.Load.Upload = k.size, upload
					r := mustOK(t, c.Carry(t.Context(), runOf(cell, 1)))
					if n := r.Wire.Up.TCPRetransmits + r.Wire.Down.TCPRetransmits; n != 0 {
						t.Errorf("%s (upload %v): %d segments sent again though nothing was lost", p, upload, n)
					}
					if len(r.Wire.Down.Drops)+len(r.Wire.Up.Drops) != 0 {
						t.Errorf("%s: something was dropped: %+v", p, r.Wire)
					}
				}
			}
		})
	}
}

// Near a memory limit the garbage collector would take all of the processor: what
// restrains it goes by the clock, which stands still.
func TestVirtualThousandConnections(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	cell := cellRun(t, lab.Virtual, "wired", "cold", lab.H1, 1).Cell
	cell.Path.Up.Rate, cell.Path.Down.Rate = 1e9, 1e9
	cell.Load = lab.Load{Name: "many", Objects: 1000, Size: 100, Connections: lab.Connections{H1: 1000}}
	if r := mustOK(t, c.Carry(t.Context(), runOf(cell, 1))); *r.Connections != 1000 {
		t.Errorf("%d connections, want 1000", *r.Connections)
	}
}

func TestVirtualReplaysAreAlikePacketForPacket(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 2)
	// Where h2 carries many streams, the Go runtime's random choice between
	// channels that are ready decides now and then which stream goes first
	// (docs/sites.md has the shares), so h2 has one stream here.
	for _, k := range []struct {
		p    lab.Protocol
		load string
	}{{lab.H1, "big"}, {lab.H1, "ten-small"}, {lab.H2, "big"}} {
		run := cellRun(t, lab.Virtual, "loss-3", k.load, k.p, 4)
		runs := slices.Repeat([]lab.Run{run}, 20)
		digests := map[string]int{}
		for _, r := range carryAll(t, c, 2, runs) {
			mustOK(t, r)
			if r.Wire.Down.Drops["loss"] == 0 {
				t.Fatalf("%s %s: nothing was lost", k.p, k.load)
			}
			digests[r.Wire.Digest]++
		}
		if len(digests) != 1 {
			t.Errorf("%s %s: 20 replays had %d different wires: %v", k.p, k.load, len(digests), digests)
		}
	}
}

// cellEdge carries out n transfers of 3 MB at 5 % loss each way, some at a time, and returns
// their medians in s and how many times faster than real time they went on one
// core, by the worker's processor time.
func cellEdge(t testing.TB, jobs, n int, protocols ...lab.Protocol) (medians []float64, speed float64) {
	before := childrenCPU(t)
	c := carrierOf(t, lab.Virtual, jobs)
	var virtual float64
	for _, p := range protocols {
		var runs []lab.Run
		for rep := range n {
			runs = append(runs, cellRun(t, lab.Virtual, "cell-edge", "big", p, rep+1))
		}
		var took []float64
		for _, r := range carryAll(t, c, jobs, runs) {
			d := r.Run.Timeout.Seconds()
			if v := r.Value(lab.Duration); v != nil {
				d = *v
			} else {
				t.Logf("%s: %s: %s", describeRun(r.Run), r.Outcome, r.Reason)
			}
			took = append(took, d)
			virtual += d
		}
		slices.Sort(took)
		medians = append(medians, (took[(n-1)/2]+took[n/2])/2)
	}
	c.Close()
	return medians, virtual / (childrenCPU(t) - before)
}

func childrenCPU(t testing.TB) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func TestVirtualCellEdge(t *testing.T) {
	build(t)
	medians, speed := cellEdge(t, 2, 100, lab.H1, lab.H3)
	share := medians[1] / medians[0]
	t.Logf("medians: h1 %.1f s, h3 %.1f s, share %.2f; %.0f times faster than real time on one core", medians[0], medians[1], share, speed)
	if share < 0.5 || share > 0.7 {
		t.Errorf("h3 took %.2f of h1's time, want 0.5 to 0.7", share)
	}
	// At least 500 on a machine that does nothing else: `make bench` prints it. On one
	// that is shared the same work takes more of the processor.
	if speed < 100 {
		t.Errorf("virtual time went %.0f times faster than real time", speed)
	}
}
