package stats

import (
	"math"
	"slices"
)

// Estimate is what blocks say of the ratio of two series.
type Estimate struct {
	N int // blocks
	// Ratio is a over b: the Hodges–Lehmann estimate. Low and High are the
	// interval of at least 95 %. Each is nil where it is not finite or cannot be
	// had; with fewer than 6 blocks there is no interval.
	Ratio, Low, High *float64
	// Side says where the interval lies: -1 wholly below 1, +1 wholly above, 0
	// when it has 1 in it, or there is none. It knows of bounds that are infinite.
	Side int
	// P is the two-sided exact signed-rank test's; 1 when there is nothing to test.
	P float64
	// Smallest is the smallest ratio above 1 that blocks with this scatter show.
	Smallest *float64
}

// Level is the probability with which a claim may be wrong.
const Level = 0.05

// Paired takes the logarithms of ratios, one a block. +Inf and −Inf are blocks
// in which only one of the two finished; NaN is one in which neither did, which
// is a tie. The order of the blocks does not matter.
//
// The estimate is the median of the Walsh averages (Hodges and Lehmann, 1963).
// The interval is the hull of two: the one that Wilcoxon's signed-rank test
// does not reject (Tukey, 1949), which is exact and needs symmetry, as it is
// there when two series are exchangeable; and the percentile interval of a
// bootstrap of the blocks, which needs no symmetry, but is too narrow for few.
//
// Properties that an edit must keep: a larger value never moves estimate or
// bounds down; a tie counts against both directions.
func Paired(logs []float64, seed uint64) Estimate {
	e := Estimate{N: len(logs), P: 1}
	if len(logs) == 0 {
		return e
	}
	s := spanOf(logs, seed, Level)
	e.Ratio, e.P = ratio(s.middle), signedRank(logs)
	if s.known {
		e.Low, e.High, e.Side, e.Smallest = ratio(s.low), ratio(s.high), s.side(), ratio(s.reach())
	}
	return e
}

// span is an interval of logarithms of ratios.
type span struct {
	middle, low, high float64
	known             bool // there are enough blocks for low and high
}

// spanOf makes the hull of both intervals, each at level 1 − alpha.
func spanOf(logs []float64, seed uint64, alpha float64) span {
	w := newWalsh(logs)
	s := span{middle: w.median()}
	k := critical(len(logs), alpha)
	if k == 0 {
		return s
	}
	s.known = true
	s.low, s.high = w.bounds(k)
	if k > 1 { // otherwise these are the extremes of the blocks already
		low, high := w.bootstrap(seed, alpha)
		s.low, s.high = min(s.low, low), max(s.high, high)
	}
	return s
}

func (s span) side() int {
	switch {
	case s.known && s.low > 0:
		return 1
	case s.known && s.high < 0:
		return -1
	default:
		return 0
	}
}

// reach is how far an effect must be from 0 so that the interval around it has
// no 0 in it.
func (s span) reach() float64 {
	if math.IsInf(s.middle, 0) {
		return math.Inf(1)
	}
	return max(s.middle-s.low, s.high-s.middle)
}

// ratio leaves the logarithms; nil where that has no finite value.
func ratio(log float64) *float64 {
	if math.IsInf(log, -1) {
		return nil
	}
	return finite(math.Exp(log))
}

// finite is nil for what JSON has no number for.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// settled returns the blocks in order, those in which neither finished as ties.
func settled(logs []float64) []float64 {
	x := slices.Clone(logs)
	for i, v := range x {
		if math.IsNaN(v) {
			x[i] = 0
		}
	}
	slices.Sort(x)
	return x
}
