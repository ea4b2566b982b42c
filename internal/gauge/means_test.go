package gauge

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func TestAskedMTU(t *testing.T) {
	shrinks := lab.Way{MTU: 1400, Shrink: lab.Shrink{MTU: 1300, At: 5 * time.Second}}
	for _, c := range []struct {
		name            string
		way             lab.Way
		since, patience time.Duration
		asked           int
		wait            time.Duration
		checked         bool
	}{
		{"none named", lab.Way{}, 0, time.Second, 1500, 0, true},
		{"does not shrink", lab.Way{MTU: 1400}, time.Hour, time.Second, 1400, 0, true},
		{"shrinks much later", shrinks, time.Second, time.Second, 1400, 0, true},
		{"shrinks soon", shrinks, time.Second, 10 * time.Second, 1300, 4100 * msec, true},
		{"has shrunk", shrinks, 6 * time.Second, time.Second, 1300, 0, true},
		{"shrinks just then", shrinks, 4 * time.Second, time.Second, 0, 0, false},
	} {
		asked, wait, why := askedMTU(c.way, c.since, c.patience)
		if asked != c.asked || wait != c.wait || (why == "") != c.checked {
			t.Errorf("%s: %d after %v, %q; want %d after %v, checked %v", c.name, asked, wait, why, c.asked, c.wait, c.checked)
		}
	}
}

func TestBuckets(t *testing.T) {
	for _, c := range []struct {
		name    string
		way     lab.Way
		bytes   int64
		policed bool
	}{
		{"none", lab.Way{Rate: 1e6}, 0, false},
		{"token bucket", lab.Way{Rate: 1e6, Burst: 3000}, 3000, false},
		{"policer", lab.Way{Rate: 1e6, Burst: 3000, Police: true}, 3000, true},
		{"throttle", lab.Way{Throttle: lab.Throttle{Transport: lab.UDP, Rate: 1e6}}, 15_000, true},
		{"fast throttle", lab.Way{Throttle: lab.Throttle{Rate: 100e6}}, 125_000, true},
		{"throttle with a bucket", lab.Way{Throttle: lab.Throttle{Rate: 1e6, Burst: 2000}}, 2000, true},
		{"throttle above the rate", lab.Way{Rate: 1e6, Throttle: lab.Throttle{Rate: 2e6, Burst: 2000}}, 2000, false},
		{"throttle of TCP", lab.Way{Throttle: lab.Throttle{Transport: lab.TCP, Rate: 1e6}}, 0, false},
	} {
		if b, p := bucket(c.way), policed(c.way); b != c.bytes || p != c.policed {
			t.Errorf("%s: %d bytes, policed %v; want %d, %v", c.name, b, p, c.bytes, c.policed)
		}
	}
}

func TestRebinds(t *testing.T) {
	for _, c := range []struct {
		rebind lab.Rebind
		want   bool
	}{
		{lab.Rebind{}, false},
		{lab.Rebind{At: 4 * time.Second}, true},
		{lab.Rebind{At: 6 * time.Second}, false},
		{lab.Rebind{Every: time.Second}, true},
		{lab.Rebind{Idle: time.Hour}, true},
	} {
		if got := rebinds(lab.Path{Rebind: c.rebind}, 5*time.Second); got != c.want {
			t.Errorf("%+v: %v", c.rebind, got)
		}
	}
}

// Reordering shows where neighbours' delays differ by about the spacing.
func TestMixing(t *testing.T) {
	for _, c := range []struct {
		way  lab.Way
		want time.Duration
	}{
		{lab.Way{Delay: 20 * msec, Reorder: lab.Reorder{Share: 0.05}}, msec},
		{lab.Way{Delay: time.Second, Reorder: lab.Reorder{Share: 0.5}}, 20 * msec},
		{lab.Way{Delay: msec, Reorder: lab.Reorder{Share: 0.01}}, 200 * time.Microsecond},
		{lab.Way{Delay: 50 * msec, Jitter: lab.Jitter{Spread: 8 * msec, Distribution: lab.Normal}}, 4 * msec},
	} {
		if got := mixing(c.way); (got - c.want).Abs() > 10*time.Microsecond {
			t.Errorf("%+v: %v, want %v", c.way, got, c.want)
		}
	}
}

func TestJudgeUndelayed(t *testing.T) {
	w := lab.Way{Delay: 20 * msec, Reorder: lab.Reorder{Share: 0.05}}
	r := rand.New(rand.NewPCG(4, 4))
	for share, want := range map[float64]State{0.05: Holds, 0.08: Fails, 0: Fails} {
		s := &series{sent: paced(5000, msec)}
		for i, at := range s.sent {
			if r.Float64() >= share {
				at += int64(20 * msec)
			}
			s.arrivals = append(s.arrivals, arrival{number: i, at: at})
		}
		c, ok := judgeUndelayed(lab.Up, w, 92, s)
		if !ok {
			t.Fatal("not judged")
		}
		wantState(t, c, want)
	}
	for _, w := range []lab.Way{{Delay: 20 * msec}, {Delay: msec, Reorder: lab.Reorder{Share: 0.05}}} {
		if _, ok := judgeUndelayed(lab.Up, w, 92, arrived(20)); ok {
			t.Errorf("%+v was judged", w)
		}
	}
}
