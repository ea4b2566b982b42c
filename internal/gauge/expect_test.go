package gauge

import (
	"math"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

const msec = time.Millisecond

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.9g, want %.9g ± %.3g", what, got, want, tolerance)
	}
}

func TestDelayGrid(t *testing.T) {
	jitter := func(d lab.Distribution) lab.Way {
		return lab.Way{Delay: 100 * msec, Jitter: lab.Jitter{Spread: 10 * msec, Distribution: d}}
	}
	// A Pareto distribution with exponent 3 has no third moment; its variance up
	// to the cut-off at 4 (u = (4.5)^-3) by integration of (4/3)²(u^(-1/3)-1.5)².
	cut := math.Pow(4.5, -3)
	paretoMean := 4.0/3*(1.5*(1-math.Pow(cut, 2.0/3))-1.5*(1-cut)) + 4*cut
	paretoSquare := 16.0/9*(3*(1-math.Cbrt(cut))-4.5*(1-math.Pow(cut, 2.0/3))+2.25*(1-cut)) + 16*cut
	for _, c := range []struct {
		name                       string
		way                        lab.Way
		mean, sd, least, p50, most float64 // ms
	}{
		{"nothing", lab.Way{}, 0, 0, 0, 0, 0},
		{"constant", lab.Way{Delay: 20 * msec}, 20, 0, 20, 20, 20},
		{"uniform", jitter(lab.Uniform), 100, 10 / math.Sqrt(3), 90, 100, 110},
		{"normal", jitter(lab.Normal), 100, 10, 60, 100, 140},
		{"pareto", jitter(lab.Pareto), 100 + 10*paretoMean, 10 * math.Sqrt(paretoSquare-paretoMean*paretoMean),
			100 - 10*2.0/3, 100 + 10*4.0/3*(math.Cbrt(2)-1.5), 140},
		{"never negative", lab.Way{Jitter: lab.Jitter{Spread: 10 * msec}}, 2.5, math.Sqrt(100.0/6 - 6.25), 0, 0, 10},
		{"reorder", lab.Way{Delay: 20 * msec, Reorder: lab.Reorder{Share: 0.25}}, 15, 20 * math.Sqrt(0.25*0.75), 0, 20, 20},
		{"reorder with gap", lab.Way{Delay: 20 * msec, Reorder: lab.Reorder{Share: 1, Gap: 5}}, 16, 20 * math.Sqrt(0.2*0.8), 0, 20, 20},
		{"reorder, gap and chance", lab.Way{Delay: 20 * msec, Reorder: lab.Reorder{Share: 0.5, Gap: 3}}, 15, 20 * math.Sqrt(0.25*0.75), 0, 20, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := delayGrid(c.way)
			mean, sd, _ := g.moments()
			near(t, "mean", mean*1e3, c.mean, 0.005)
			near(t, "sd", sd*1e3, c.sd, 0.01)
			near(t, "least", g[0]*1e3, c.least, 2) // the grid's first value is that of its first 8192nd
			near(t, "median", g.quantile(0.5)*1e3, c.p50, 0.02)
			near(t, "most", longest(c.way).Seconds()*1e3, c.most, 1e-9)
			if g.varies() != (c.sd > 0) {
				t.Errorf("varies is %v, sd %g", g.varies(), c.sd)
			}
		})
	}
}

