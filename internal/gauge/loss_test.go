package gauge

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

func TestLossClosedForms(t *testing.T) {
	for _, c := range []struct {
		name                      string
		way                       lab.Way
		joined                    int
		share, variance, run, rSD float64
	}{
		{"none", lab.Way{}, 1, 0, 0, math.NaN(), math.NaN()},
		{"all", lab.Way{Loss: lab.Loss{Share: 1}}, 1, 1, 0, math.NaN(), math.NaN()},
		{"independent", lab.Way{Loss: lab.Loss{Share: 0.2}}, 1, 0.2, 0.16, 1.25, math.Sqrt(0.2) / 0.8},
		{"simple Gilbert", lab.Way{Loss: lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.1, Bad: 1}}}, 1,
			1.0 / 11, 10.0 / 121 * (1 + 2*0.89/0.11), 10, math.Sqrt(0.9) / 0.1},
		{"bursts", lab.Way{Loss: lab.Loss{Share: 0.5, Burst: 3}}, 1,
			// q = 1/4: three lost in one of four decisions.
			0.5, (0.25*9*0.25 + 0.75*0.25) / 1.5, 4, 3 * 0.5 / 0.75},
		{"super-packets", lab.Way{Loss: lab.Loss{Share: 0.2, Super: true}}, 8, 0.2, 1.28, 10, 8 * math.Sqrt(0.2) / 0.8},
		{"super-packets of one", lab.Way{Loss: lab.Loss{Share: 0.2, Super: true}}, 1, 0.2, 0.16, 1.25, math.Sqrt(0.2) / 0.8},
		{"corruption", lab.Way{Corrupt: lab.Chance{Share: 0.2}}, 1, 0.2, 0.16, 1.25, math.Sqrt(0.2) / 0.8},
		{"loss and corruption", lab.Way{Loss: lab.Loss{Share: 0.1}, Corrupt: lab.Chance{Share: 1.0 / 9}}, 1, 0.2, 0.16, 1.25, math.Sqrt(0.2) / 0.8},
		{"a copy is intact", lab.Way{Corrupt: lab.Chance{Share: 0.4}, Duplicate: lab.Chance{Share: 0.5}}, 1, 0.2, 0.16, 1.25, math.Sqrt(0.2) / 0.8},
		{"correlated corruption", lab.Way{Corrupt: lab.Chance{Share: 0.2, Correlation: 0.5}}, 1, 0.2, 0.48, math.NaN(), math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := lossOf(c.way, lab.IPv4, 1000, c.joined)
			near(t, "share", m.share, c.share, 1e-9)
			near(t, "variance", m.variance, c.variance, 1e-9)
			if math.IsNaN(c.run) != math.IsNaN(m.run) || math.IsNaN(c.rSD) != math.IsNaN(m.runSD) {
				t.Fatalf("runs %g ± %g, want %g ± %g", m.run, m.runSD, c.run, c.rSD)
			}
			if !math.IsNaN(c.run) {
				near(t, "run", m.run, c.run, 1e-6)
				near(t, "run's sd", m.runSD, c.rSD, 1e-5)
			}
		})
	}
}

// IPv6 has 36 bits in its header whose flip nobody notices.
func TestCorruptionThatNobodyNotices(t *testing.T) {
	m := lossOf(lab.Way{Corrupt: lab.Chance{Share: 1}}, lab.IPv6, 100, 1)
	near(t, "share", m.share, 1-36.0/800, 1e-12)
}

// simulate loses n packets as the notation's words mean it: written here again,
// so that formula and model do not share a fault.
func simulate(l lab.Loss, n int, r *rand.Rand) []bool {
	lost := make([]bool, n)
	bad, left := false, 0
	g := l.Gilbert
	start := l.Share / (float64(l.Burst)*(1-l.Share) + l.Share)
	for i := range lost {
		switch {
		case g != lab.Gilbert{}:
			share, leave := g.Good, g.P
			if bad {
				share, leave = g.Bad, g.R
			}
			lost[i] = r.Float64() < share
			bad = bad != (r.Float64() < leave)
		case left > 0:
			lost[i] = true
			left--
		default:
			lost[i] = r.Float64() < start
			if lost[i] {
				left = l.Burst - 1
			}
		}
	}
	return lost
}

func TestLossFormulasAgainstSimulation(t *testing.T) {
	const trials, n = 400, 20_000
	for i, l := range []lab.Loss{
		{Share: 0.05, Burst: 1}, {Share: 0.3, Burst: 4}, {Share: 0.02, Burst: 2},
		{Gilbert: lab.Gilbert{P: 0.01, R: 0.1, Bad: 1}},
		{Gilbert: lab.Gilbert{P: 0.05, R: 0.3, Bad: 0.7, Good: 0.01}},
		{Gilbert: lab.Gilbert{P: 0.9, R: 0.8, Bad: 0.5, Good: 0.1}},
	} {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		m := lossOf(lab.Way{Loss: l}, lab.IPv4, 1000, 1)
		var shares, lengths []float64
		for range trials {
			lost := simulate(l, n, r)
			all := runs(lost)
			shares = append(shares, float64(total(all))/n)
			for _, k := range all {
				lengths = append(lengths, float64(k))
			}
		}
		mean, sd, _ := moments(shares)
		near(t, "share", mean, m.share, 4*math.Sqrt(m.variance/n/trials)+1e-4)
		// The variance of a variance over 400 trials: 7 %.
		near(t, "variance, relatively", sd*sd*n/m.variance, 1, 4*math.Sqrt(2.0/trials))
		run, runSD, _ := moments(lengths)
		near(t, "run", run, m.run, 4*m.runSD/math.Sqrt(float64(len(lengths)))+1e-3)
		near(t, "run's sd, relatively", runSD/m.runSD, 1, 0.05)
	}
}
