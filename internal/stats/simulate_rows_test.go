package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// simulateEnv asks for the full simulation, whose table docs/statistics.md has.
const simulateEnv = "SAMEWIRE_SIMULATE"

// simulated is a rate that many synthetic studies have, each with a seed of its own.
type simulated struct {
	what, noise string
	quick, full int                               // studies; 0: not in the quick version
	trial       func(seed uint64) (bool, float64) // whether it is counted, and blocks
	most, least float64                           // what the rate is to be; most 0: no bound
}

// rate carries out n studies.
func (s simulated) rate(n int) (rate, blocks float64) {
	for seed := range uint64(n) {
		hit, b := s.trial(seed + 1)
		if hit {
			rate += 1 / float64(n)
		}
		blocks += b / float64(n)
	}
	return rate, blocks
}

// check holds a rate against what it is to be, with 3.5 standard deviations of chance.
func (s simulated) check(t *testing.T, rate float64, n int) {
	t.Helper()
	stray := func(p float64) float64 { return 3.5 * math.Sqrt(p*(1-p)/float64(n)) }
	if s.most > 0 && rate > s.most+stray(s.most) {
		t.Errorf("%s, %s: %.2f %% of %d, want at most %.2f %%", s.what, s.noise, 100*rate, n, 100*s.most)
	}
	if rate < s.least-stray(s.least) {
		t.Errorf("%s, %s: %.2f %% of %d, want at least %.2f %%", s.what, s.noise, 100*rate, n, 100*s.least)
	}
}

func (s simulated) target() string {
	switch {
	case s.most > 0:
		return fmt.Sprintf("≤ %g %%", 100*s.most)
	case s.least > 0:
		return fmt.Sprintf("≥ %g %%", 100*s.least)
	default:
		return "–"
	}
}

// TestSimulated holds the rates of the methods against what docs/statistics.md says
// of them, and prints its table where the full version is asked for.
func TestSimulated(t *testing.T) {
	full := os.Getenv(simulateEnv) != ""
	if full {
		fmt.Println("| what | noise | studies | blocks | rate | wanted |\n|---|---|---:|---:|---:|---|")
	}
	for _, group := range []struct {
		name string
		rows []simulated
	}{
		{"claims", falseClaims()}, {"further", furtherClaims()}, {"coverage", coverages()}, {"medians", medians()}, {"unpaired", twoSamples()}, {"power", powers()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, s := range group.rows {
				s.carryOut(t, full)
			}
		})
	}
}

func (s simulated) carryOut(t *testing.T, full bool) {
	t.Helper()
	n := s.quick
	if full {
		n = s.full
	}
	if n == 0 {
		return
	}
	rate, blocks := s.rate(n)
	s.check(t, rate, n)
	if full {
		fmt.Printf("| %s | %s | %d | %.1f | %.2f %% | %s |\n", s.what, s.noise, n, blocks, 100*rate, s.target())
	}
}

// auto is the rule of reps: auto with that least number of blocks.
func auto(least int) *lab.Auto { return &lab.Auto{Width: 0.1, Min: least, Max: 30} }

// looksCost is what a study by reps: auto may claim falsely where no A/A arm holds it
// back: it ends when an interval is narrow, which it is by chance too.
const looksCost = 0.065

// falseClaim is a row of studies in which nothing differs: any claim is a false one.
func falseClaim(what string, quick, full int, s synthetic) simulated {
	row := simulated{what: "any false claim, " + what, noise: s.noise.name, quick: quick, full: full, most: 0.05}
	if s.auto != nil && !s.arm {
		row.most = looksCost
	}
	s.shared = max(s.shared, 0.1)
	row.trial = func(seed uint64) (bool, float64) {
		out, blocks := s.run(seed)
		return claims(out) > 0, blocks
	}
	return row
}

func falseClaims() (rows []simulated) {
	for _, n := range noises() {
		quick := map[string]int{lognormal.name: 1}[n.name]
		rows = append(rows,
			falseClaim("n = 6, 1 pair", 300*quick, 4000, synthetic{paths: 1, protocols: 2, reps: 6, noise: n}),
			falseClaim("n = 8, 3 pairs", 0, 2000, synthetic{paths: 1, protocols: 3, reps: 8, noise: n}),
			falseClaim("n = 10, 9 pairs", 200*quick, 1000, synthetic{paths: 3, protocols: 3, reps: 10, noise: n}),
			falseClaim("n = 15, 3 pairs", 0, 1000, synthetic{paths: 1, protocols: 3, reps: 15, noise: n}),
			falseClaim("n = 30, 3 pairs", 0, 1000, synthetic{paths: 1, protocols: 3, reps: 30, noise: n}),
			falseClaim("reps auto, 1 pair, A/A arm", 150*quick, 1000, synthetic{paths: 1, protocols: 2, arm: true, auto: auto(6), noise: n}),
		)
	}
	return rows
}