func TestSerialisationAndRate(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name       string
		way        lab.Way
		size       int
		wait, rate float64 // s, bit/s
	}{
		{"unlimited", lab.Way{}, 1500, 0, inf},
		{"rate", lab.Way{Rate: 10e6}, 1250, 1e-3, 10e6},
		{"overhead", lab.Way{Rate: 10e6, Overhead: 50}, 950, 0.8e-3, 9.5e6},
		{"less than the IP packet", lab.Way{Rate: 10e6, Overhead: -250}, 1250, 0.8e-3, 12.5e6},
		{"bucket", lab.Way{Rate: 10e6, Burst: 3000}, 1250, 0, 10e6},
		{"small bucket", lab.Way{Rate: 10e6, Burst: 1000}, 1250, 0.2e-3, 10e6},
		{"policer", lab.Way{Rate: 10e6, Burst: 3000, Police: true}, 1250, 0, 10e6},
		{"throttled UDP", lab.Way{Rate: 10e6, Throttle: lab.Throttle{Transport: lab.UDP, Rate: 1e6}}, 1250, 1e-3, 1e6},
		{"throttled both", lab.Way{Throttle: lab.Throttle{Rate: 1e6}}, 1250, 0, 1e6},
		{"throttled TCP", lab.Way{Rate: 10e6, Throttle: lab.Throttle{Transport: lab.TCP, Rate: 1e6}}, 1250, 1e-3, 10e6},
		{"netem's default limit at 100 ms", lab.Way{Delay: 100 * msec, Limit: 1000}, 1500, 0, 120e6},
		{"limit without delay", lab.Way{Limit: 10}, 1500, 0, inf},
	} {
		t.Run(c.name, func(t *testing.T) {
			near(t, "wait", serialisation(c.way, c.size), c.wait, 1e-9)
			if got := udpRate(c.way, c.size); got != c.rate && !(math.Abs(got-c.rate) < 1) {
				t.Errorf("rate %g, want %g", got, c.rate)
			}
		})
	}
}

