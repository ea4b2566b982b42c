package stats

import (
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// badness is one metric of a cell's observations, as the logarithm of what grows
// when things get worse: the value, or its inverse where more is better. A run that
// did not end ok is +Inf, whatever it measured. One that did, and has no value, is
// not in it.
type badness struct {
	finished []float64 // in order, best first
	failed   int
}

func badnessOf(metric string, runs []lab.Record) badness {
	finished, ok, n := values(metric, runs)
	b := badness{failed: n - ok}
	for _, v := range finished {
		log := math.Log(max(v, shortest))
		if higherIsBetter(metric) {
			log = -log
		}
		b.finished = append(b.finished, log)
	}
	slices.Sort(b.finished)
	return b
}

func (b badness) n() int { return len(b.finished) + b.failed }

// measured says that there is something to compare: a metric that no finished run
// has was not measured.
func (b badness) measured(runs []lab.Record) bool {
	return len(b.finished) > 0 || b.failed > 0 && b.failed == len(runs)
}

// worst is +Inf where a run failed.
func (b badness) worst() float64 {
	if b.failed > 0 || len(b.finished) == 0 {
		return math.Inf(1)
	}
	return b.finished[len(b.finished)-1]
}

func (b badness) best() float64 {
	if len(b.finished) == 0 {
		return math.Inf(1)
	}
	return b.finished[0]
}

func (b badness) median() float64 {
	if m := median(b.finished, b.n()); m != nil {
		return *m
	}
	return math.Inf(1)
}

// beyond counts the runs that are worse than a limit.
func (b badness) beyond(limit float64) (n int) {
	for _, v := range b.finished {
		if v > limit {
			n++
		}
	}
	if limit < math.Inf(1) {
		n += b.failed
	}
	return n
}

// plain leaves the logarithms, for TwoSample, which takes what grows when things
// get worse.
func (b badness) plain() (values []float64) {
	for _, v := range b.finished {
		values = append(values, math.Exp(v))
	}
	return values
}

// value is what a badness stands for, in the metric's unit; nil for a run that
// failed.
func value(metric string, bad float64) *float64 {
	if higherIsBetter(metric) {
		bad = -bad
	}
	switch {
	case math.IsInf(bad, 0):
		return nil
	case bad <= math.Log(shortest): // values below it count as it, and were 0
		return new(float64)
	}
	return finite(math.Exp(bad))
}

// shift is an interval of the logarithm of new badness over old: above 0 is worse.
type shift struct {
	point, low, high float64
	known            bool // low and high
	p                float64
}

// shiftOf compares two samples that have no chance in common.
func shiftOf(old, fresh badness, seed uint64) shift {
	e := TwoSample(fresh.plain(), old.plain(), fresh.n(), old.n())
	s := shift{point: fresh.median() - old.median(), p: e.P}
	if e.Ratio != nil {
		s.point = math.Log(*e.Ratio)
	}
	if math.IsNaN(s.point) {
		s.point = 0 // neither finished often enough to have a median
	}
	s.low, s.high = math.Inf(-1), math.Inf(1)
	if e.Low != nil {
		s.low = math.Log(*e.Low)
	} else if e.Side > 0 { // wholly above, and yet no number
		s.low = math.Inf(1)
	}
	if e.High != nil {
		s.high = math.Log(*e.High)
	} else if e.Side < 0 {
		s.high = math.Inf(-1)
	}
	s.known = e.Low != nil || e.High != nil || e.Side != 0
	return s
}

// side is +1 where all of the interval is worse, -1 where all is better.
func (s shift) side() int {
	switch {
	case s.known && s.low > 0:
		return 1
	case s.known && s.high < 0:
		return -1
	}
	return 0
}

// exactShift compares samples without chance: there is a difference where the
// medians are apart, and no run of one lies between those of the other.
func exactShift(old, fresh badness) (s shift, differs bool) {
	a, b := old.median(), fresh.median()
	s = shift{point: b - a, p: 1, known: true}
	if math.IsNaN(s.point) {
		s.point = 0
	}
	s.low, s.high = s.point, s.point
	apart := old.worst() < fresh.best() || fresh.worst() < old.best()
	unlike := math.IsInf(a, 0) != math.IsInf(b, 0)
	return s, unlike || apart && math.Abs(math.Expm1(s.point)) > leastExact
}

// numbers writes the interval as ratios of the metric: new over old.
func (s shift) numbers(metric string) (point, low, high *float64) {
	if higherIsBetter(metric) {
		s.point, s.low, s.high = -s.point, -s.high, -s.low
	}
	point = ratio(s.point)
	if s.known {
		low, high = ratio(s.low), ratio(s.high)
	}
	return point, low, high
}

// sessions is what two studies in real time differ by though nothing has changed,
// beyond what their runs show: the machine's clock rate, its caches, where a
// program lies in memory. No claim in real time is smaller. See docs/compare.md for
// what was measured.
const sessions = 0.02

// resolutionOf is what two series of one cell differ by, in this folder, as a
// logarithm; the series are those of the comparison's first protocol.
func (h *half) resolutionOf(c lab.Cell, metric string) (reach float64, known bool) {
	again, ok := h.again[group(c)]
	if !ok {
		return 0, false
	}
	s, ok := h.known[armMetric{again, metric}]
	if !ok {
		first := again
		first.Arm = ""
		logs := pairUp(metricSeries(metric, h.runs[first]), metricSeries(metric, h.runs[again])).survivors()
		if len(logs) >= fewest {
			s = spanOf(logs, seedOf(h.Plan.Seed, name(first), lab.ArmAA, metric), Level)
		}
		h.known[armMetric{again, metric}] = s
	}
	return max(-s.low, s.high, 0), s.known
}

// metricSeries has one metric by block, as a logarithm; of runs that ended ok.
func metricSeries(metric string, runs []lab.Record) series {
	s := series{}
	for _, r := range runs {
		if b := badnessOf(metric, []lab.Record{r}); len(b.finished) > 0 {
			s[r.Run.Rep] = b.finished[0]
		}
	}
	return s
}
