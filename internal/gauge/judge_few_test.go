package gauge

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// What a path is asked to swallow is no fault, in whichever row it is missing; what
// it swallows without being asked to is one in every row.
func TestTooFewProbes(t *testing.T) {
	const size, sent = 92, 175
	for _, c := range []struct {
		name string
		way  lab.Way
		got  int // of the probes
		why  string
		want State
	}{
		{"nothing asked", lab.Way{Delay: 20 * msec}, 0, "", Fails},
		{"a little loss", lab.Way{Loss: lab.Loss{Share: 0.1}}, 9, "", Fails},
		{"dropped by rules", lab.Way{Rules: "drop udp"}, 0, "exact rules", Unchecked},
		{"rejected by rules", lab.Way{Rules: "reject udp"}, 0, "exact rules", Unchecked},
		{"a trace", lab.Way{Trace: lab.Trace{Name: "x"}}, 0, "trace", Unchecked},
		{"loss", lab.Way{Loss: lab.Loss{Share: 0.95}}, 7, "the loss is too high", Unchecked},
		{"corruption", lab.Way{Corrupt: lab.Chance{Share: 1}}, 0, "the loss is too high", Unchecked},
		{"a policer's burst below a packet", lab.Way{Rate: 10e6, Police: true, Burst: 50}, 0, "larger than the burst", Unchecked},
		{"a policer's burst of a packet", lab.Way{Rate: 10e6, Police: true, Burst: size}, 0, "", Fails},
		{"a throttle's burst below a packet", lab.Way{Throttle: lab.Throttle{Rate: 1e6, Burst: 50}}, 0, "larger than the burst", Unchecked},
		{"a throttle of TCP", lab.Way{Throttle: lab.Throttle{Rate: 1e6, Burst: 50, Transport: lab.TCP}}, 0, "", Fails},
	} {
		t.Run(c.name, func(t *testing.T) {
			few := make([]float64, c.got)
			rows := []Check{
				judgeRTT(lab.Path{Up: c.way}, size, sent, few),
				judgeRTT(lab.Path{Down: c.way}, size, sent, few),
				judgeDelay(lab.Up, c.way, size, sent, few)[0],
				judgeReturn(lab.Path{Down: c.way}, size, sent, sent, few)[0],
			}
			for _, row := range rows {
				wantState(t, row, c.want)
				if !strings.Contains(row.Note, c.why) {
					t.Errorf("%s %s: no %q in %q", row.Name, row.Direction, c.why, row.Note)
				}
			}
			// Of what never came up, the way down knows nothing.
			down := judgeReturn(lab.Path{Up: c.way}, size, sent, c.got, few)[0]
			wantState(t, down, Unchecked)
			if !strings.Contains(down.Note, c.why) || !strings.Contains(down.Note, "came up to be sent back") {
				t.Errorf("down: no %q in %q", c.why, down.Note)
			}
		})
	}
}

// The chance to say "too high" where a path does what it is asked to is that of
// three standard deviations; and a path is not excused that should let enough
// through.
func TestFewExpected(t *testing.T) {
	half := lab.Way{Loss: lab.Loss{Share: 0.5}}
	r := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{20, 50, 100, 175, 1000} {
		few, trials := 0, 2000
		for range trials {
			got := 0
			for range n {
				if r.Float64() < 0.25 {
					got++
				}
			}
			if got < fewest {
				few++
			}
		}
		excused := fewExpected(n, 92, half, half) != ""
		if share := float64(few) / float64(trials); !excused && share > 0.004 {
			t.Errorf("%d probes: fewer than %d in %v of all cases, and that is called a fault", n, fewest, share)
		}
		if p := float64(n) * 0.25; excused && p-5*math.Sqrt(p) > fewest {
			t.Errorf("%d probes: fewer than %d is excused, and %v are expected", n, fewest, p)
		}
	}
}

// A bucket that is said to swallow a packet does so in the link, and one that is
// a byte larger does not.
func TestSwallows(t *testing.T) {
	const size = 92
	udp := make([]byte, size)
	udp[0], udp[9] = 0x45, 17
	for _, burst := range []int64{size - 1, size} {
		for _, w := range []lab.Way{
			{Rate: 10e6, Police: true, Burst: burst},
			{Throttle: lab.Throttle{Rate: 1e6, Burst: burst}},
		} {
			arrived := len(overLinkAs(w, udp, paced(20, 20*msec)).arrivals)
			if said := swallows(w, size) != ""; said != (arrived == 0) {
				t.Errorf("%+v: %d arrived, and that it swallows them is said: %v", w, arrived, said)
			}
		}
	}
	if why := mtuObstacle(lab.Way{Corrupt: lab.Chance{Share: 0.9}}); why == "" {
		t.Error("the MTU of a path that corrupts nine of ten is looked for")
	}
}