func TestQueueBytes(t *testing.T) {
	const rtt = 40 * msec
	for _, c := range []struct {
		name string
		way  lab.Way
		want float64
		ok   bool
	}{
		{"no rate", lab.Way{}, 0, false},
		{"default", lab.Way{Rate: 10e6}, 1e6, true},
		{"packets", lab.Way{Rate: 10e6, Queue: lab.Queue{Packets: 20}}, 20e3, true},
		{"bytes", lab.Way{Rate: 10e6, Queue: lab.Queue{Bytes: 2999}}, 2000, true},
		{"bdp", lab.Way{Rate: 10e6, Queue: lab.Queue{BDP: 2}}, 100e3, true},
		{"time", lab.Way{Rate: 10e6, Queue: lab.Queue{Time: 8 * msec}}, 10e3, true},
		{"time counts overhead", lab.Way{Rate: 10e6, Overhead: 1000, Queue: lab.Queue{Time: 8 * msec}}, 5e3, true},
		{"limit counts what is under way", lab.Way{Rate: 10e6, Delay: 20 * msec, Limit: 125}, 100e3, true},
		{"limit below rate × delay", lab.Way{Rate: 10e6, Delay: 20 * msec, Limit: 10}, 0, true},
		{"policer", lab.Way{Rate: 10e6, Burst: 3000, Police: true}, 0, false},
		{"aqm", lab.Way{Rate: 10e6, AQM: lab.AQM{Kind: lab.CoDel}}, 0, false},
		{"trace", lab.Way{Rate: 10e6, Trace: lab.Trace{Name: "x"}}, 0, false},
	} {
		got, ok := queueBytes(c.way, rtt, 1000)
		if ok != c.ok || math.Abs(got-c.want) > 1 {
			t.Errorf("%s: %g, %v, want %g, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

// No instrument may send faster than half of what the path carries.
func TestSpacing(t *testing.T) {
	for _, c := range []struct {
		name string
		way  lab.Way
		want time.Duration
	}{
		{"unlimited", lab.Way{Delay: 20 * msec}, 100 * time.Microsecond},
		{"rate", lab.Way{Rate: 1e6}, 16 * msec},
		{"throttle", lab.Way{Rate: 1e9, Throttle: lab.Throttle{Transport: lab.UDP, Rate: 2e6}}, 8 * msec},
		{"throttle of TCP", lab.Way{Throttle: lab.Throttle{Transport: lab.TCP, Rate: 2e6}}, 100 * time.Microsecond},
		{"limit", lab.Way{Delay: 100 * msec, Limit: 100}, 2 * msec},
		{"trace", lab.Way{Trace: lab.Trace{Name: "x"}}, 20 * msec},
	} {
		if got := spacing(c.way, 1000, 100*time.Microsecond); (got - c.want).Abs() > time.Microsecond {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	in, out := lab.Way{Delay: 50 * msec, Jitter: lab.Jitter{Spread: 10 * msec, InOrder: true}}, lab.Way{Jitter: lab.Jitter{Spread: 10 * msec}}
	if got := apart(in); (got - 20*msec).Abs() > 10*time.Microsecond {
		t.Errorf("where order is kept, probes are %v apart, want 20ms", got)
	}
	if got := apart(out); got != 0 {
		t.Errorf("where order is not kept, probes are %v apart, want 0", got)
	}
}

func TestRoomAtOnce(t *testing.T) {
	for _, c := range []struct {
		way  lab.Way
		want int
	}{
		{lab.Way{}, math.MaxInt},
		{lab.Way{Limit: 5}, 5},
		{lab.Way{Rate: 1e6, Queue: lab.Queue{Packets: 3}}, 4},
		{lab.Way{Rate: 1e6, Queue: lab.Queue{Bytes: 1999}}, 2},
		{lab.Way{Rate: 1e6, Queue: lab.Queue{Bytes: 500}}, 1},
		{lab.Way{Rate: 1e6, Burst: 3000, Police: true}, 3},
		{lab.Way{Throttle: lab.Throttle{Transport: lab.UDP, Rate: 1e6, Burst: 2000}}, 2},
		{lab.Way{Rate: 1e6, Queue: lab.Queue{Packets: 4}, AQM: lab.AQM{Kind: lab.CoDel}}, 4},
	} {
		if got := roomAtOnce(lab.Path{}, c.way, 1000); got != c.want {
			t.Errorf("%+v: %d, want %d", c.way, got, c.want)
		}
	}
}

func TestCopies(t *testing.T) {
	for _, c := range []struct {
		way  lab.Way
		want int
	}{
		{lab.Way{}, 2},
		{lab.Way{Loss: lab.Loss{Share: 0.02}}, 4},
		{lab.Way{Loss: lab.Loss{Share: 0.05}}, 5},
		{lab.Way{Corrupt: lab.Chance{Share: 0.05}}, 5},
		{lab.Way{Loss: lab.Loss{Share: 0.5}}, 20},
		{lab.Way{Loss: lab.Loss{Share: 1}}, mostCopies},
		// 1/21 · 0.8^(k-1) ≤ 1e-6: the first is in the bad state, and it stays.
		{lab.Way{Loss: lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.2, Bad: 1}}}, 50},
		// A burst begins with chance 0.25, the first one may be on: 10 + 1 bursts.
		{lab.Way{Loss: lab.Loss{Share: 0.5, Burst: 3}}, 33},
	} {
		if got := copiesAgainst(c.way); got != c.want {
			t.Errorf("against %+v: %d copies, want %d", c.way, got, c.want)
		}
	}
}

func TestFloodSize(t *testing.T) {
	for _, c := range []struct {
		name string
		way  lab.Way
		want int
	}{
		{"fast", lab.Way{Rate: 100e6, Queue: lab.Queue{Bytes: 1e6}}, 1500},
		{"a hundred packets a second", lab.Way{Rate: 800e3, Queue: lab.Queue{Bytes: 1e6}}, 1000},
		{"a queue of packets drains in time", lab.Way{Rate: 4e6}, 500},
		{"never less than a probe", lab.Way{Rate: 8e3}, 28 + leastPayload},
		{"the smaller MTU", lab.Way{Rate: 100e6, Queue: lab.Queue{Bytes: 1e6}, MTU: 1400, Shrink: lab.Shrink{MTU: 1300, At: 1}}, 1300},
	} {
		if got := floodSize(c.way, lab.IPv4, time.Second); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
