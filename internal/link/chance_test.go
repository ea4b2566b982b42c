package link

import (
	"fmt"
	"math"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// The draw for independent loss is a contract: a seed loses the same packets in
// every version.
func TestLossOfASeedIsStable(t *testing.T) {
	var got []int
	for i, lost := range lostOf(one(lab.Way{Loss: lab.Loss{Share: 0.02}}, 42), 400) {
		if lost {
			got = append(got, i)
		}
	}
	if want := "[48 114 162 323 340]"; fmt.Sprint(got) != want {
		t.Errorf("seed 42 loses %v, want %s", got, want)
	}
}

// The streams of one direction have nothing to do with each other.
func TestStreamsAreIndependent(t *testing.T) {
	const n, p = 100_000, 0.2
	key := directionKey(7, lab.Up)
	var hits [forRules + 3][]bool
	for use := range hits {
		s := newStream(key, purpose(use))
		for i := range uint64(n) {
			hits[use] = append(hits[use], s.uniform(newIndex(i)) < p)
		}
		near(t, fmt.Sprintf("stream %d", use), count(hits[use]), n*p, math.Sqrt(n*p*(1-p)))
	}
	for a := range hits {
		for b := range a {
			both := 0
			for i := range n {
				if hits[a][i] && hits[b][i] {
					both++
				}
			}
			near(t, fmt.Sprintf("streams %d and %d together", a, b), both, n*p*p, math.Sqrt(n*p*p*(1-p*p)))
		}
	}
}

func TestInnerIsInside(t *testing.T) {
	for _, bits := range []uint64{0, math.MaxUint64, 1 << 63} {
		u := (float64(bits>>12) + 0.5) * 0x1p-52
		if u <= 0 || u >= 1 || math.IsInf(normalQuantile(u), 0) {
			t.Errorf("%x gives %v", bits, u)
		}
	}
	for _, z := range []float64{-6, -3, -0.1, 0, 0.5, 4} {
		if got := normalQuantile(normalShare(z)); math.Abs(got-z) > 1e-6 {
			t.Errorf("the quantile of the share of %v is %v", z, got)
		}
	}
	if got := normalShare(1.959963984540054); math.Abs(got-0.975) > 1e-12 {
		t.Errorf("the share below 1.96 is %v", got)
	}
}

// bothBelow is the chance that two standard normal numbers with correlation rho
// are both in the lowest share p.
func bothBelow(p, rho float64) float64 {
	const steps = 100_000
	below, sum := normalQuantile(p), 0.0
	for i := range steps {
		u := (float64(i) + 0.5) / steps * p
		sum += normalShare((below - rho*normalQuantile(u)) / math.Sqrt(1-rho*rho))
	}
	return sum * p / steps
}

// The share is what was asked for whatever the correlation, and pairs in a row
// are as many as a Gaussian copula has.
func TestCorrelatedChance(t *testing.T) {
	const n = 500_000
	for _, p := range []float64{0.001, 0.1, 0.5, 0.97} {
		for _, rho := range []float64{0, 0.25, 0.9} {
			c := newChance(lab.Chance{Share: p, Correlation: rho}, newStream(directionKey(3, lab.Up), forDuplicate))
			hits, pairs, before := 0, 0, false
			for i := range uint64(n) {
				hit := c.next(newIndex(i))
				if hit {
					hits++
				}
				if hit && before {
					pairs++
				}
				before = hit
			}
			name := fmt.Sprintf("share %v, correlation %v", p, rho)
			// No function of the numbers is correlated more than they are.
			wide := math.Sqrt((1 + rho) / (1 - rho))
			near(t, name, hits, n*p, math.Sqrt(n*p*(1-p))*wide)
			both := bothBelow(p, rho)
			near(t, name+": pairs", pairs, n*both, math.Sqrt(n*both*(1-both))*wide)
		}
	}
	for share, want := range map[float64]bool{0: false, 1: true, -1: false, 2: true} {
		for _, rho := range []float64{0, 0.5, -1, 1, 7, math.NaN()} {
			c := newChance(lab.Chance{Share: share, Correlation: rho}, 5)
			for i := range uint64(1000) {
				if c.next(newIndex(i)) != want {
					t.Fatalf("share %v, correlation %v: packet %d is not %v", share, rho, i, want)
				}
			}
		}
	}
}
