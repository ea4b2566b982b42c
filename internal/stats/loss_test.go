package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// lossRecord is a run of which the witness saw n packets up, and so many lost.
func lossRecord(l lab.Loss, seed uint64, n, lost int) lab.Record {
	way := lab.Way{Loss: l}
	return lab.Record{
		Outcome: lab.OK,
		Run:     lab.Run{Seed: seed, Cell: lab.Cell{Path: lab.Path{Name: "p", Up: way}, Site: lab.Kernel}},
		Wire: lab.Wire{
			Up:   lab.WireWay{Packets: n, Drops: map[string]int{"loss": lost, "queue": 7}},
			Down: lab.WireWay{Packets: n, Drops: map[string]int{}},
		},
	}
}

func TestWarnLoss(t *testing.T) {
	five := lab.Loss{Share: 0.05}
	repeat := func(n int, r func(i int) lab.Record) (all []lab.Record) {
		for i := range n {
			all = append(all, r(i))
		}
		return all
	}
	before := lossRecord(five, 1, 2000, 50)
	before.Wire.Up.Drops["mtu"] = 1000 // they never came to the chance of loss
	invalid := lossRecord(five, 1, 10_000, 0)
	invalid.Outcome = lab.Invalid
	for _, c := range []struct {
		name    string
		records []lab.Record
		warns   bool
	}{
		{"nothing", nil, false},
		{"as asked", []lab.Record{lossRecord(five, 1, 10_000, 500)}, false},
		{"3.9 standard deviations", []lab.Record{lossRecord(five, 1, 10_000, 500+85)}, false},
		{"4.1 standard deviations", []lab.Record{lossRecord(five, 1, 10_000, 500+90)}, true},
		{"too few", []lab.Record{lossRecord(five, 1, 10_000, 500-90)}, true},
		{"one of none", []lab.Record{lossRecord(lab.Loss{}, 1, 10_000, 1)}, true},
		{"all of all", []lab.Record{lossRecord(lab.Loss{Share: 1}, 1, 10, 10)}, false},
		{"not all of all", []lab.Record{lossRecord(lab.Loss{Share: 1}, 1, 10, 8)}, true},
		{"dropped before", []lab.Record{before}, false},
		{"does not count", []lab.Record{invalid}, false},
		{"marked instead", []lab.Record{lossRecord(lab.Loss{Share: 0.05, ECN: true}, 1, 10_000, 0)}, false},
		// Nine runs of 2.5 standard deviations each: of nine seeds that is 7.5,
		// of one and the same seed 2.5.
		{"nine seeds", repeat(9, func(i int) lab.Record { return lossRecord(five, uint64(i), 10_000, 555) }), true},
		{"nine times one seed", repeat(9, func(int) lab.Record { return lossRecord(five, 1, 10_000, 555) }), false},
		{"super-packets scatter more", []lab.Record{lossRecord(lab.Loss{Share: 0.05, Super: true}, 1, 10_000, 620)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := WarnLoss(c.records)
			if (len(got) > 0) != c.warns {
				t.Errorf("warns %q", got)
			}
			if c.warns && (len(got) != 1 || !strings.HasPrefix(got[0], "path p, kernel: ") || !strings.Contains(got[0], " packets up ")) {
				t.Errorf("warns %q", got)
			}
		})
	}
}

func TestInCommon(t *testing.T) {
	for _, c := range []struct {
		lengths []float64
		want    float64
	}{
		{nil, 0}, {[]float64{5}, 5}, {[]float64{5, 5}, 20},
		{[]float64{1, 2, 3}, 1 + 2 + 3 + 2*(1+1+2)},
	} {
		if got := inCommon(c.lengths); got != c.want {
			t.Errorf("%v: %g, want %g", c.lengths, got, c.want)
		}
	}
}

// gilbertLost counts what the Gilbert–Elliott model loses of n packets: it
// starts in the good state, and a packet meets the state that it finds.
func gilbertLost(g lab.Gilbert, n int, r *rand.Rand) (lost int) {
	bad := false
	for range n {
		share, leave := g.Good, g.P
		if bad {
			share, leave = g.Bad, g.R
		}
		if r.Float64() < share {
			lost++
		}
		bad = bad != (r.Float64() < leave)
	}
	return lost
}

// Short runs in the good state at their beginning lose less than the long run's
// share. The formula knows.
func TestExpectedLossOfShortRuns(t *testing.T) {
	l := lab.Loss{Gilbert: lab.Gilbert{P: 0.02, R: 0.1, Bad: 0.9, Good: 0.01}}
	for i, n := range []int{1, 10, 50, 1000} {
		const trials = 20_000
		r := rand.New(rand.NewPCG(11, uint64(i)))
		var sum, square float64
		for range trials {
			k := float64(gilbertLost(l.Gilbert, n, r))
			sum, square = sum+k, square+k*k
		}
		mean := sum / trials
		sd := math.Sqrt((square/trials - mean*mean) / trials)
		if got := expectedLoss(l, n); math.Abs(got-mean) > 4*sd {
			t.Errorf("%d packets: %g expected, %g ± %g simulated", n, got, mean, sd)
		}
	}
}

// Many studies of a path that is as asked: none may be warned of.
func TestWarnLossIsNotAlarmed(t *testing.T) {
	l := lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.1, Bad: 1}}
	for study := range uint64(200) {
		var records []lab.Record
		for seed := range uint64(10) {
			// Each seed's fates, as two protocols meet them.
			for _, n := range []int{150, 400} {
				records = append(records, lossRecord(l, seed, n, gilbertLost(l.Gilbert, n, rand.New(rand.NewPCG(study, seed)))))
			}
		}
		if got := WarnLoss(records); got != nil {
			t.Fatal(fmt.Sprint(study), got)
		}
	}
}
