package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
	"github.com/samewire/samewire/internal/wire"
)

// asTheModel makes sure that each packet of a capture was offered in its order,
// and has the fate and the times that the path's model gives it, the time of its
// delivery once and for all. What the model delivers after the last delivery that
// was noted may be under way.
func asTheModel(t *testing.T, run lab.Run, c *wire.Capture) {
	t.Helper()
	model, noted := link.New[int](run.Cell.Path, run.Seed), [2]time.Duration{}
	want := make([]wire.Packet, len(c.Packets))
	for i, p := range c.Packets {
		if p.N != i+1 || i > 0 && p.At < c.Packets[i-1].At {
			t.Fatalf("in place %d: packet %d of %v", i, p.N, p.At)
		}
		if p.Delivered() {
			noted[p.Way] = max(noted[p.Way], p.Left)
		}
		whole := append(slices.Clone(p.Data), make([]byte, p.Size-len(p.Data))...)
		want[i] = wire.Packet{Left: wire.Never, Fate: model.Offer(p.Way, p.At, whole, false, i)}
	}
	for d := range noted {
		for out, ok := model.Pop(lab.Direction(d), math.MaxInt64); ok; out, ok = model.Pop(lab.Direction(d), math.MaxInt64) {
			p, w := c.Packets[out.Hold], &want[out.Hold]
			switch {
			case w.Left != wire.Never || !p.Delivered() && p.Fate == w.Fate && out.At >= noted[d]:
			case out.Drop != lab.NotDropped:
				w.Fate.Drop = out.Drop
			default:
				w.Left, w.Waited, w.Sending = out.At, out.Waited, out.Sending
				w.Fate.Marked = w.Fate.Marked || out.Marked
			}
		}
	}
	for i, p := range c.Packets {
		w := want[i]
		if p.Left != w.Left || p.Waited != w.Waited || p.Sending != w.Sending || p.Fate != w.Fate {
			t.Fatalf("packet %d %s of %v: left %v, waited %v, sent for %v, fate %+v; the model says %v, %v, %v, %+v",
				p.N, p.Way, p.At, p.Left, p.Waited, p.Sending, p.Fate, w.Left, w.Waited, w.Sending, w.Fate)
		}
	}
}

// captured carries out the run with the two parts and returns what was kept.
func captured(t *testing.T, site *Site, run lab.Run) (*wire.Capture, lab.Facts) {
	t.Helper()
	hosts := open(t, site, run)
	if err := hosts.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hosts.Capture() != nil {
		t.Error("a capture before the load")
	}
	before := hosts.observer.now()
	report, err := hosts.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, f := hosts.Capture(), hosts.Facts()
	if n := f.Wire.Up.Packets + f.Wire.Down.Packets; len(c.Packets)+c.Skipped != n || n == 0 {
		t.Errorf("%d packets kept and %d skipped, facts of %d", len(c.Packets), c.Skipped, n)
	}
	if got := (c.End - c.Start).Seconds(); c.Start < before || math.Abs(got-report.Duration) > 1e-8 {
		t.Errorf("a load from %v to %v, which took %v s", c.Start, c.End, report.Duration)
	}
	return c, f
}

// Super-packets are cut into packets of the wire, some of which are dropped, and
// what is left of them comes out at once or one by one.
func TestCaptureIsAsTheModel(t *testing.T) {
	requireKernel(t)
	for name, way := range map[string]lab.Way{
		"delay":            {Delay: 2 * time.Millisecond},
		"rate, loss":       {Delay: time.Millisecond, Rate: 200e6, Loss: lab.Loss{Share: 0.01}, Queue: lab.Queue{Packets: 10}},
		"twice":            {Delay: time.Millisecond, Rate: 500e6, Duplicate: lab.Chance{Share: 0.05}},
		"queue management": {Delay: time.Millisecond, Rate: 100e6, AQM: lab.AQM{Kind: lab.CoDel, Target: time.Millisecond, Interval: 10 * time.Millisecond}},
	} {
		for _, off := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, offload=%v", name, !off), func(t *testing.T) {
				run := runOn(0, 0)
				run.Cell.Path.Up, run.Cell.Path.Down = way, way
				c, f := captured(t, &Site{
					NoOffload: off, Server: &part{name: "sink"}, Client: &part{name: "source", args: words("150"), answer: new(transfer)},
				}, run)
				if c.Skipped > 0 {
					t.Fatalf("%d packets skipped", c.Skipped)
				}
				asTheModel(t, run, c)
				t.Logf("%d packets, drops up %v, runs %v", len(c.Packets), f.Wire.Up.Drops, f.Wire.Up.LossRuns)
			})
		}
	}
}

