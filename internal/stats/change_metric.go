package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// changeTest is one metric of a cell on its way to a claim.
type changeTest struct {
	metric     string
	old, fresh badness
	shift      shift
	// sure is the shift that claims and crossings go by: shift itself, or in real
	// time what is left of it when busy processors are allowed for.
	sure     shift
	floor    float64 // of the shift; no claim is smaller
	compared bool    // there is a shift
	asked    bool    // a claim is wanted
	open     bool    // it is to be tested
	test     test
}

// measure takes each metric that was measured, and the counts of runs that ended
// ok; what is to be tested stays open.
func (p *pairing) measure(asked []string) {
	for _, m := range lab.Metrics() {
		t, c, ok := p.metric(m)
		if !ok {
			continue
		}
		t.asked = slices.Contains(asked, m.Metric)
		t.sure = t.shift
		if t.asked && t.compared && p.realTime() {
			t.sure = p.allowForWaits(t)
		}
		if c.Change == "" {
			t.open = t.asked
			c.Change = Untested
		}
		p.add(t, c)
	}
	if t, c, ok := p.success(); ok {
		t.asked, t.open = true, c.Change == ""
		p.add(t, c)
	}
}

func (p *pairing) add(t changeTest, c MetricChange) {
	p.tests = append(p.tests, t)
	p.change.Metrics = append(p.change.Metrics, c)
}

// metric compares one metric. Where nothing is left to test its change is set.
func (p *pairing) metric(m lab.Sample) (changeTest, MetricChange, bool) {
	old, fresh := p.old.runs[p.before.Cell], p.fresh.runs[p.then.Cell]
	t := changeTest{metric: m.Metric, old: badnessOf(m.Metric, old), fresh: badnessOf(m.Metric, fresh)}
	c := MetricChange{Metric: m.Metric, Unit: m.Unit}
	if !t.old.measured(old) && !t.fresh.measured(fresh) {
		return t, c, m.Metric == lab.Duration && p.unobserved(&c)
	}
	c.Old, c.New = value(m.Metric, t.old.median()), value(m.Metric, t.fresh.median())
	c.OldWorst, c.NewWorst = value(m.Metric, t.old.slowest()), value(m.Metric, t.fresh.slowest())
	switch {
	case p.change.Why != "":
		c.Change, c.Why = NotComparable, p.change.Why
	case !t.old.measured(old) || !t.fresh.measured(fresh):
		c.Change, c.Why = NoVerdict, "it was measured in one of the folders only"
	case p.change.Exact:
		t.compared = true
		t.exact(&c)
	default:
		t.compared = true
		t.shift = shiftOf(t.old, t.fresh, p.seed(m.Metric))
		c.Ratio, c.Low, c.High = t.shift.numbers(m.Metric)
		t.test = test{p: t.shift.p, least: leastRankSum(t.fresh.n(), t.old.n())}
		t.floor, c.Resolution = p.floor(m.Metric)
	}
	if none(c.Old) || none(c.New) {
		c.Ratio, c.Low, c.High = nil, nil, nil // to nothing there is no ratio
	}
	return t, c, true
}

func none(v *float64) bool { return v != nil && *v == 0 }

// seed is that of a metric's bootstraps.
func (p *pairing) seed(metric string) uint64 {
	return seedOf(p.old.Plan.Seed^p.fresh.Plan.Seed, name(p.then.Cell), metric)
}

// unobserved is the change of a cell of which no run counts.
func (p *pairing) unobserved(c *MetricChange) bool {
	c.Change, c.Why = NoVerdict, "no run of it counts: the lab spoilt all"
	if p.change.Why != "" {
		c.Change, c.Why = NotComparable, p.change.Why
	}
	return true
}

// slowest is the worst of the runs that finished.
func (b badness) slowest() float64 {
	if len(b.finished) == 0 {
		return math.Inf(1)
	}
	return b.finished[len(b.finished)-1]
}

func (t *changeTest) exact(c *MetricChange) {
	s, differs := exactShift(t.old, t.fresh)
	t.shift = s
	c.Change = NoDifference
	switch {
	case c.Old == nil && c.New == nil:
		c.Change, c.Why = NoVerdict, "in neither folder did it finish often enough to have a median"
		return
	case differs && s.point > 0:
		c.Change = Worse
	case differs:
		c.Change = Better
	}
	c.Ratio, c.Low, c.High = s.numbers(t.metric)
}