// furtherClaims look closer at what ends a study, and at larger ones.
func furtherClaims() (rows []simulated) {
	for _, scale := range []float64{0.02, 0.03, 0.05} {
		n := noise{fmt.Sprintf("lognormal %g %%", 100*scale), func(r *rand.Rand) float64 { return scale * r.NormFloat64() }}
		rows = append(rows,
			falseClaim("reps auto, 1 pair", 0, 2000, synthetic{paths: 1, protocols: 2, auto: auto(6), noise: n}),
			falseClaim("reps auto, 1 pair, A/A arm", 0, 2000, synthetic{paths: 1, protocols: 2, arm: true, auto: auto(6), noise: n}),
		)
	}
	return append(rows,
		falseClaim("reps auto, 3 pairs, A/A arm", 0, 1000, synthetic{paths: 1, protocols: 3, arm: true, auto: auto(7), noise: lognormal}),
		falseClaim("n = 10, 9 pairs, A/A arm", 0, 1000, synthetic{paths: 3, protocols: 3, arm: true, reps: 10, noise: lognormal}),
		falseClaim("n = 30, 9 pairs", 0, 1000, synthetic{paths: 3, protocols: 3, reps: 30, noise: lognormal}),
		falseClaim("n = 10, 9 pairs, blocks differ e-fold", 0, 1000, synthetic{paths: 3, protocols: 3, reps: 10, noise: lognormal, shared: 1}),
	)
}

// coverages are how often the interval of a ratio has the true one in it.
func coverages() (rows []simulated) {
	add := func(what, name string, quick, full int, trial func(seed uint64) (bool, float64)) {
		rows = append(rows, simulated{what, name, quick, full, trial, 0, 0.93})
	}
	for _, ratio := range []float64{1, 1.1} {
		for _, noise := range noises() {
			quick := 0
			if noise.name == lognormal.name && ratio > 1 {
				quick = 200
			}
			autos := map[float64]int{1.1: 1000}[ratio]
			for _, n := range []int{6, 8, 10, 15, 30} {
				add(fmt.Sprintf("interval has the ratio %g, n = %d", ratio, n), noise.name, quick*min(5, 60/n), 2000, func(seed uint64) (bool, float64) {
					e := Paired(drawn(seed, noise, noise, ratio, n), seed)
					return has(e, ratio), float64(n)
				})
			}
			add(fmt.Sprintf("interval has the ratio %g, reps auto", ratio), noise.name, quick, autos, func(seed uint64) (bool, float64) {
				s := synthetic{paths: 1, protocols: 2, auto: auto(6), noise: noise, shared: 0.1, slower: ratio}
				records, n := s.path(randomOf(seed, 0x5eed), 0)
				return has(Paired(pairOf(records), seed), 1/ratio), float64(n)
			})
		}
	}
	unequal := pseudoMedian(lognormal, pareto)
	for _, n := range []int{6, 8, 10, 15, 30} {
		add(fmt.Sprintf("interval has the estimand, unequal shapes, n = %d", n), "lognormal against Pareto", 0, 2000, func(seed uint64) (bool, float64) {
			return has(Paired(drawn(seed, lognormal, pareto, 1, n), seed), unequal), float64(n)
		})
	}
	return rows
}

// drawn are the logarithms of n ratios of a, which takes ratio times as long, over b.
func drawn(seed uint64, a, b noise, ratio float64, n int) (logs []float64) {
	r := randomOf(seed, 0xc0de)
	for range n {
		logs = append(logs, math.Log(ratio)+a.draw(r)-b.draw(r))
	}
	return logs
}

func pairOf(records []lab.Record) []float64 {
	all, _, _ := wholeBlocks(records)
	return pairUp(all[0], all[1]).logs
}

// has says whether an interval has a ratio in it. What is not finite bounds nothing.
func has(e Estimate, ratio float64) bool {
	return (e.Low == nil || *e.Low <= ratio) && (e.High == nil || ratio <= *e.High)
}

// pseudoMedian is the ratio that the Hodges–Lehmann estimate tends to.
func pseudoMedian(a, b noise) float64 {
	const many = 400_000
	x, y := drawn(1, a, b, 1, many), drawn(2, a, b, 1, many)
	for i := range x {
		x[i] = x[i]/2 + y[i]/2
	}
	slices.Sort(x)
	return math.Exp(x[many/2])
}

// medians are how often the interval of a cell's median has the true one in it.
func medians() (rows []simulated) {
	for _, noise := range noises() {
		middle := trueMedian(noise)
		for _, n := range []int{6, 10, 15, 30} {
			quick := 0
			if noise.name == bimodal.name || noise.name == failing40.name {
				quick = 2000
			}
			rows = append(rows, simulated{"interval has the median, n = " + strconv.Itoa(n), noise.name, quick, 20_000, func(seed uint64) (bool, float64) {
				var finished []float64
				r := randomOf(seed, 0x3d)
				for range n {
					if x := noise.draw(r); !math.IsInf(x, 1) {
						finished = append(finished, x)
					}
				}
				slices.Sort(finished)
				_, low, high := MedianInterval(finished, n)
				return (low == nil || *low <= middle) && (high == nil || middle <= *high) && (low != nil || len(finished) < n), float64(n)
			}, 0, 0.95})
		}
	}
	return rows
}

