package stats

import (
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// statistic takes one metric over the counted runs of a cell. A run that did
// not end ok is censored: beyond all that did, on the side of the slow (which
// for goodput is the low side). Its own value is not used, whatever it was.
// With every censored run at the far end the Kaplan–Meier median is the middle
// of the ordered runs (Kaplan and Meier, 1958); it is undefined when that is a
// censored one. Runs that the lab spoilt by being late are no observations: they
// are neither fast nor slow.
func statistic(m lab.Sample, runs []lab.Record, limit float64) Statistic {
	s := Statistic{Metric: m.Metric, Unit: m.Unit}
	finished, ok, n := values(m.Metric, runs)
	slices.Sort(finished)
	if len(finished) > 0 && isTime(m.Metric) {
		s.RestrictedMean = restrictedMean(finished, n, limit)
	}
	if higherIsBetter(m.Metric) {
		slices.Reverse(finished)
	}
	if len(finished) > 0 {
		s.Best, s.Worst = &finished[0], &finished[len(finished)-1]
	}
	s.Median, s.Low, s.High = MedianInterval(finished, n)
	s.Q1, s.Q3 = quantile(finished, n, 1), quantile(finished, n, 3)
	if higherIsBetter(m.Metric) {
		s.Low, s.High, s.Q1, s.Q3 = s.High, s.Low, s.Q3, s.Q1
	}
	// Where no finished run has a value, the metric was not measured.
	s.Censored = s.Median == nil && n > 0 && (ok == 0 || len(finished) > 0)
	return s
}

// values returns what runs that ended ok measured, how many those are, and how
// many runs are observations.
func values(metric string, runs []lab.Record) (finished []float64, ok, n int) {
	for _, r := range runs {
		if !r.Late() {
			n++
		}
		if r.Outcome != lab.OK {
			continue
		}
		ok++
		if v := r.Value(metric); v != nil && sound(*v) {
			finished = append(finished, *v)
		}
	}
	return finished, ok, n
}

// sound says that a value can have been measured: all metrics are 0 or more.
func sound(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// restrictedMean is the mean of n runs, each cut off at the limit, those that did
// not finish taken as the limit: what it is at least. It is there where a median
// is not, and a failed run makes it larger (Irwin, 1949). nil without a limit.
func restrictedMean(finished []float64, n int, limit float64) *float64 {
	if limit <= 0 {
		return nil
	}
	sum := limit * float64(n-len(finished))
	for _, v := range finished {
		sum += min(v, limit)
	}
	mean := sum / float64(n)
	return &mean
}

// isTime says that a metric is a time of the run, which its time limit bounds.
func isTime(metric string) bool {
	return slices.Contains([]string{lab.Duration, lab.TTFB, lab.FirstObject, lab.LastObject}, metric)
}

// median returns the middle of n runs, of which the given ones finished, best
// first, and the others are worse than all of them; nil when it is not defined.
func median(finished []float64, n int) *float64 { return quantile(finished, n, 2) }

// quantile returns the value that q quarters of n runs are at or below: the run
// at that place in the order, or where the share is met exactly the mean of that
// and the next, as Kaplan and Meier's curve is level between the two.
func quantile(finished []float64, n, q int) *float64 {
	low, high := (q*n+3)/4-1, q*n/4
	if n == 0 || high >= len(finished) {
		return nil
	}
	// Halves are added, so that huge values don't overflow.
	m := finished[high]
	if low != high {
		m = finished[low]/2 + finished[high]/2
	}
	return &m
}

// MedianInterval returns the median of n runs, of which the given ones finished,
// best first, and the others are worse than all of them, with an interval of at
// least 95 %: two order statistics, exact for any distribution (Thompson, 1936).
// low is on the side of the best: where more is better it is the larger one. What is not defined is nil: a bound beyond the
// runs that finished, and both with fewer than 6 runs.
func MedianInterval(finished []float64, n int) (mid, low, high *float64) {
	mid = median(finished, n)
	k := medianRank(n)
	if k == 0 {
		return mid, nil, nil
	}
	if k <= len(finished) {
		low = &finished[k-1]
	}
	if n-k < len(finished) {
		high = &finished[n-k]
	}
	return mid, low, high
}

// medianRank returns the largest k for which the k-th of n runs from either end
// enclose the median with a probability of at least 95 %; 0 when there is none.
// With X binomial (n, 1/2) that is P(X < k) ≤ 2.5 %.
func medianRank(n int) int {
	k := min(int(float64(n)/2-0.98*math.Sqrt(float64(n)))+2, n/2+1) // too large for sure
	for ; k > 0 && binomialBelow(n, k) > Level/2; k-- {
	}
	return max(k, 0)
}

// binomialBelow is the probability of fewer than k heads in n tosses.
func binomialBelow(n, k int) (p float64) {
	if k <= 0 {
		return 0
	}
	lgamma := func(v int) float64 { l, _ := math.Lgamma(float64(v)); return l }
	i := k - 1
	term := math.Exp(lgamma(n+1) - lgamma(i+1) - lgamma(n-i+1) - float64(n)*math.Ln2)
	for ; i >= 0 && term > p*1e-17; i-- {
		p += term
		term *= float64(i) / float64(n-i+1)
	}
	return p
}

func higherIsBetter(metric string) bool { return metric == lab.Goodput }