// floor is below what size nothing is claimed.
func (p *pairing) floor(metric string) (floor float64, resolution *float64) {
	known := false
	for _, side := range []struct {
		half *half
		cell lab.Cell
	}{{p.old, p.before.Cell}, {p.fresh, p.then.Cell}} {
		if reach, ok := side.half.resolutionOf(side.cell, metric); ok {
			floor, known = max(floor, reach), true
		}
	}
	if p.then.Site != lab.Virtual {
		floor, known = max(floor, math.Log1p(sessions)), true
	}
	if known {
		resolution = ratio(floor)
	}
	return floor, resolution
}

// success compares how many runs ended ok; false where all did.
func (p *pairing) success() (changeTest, MetricChange, bool) {
	t := changeTest{metric: Success}
	a, n := endedOK(p.old.runs[p.before.Cell])
	b, m := endedOK(p.fresh.runs[p.then.Cell])
	if n == 0 || m == 0 || a == n && b == m {
		return t, MetricChange{}, false
	}
	x, y := float64(a)/float64(n), float64(b)/float64(m)
	c := MetricChange{Metric: Success, Unit: "1", Old: &x, New: &y, Why: fmt.Sprintf("%d of %d runs ended ok, before %d of %d", b, m, a, n)}
	if x > 0 {
		r := y / x
		c.Ratio = &r
	}
	t.shift.point = x - y
	t.test = test{p: fisher(a, n-a, b, m-b), least: leastFisher(a+b, n, m)}
	if p.change.Why != "" {
		c.Change, c.Why = NotComparable, p.change.Why
	} else if p.change.Exact {
		c.Change = NoDifference
		if x > y {
			c.Change = Worse
		} else if x < y {
			c.Change = Better
		}
	}
	return t, c, true
}

func endedOK(runs []lab.Record) (ok, n int) {
	for _, r := range runs {
		if r.Outcome == lab.OK {
			ok++
		}
	}
	return ok, len(runs)
}

// decideChanges tests what is open, as one family.
func decideChanges(both []*pairing) {
	type place struct {
		p *pairing
		i int
	}
	var open []place
	var tests []test
	durations := 0
	for _, p := range both {
		for i, t := range p.tests {
			if !t.open {
				continue
			}
			open, tests = append(open, place{p, i}), append(tests, t.test)
			if t.metric != Success || t.test.least <= Level {
				durations++
			}
		}
	}
	needed := runsNeeded(durations)
	carried, adjusted := family(tests)
	for k, o := range open {
		t, c := &o.p.tests[o.i], &o.p.change.Metrics[o.i]
		switch {
		case carried[k]:
			c.P = &adjusted[k]
			t.conclude(c, adjusted[k] <= Level)
		case t.metric == Success: // whatever they had shown, so few failures could be chance
			t.conclude(c, false)
		default:
			c.Change, c.Needed = NoVerdict, &needed
			c.Why = fmt.Sprintf("too few runs: %d and %d, and a claim takes %d of each in this comparison", t.old.n(), t.fresh.n(), needed)
		}
	}
}

// conclude claims a change, or does not.
func (t *changeTest) conclude(c *MetricChange, rejects bool) {
	side, point := t.sure.side(), t.sure.point
	if t.metric == Success {
		side, point = sign(t.shift.point), t.shift.point
	}
	within := math.Abs(point) <= t.floor && t.metric != Success
	c.Change = NoDifference
	switch {
	case rejects && side > 0 && point > 0 && !within:
		c.Change = Worse
	case rejects && side < 0 && point < 0 && !within:
		c.Change = Better
	case rejects && side != 0 && within:
		c.Why = fmt.Sprintf("the change is within what equal cells differ by (a ratio of %s)", number(*c.Resolution))
	case rejects && side == 0 && t.shift.side() != 0:
		c.Why = "programs waited longer for a processor in one of the folders, which may account for it"
	}
}

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// overall is what became of a cell: worse where anything claimed is, else better
// where anything is. Where there is no chance, what the load takes decides.
func (p *pairing) overall() string {
	if p.change.Why != "" {
		return NotComparable
	}
	seen := map[string]bool{}
	for i, c := range p.change.Metrics {
		if p.tests[i].asked {
			seen[c.Change] = true
		}
	}
	for _, change := range []string{Worse, Better, NoVerdict, NoDifference} {
		if seen[change] {
			return change
		}
	}
	return NoVerdict
}