// The kernel's queueing disciplines show each packet once: it is there when it was
// offered, and is never dropped.
func TestPairsCapture(t *testing.T) {
	requirePair(t)
	c, f := captured(t, &Site{
		Backend: Netem, Server: &part{name: "echo"}, Client: &part{name: "ping", args: words("50"), answer: new(pings)},
	}, runOn(0, 0))
	if len(c.Packets) != 100 || f.Wire.NotKept != 0 {
		t.Errorf("%d packets, %d not kept", len(c.Packets), f.Wire.NotKept)
	}
	for i, p := range c.Packets {
		if p.Left != p.At || p.Waited != 0 || p.Sending != 0 || p.Cut() || p.Way != lab.Direction(i%2) {
			t.Errorf("%+v", p)
		}
	}
}

// throughput is that of TCP over the unlimited path, in bit/s, with the witness or
// without, and how many packets the pump moves in a second of its thread's processor
// time.
func throughput(b *testing.B, site Site, ms int) (rate, capacity float64) {
	b.Helper()
	var got transfer
	site.Server = &part{name: "sink", args: words("urgent")}
	site.Client = &part{name: "source", args: words(fmt.Sprintf("%d urgent", ms)), answer: &got}
	hosts, err := site.Open(b.Context(), runOn(0, 0))
	if err != nil {
		b.Fatal(err)
	}
	if err := hosts.Serve(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := hosts.Get(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := hosts.Close(); err != nil {
		b.Fatal(err)
	}
	packets := hosts.observer.link.Offered(lab.Up) + hosts.observer.link.Offered(lab.Down)
	return got.rate(), float64(packets) / hosts.pump.cpu.Seconds()
}

// BenchmarkWitness measures what the witness costs, with it and without by turns:
// TCP over the unlimited path, where the pump is the limit, by throughput and by
// what the pump could move in a second of processor time, which is not that of
// others; and the lateness of 20,000 packets a second. A ratio is with / without.
func BenchmarkWitness(b *testing.B) {
	requireKernel(b)
	const turns = 11
	for _, noOffload := range []bool{false, true} {
		b.Run(fmt.Sprintf("offload=%v", !noOffload), func(b *testing.B) {
			for b.Loop() {
				var rates, capacities, p50, p99 turnsOf
				for turn := range 2 * turns {
					site, with := Site{NoOffload: noOffload, blind: turn%2 == 1}, turn%2
					rate, capacity := throughput(b, site, 500)
					_, f := flood(b, &site, runOn(5*time.Millisecond, 0), "500 1200 20000 1")
					rates.add(with, rate/1e9)
					capacities.add(with, capacity/1e6)
					p50.add(with, f.Lateness.P50*1e6)
					p99.add(with, f.Lateness.P99*1e6)
				}
				rates.report(b, "gbit/s")
				capacities.report(b, "packets/cpu-us")
				p50.report(b, "late-p50-us")
				p99.report(b, "late-p99-us")
			}
		})
	}
}

// turnsOf are figures with the witness and without.
type turnsOf [2][]float64

func (t *turnsOf) add(with int, v float64) { t[with] = append(t[with], v) }

// report reports the median with the witness, and the median of the ratios of
// turns next to each other.
func (t *turnsOf) report(b *testing.B, unit string) {
	b.Helper()
	b.Logf("%s: with %.3g, without %.3g", unit, t[0], t[1])
	var ratios []float64
	for i := range t[0] {
		ratios = append(ratios, t[0][i]/t[1][i])
	}
	slices.Sort(ratios)
	slices.Sort(t[0])
	b.ReportMetric(t[0][len(t[0])/2], unit)
	b.ReportMetric(ratios[len(ratios)/2], unit+"-ratio")
}