func trueMedian(n noise) float64 {
	r := randomOf(3, 4)
	x := make([]float64, 200_001)
	for i := range x {
		x[i] = n.draw(r)
	}
	slices.Sort(x)
	return x[len(x)/2]
}

// manyFail is the coverage of an unpaired ratio that is not 1 where a third of the runs
// fail or more: two failed runs are a tie, and every failed run makes one with each of
// the others, so that the interval is drawn towards 1.
const manyFail = 0.85

// twoSamples are the rates of what compares two folders.
func twoSamples() (rows []simulated) {
	for _, noise := range noises() {
		for _, n := range []int{6, 10, 20} {
			full := map[int]int{6: 5000, 10: 5000, 20: 500}[n]
			least := 0.93
			if noise.name == failing40.name || noise.name == cutOff.name {
				least = manyFail
			}
			quick := map[int]int{6: 600}[n] * map[string]int{lognormal.name: 1}[noise.name]
			of := func(seed uint64) Estimate {
				r := randomOf(seed, 0x2)
				return TwoSample(valuesOf(r, noise, 1.1, n), valuesOf(r, noise, 1, n), n, n)
			}
			rows = append(rows, simulated{fmt.Sprintf("unpaired interval has the ratio 1.1, n = %d and %d", n, n), noise.name, quick, full, func(seed uint64) (bool, float64) {
				return has(of(seed), 1.1), float64(n)
			}, 0, least})
			rows = append(rows, simulated{fmt.Sprintf("unpaired p ≤ 5 %% of equal ones, n = %d and %d", n, n), noise.name, quick, full, func(seed uint64) (bool, float64) {
				r := randomOf(seed, 0x3)
				return TwoSample(valuesOf(r, noise, 1, n), valuesOf(r, noise, 1, n), n, n).P <= 0.05, float64(n)
			}, 0.05, 0})
		}
	}
	return rows
}

// valuesOf are what those of n runs took that finished.
func valuesOf(r *rand.Rand, noise noise, times float64, n int) (values []float64) {
	for range n {
		if x := noise.draw(r); !math.IsInf(x, 1) {
			values = append(values, times*math.Exp(x))
		}
	}
	slices.Sort(values)
	return values
}

// powers are how often a protocol that takes 1.10 times as long is found out against
// the first of three.
func powers() (rows []simulated) {
	add := func(what string, quick int, least float64, s synthetic) {
		s.paths, s.noise, s.shared, s.slower = 1, lognormal, 0.1, 1.1
		rows = append(rows, simulated{what, s.noise.name, quick, 1000, func(seed uint64) (bool, float64) {
			out, blocks := s.run(seed)
			v := out.Verdicts[slices.IndexFunc(out.Verdicts, func(v Verdict) bool {
				return v.A == lab.Protocols()[0] && v.B == lab.Protocols()[s.protocols-1] && v.Metric == lab.Duration
			})]
			return v.Verdict == Faster, blocks
		}, 0, least})
	}
	for _, n := range []int{6, 8, 10, 15, 30} {
		pairs, protocols, least := 3, 3, map[int]float64{15: 0.9, 30: 0.99}[n]
		if n == 6 {
			pairs, protocols = 1, 2
		}
		add(fmt.Sprintf("ratio 1.10 is claimed, n = %d, %d pairs", n, pairs), 0, least, synthetic{protocols: protocols, reps: n})
		add(fmt.Sprintf("ratio 1.10 is claimed, n = %d, %d pairs, A/A arm", n, pairs), map[int]int{15: 150}[n], least, synthetic{protocols: protocols, reps: n, arm: true})
	}
	add("ratio 1.10 is claimed, reps auto, 3 pairs, A/A arm", 0, 0, synthetic{protocols: 3, auto: auto(7), arm: true})
	return rows
}

// What stands for Enough here stops where that does.
func TestStopsWhereEnoughSays(t *testing.T) {
	s := synthetic{paths: 1, protocols: 2, reps: 30, noise: lognormal}
	stops := map[int]bool{}
	for seed := range uint64(40) {
		records, _ := s.path(randomOf(seed, 1), 0)
		n := stopsAt(*auto(6), records)
		stops[n] = true
		if !Enough(*auto(6), records[:2*n]) || Enough(*auto(6), records[:2*(n-1)]) {
			t.Errorf("seed %d: not at %d", seed, n)
		}
	}
	if len(stops) < 3 {
		t.Errorf("it stops at %v only", stops)
	}
}
