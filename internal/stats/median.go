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
func statistic(m lab.Sample, runs []lab.Record) Statistic {
	s := Statistic{Metric: m.Metric, Unit: m.Unit}
	var finished []float64
	ok := 0
	n := 0
	for _, r := range runs {
		if !r.Late() {
			n++
		}
		if r.Outcome != lab.OK {
			continue
		}
		ok++
		if v := r.Value(m.Metric); v != nil && !math.IsNaN(*v) && !math.IsInf(*v, 0) {
			finished = append(finished, *v)
		}
	}
	slices.Sort(finished)
	if higherIsBetter(m.Metric) {
		slices.Reverse(finished)
	}
	if len(finished) > 0 {
		s.Best, s.Worst = &finished[0], &finished[len(finished)-1]
	}
	s.Median = median(finished, n)
	// Where no finished run has a value, the metric was not measured.
	s.Censored = s.Median == nil && n > 0 && (ok == 0 || len(finished) > 0)
	return s
}

// median returns the middle of n runs, of which the given ones finished, best
// first, and the others are worse than all of them; nil when it is not defined.
func median(finished []float64, n int) *float64 {
	low, high := (n-1)/2, n/2
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

func higherIsBetter(metric string) bool { return metric == lab.Goodput }
