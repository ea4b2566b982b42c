package stats

import (
	"fmt"
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// Success is the metric of verdicts about how many runs ended ok: the ratio is that
// of the counts, and faster means that more did.
const Success = "success"

// trial is a verdict on its way.
type trial struct {
	v    Verdict
	a, b *Cell
	pair pair
	// settled: the verdict is made, nothing is to be tested.
	settled bool
	test    test
	span    span
	floor   floor
}

// verdicts compares every two protocols of every comparison, and corrects for
// their number.
func (s *study) verdicts() (verdicts []Verdict, resolutions []Resolution, warnings []string) {
	verdicts, resolutions = []Verdict{}, []Resolution{}
	var trials []*trial
	for _, cells := range Comparisons(s.cells) {
		r, f, ok := s.resolution(cells)
		if ok {
			resolutions = append(resolutions, r)
		}
		for i, a := range cells {
			for _, b := range cells[i+1:] {
				trials = append(trials, s.duration(a, b, f))
				if t := s.success(a, b); t != nil {
					trials = append(trials, t)
				}
			}
		}
	}
	s.decide(trials)
	for _, t := range trials {
		verdicts = append(verdicts, t.v)
	}
	return verdicts, resolutions, warnNoFloor(trials)
}

// warnNoFloor counts the claims that no second series of a cell stands behind.
func warnNoFloor(trials []*trial) []string {
	n := 0
	for _, t := range trials {
		claimed := t.v.Verdict == Faster || t.v.Verdict == Slower
		if claimed && t.v.Metric == lab.Duration && !t.v.Exact && !t.floor.known {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of the differences claimed could not be held against what a cell measured twice differs by: no arm %q with %d blocks", n, lab.ArmAA, fewest)}
}

// decide tests what is not settled, as one family. That of durations comes first.
func (s *study) decide(trials []*trial) {
	var open []*trial
	var tests []test
	first, second := 0, 0 // tests that could show something, if there were blocks enough
	for _, t := range trials {
		if t.settled {
			continue
		}
		open, tests = append(open, t), append(tests, t.test)
		if !t.test.second {
			first++
		} else if t.test.least <= Level {
			second++
		}
	}
	carried, adjusted := family(tests)
	size := 0
	for _, c := range carried {
		if c {
			size++
		}
	}
	for i, t := range open {
		switch {
		case carried[i]:
			t.v.P = &adjusted[i]
			t.conclude(adjusted[i] <= Level, Level/float64(size))
		case !t.test.second:
			t.tooFew(blocksNeeded(first))
		case t.test.least <= Level:
			t.tooFew(blocksNeeded(first + second))
		case len(t.pair.logs) < blocksNeeded(first):
			t.tooFew(blocksNeeded(first))
		default:
			t.conclude(false, 0)
		}
	}
}

func (t *trial) tooFew(needed int) {
	t.v.Verdict, t.v.Needed = NoVerdict, &needed
	t.v.Why = fmt.Sprintf("too few runs: %s, and a claim takes %d in this study", blocks(len(t.pair.logs)), needed)
	if t.v.Metric == Success {
		t.v.Why = t.counts() + "; " + t.v.Why
	}
}

// duration starts the verdict about two cells' durations.
func (s *study) duration(a, b *Cell, f floor) *trial {
	t := s.trial(a, b, lab.Duration)
	t.floor = f
	s.parts(&t.v, a, b)
	t.v.Terms = s.terms(a, b)
	if noRatio(a)+noRatio(b) == "" && (!Exact(a.Cell) || len(t.pair.logs) == 0) {
		t.measure(seedOf(s.plan.Seed, name(a.Cell), name(b.Cell)))
	}
	switch why := incomparable(a, b); {
	case why != "":
		t.settle(NotComparable, why)
	case t.pair.okA+t.pair.okB == 0 && len(t.pair.logs) > 0:
		t.settle(NoVerdict, fmt.Sprintf("neither finished in any of %s", blocks(len(t.pair.logs))))
	case Exact(a.Cell) && len(t.pair.logs) > 0:
		t.exact()
	}
	return t
}

func (s *study) trial(a, b *Cell, metric string) *trial {
	t := &trial{a: a, b: b, pair: pairUp(s.series[a.Cell], s.series[b.Cell])}
	t.v = Verdict{
		Path: a.Path.Name, Load: a.Load.Name, Site: a.Site,
		Server: a.Stack.Server, Client: a.Stack.Client, CC: a.Stack.CC,
		TLS: a.Stack.TLS, InitCwnd: a.Stack.InitCwnd, Pacing: a.Stack.Pacing,
		A: a.Protocol, B: b.Protocol, Metric: metric, Blocks: len(t.pair.logs), Terms: []Term{},
	}
	return t
}

// measure takes the interval and the test of paired logarithms.
func (t *trial) measure(seed uint64) {
	if len(t.pair.logs) == 0 {
		t.test = test{p: 1, least: 1}
		return
	}
	t.span = spanOf(t.pair.logs, seed, Level)
	t.v.Ratio = ratio(t.span.middle)
	if t.span.known {
		t.v.Low, t.v.High = ratio(t.span.low), ratio(t.span.high)
	}
	t.test = test{p: signedRank(t.pair.logs), least: leastSignedRank(len(t.pair.logs))}
}

func (t *trial) settle(verdict, why string) {
	t.settled, t.v.Verdict, t.v.Why = true, verdict, why
}

// conclude makes the verdict of a test that was carried out. A claim needs that it
// rejects, an interval that agrees, and an effect beyond what two series of the
// same cell showed.
func (t *trial) conclude(rejects bool, level float64) {
	if t.v.Metric == Success {
		t.concludeSuccess(rejects)
		return
	}
	side := t.span.side()
	beyond := t.floor.beyond(t.span.middle)
	t.v.Verdict = NoDifference
	switch {
	case rejects && side < 0 && t.span.middle < 0 && beyond:
		t.v.Verdict = Faster
	case rejects && side > 0 && t.span.middle > 0 && beyond:
		t.v.Verdict = Slower
	default:
		t.v.Smallest = t.smallest(level)
	}
	t.v.Why = t.why(rejects && side != 0 && !beyond)
}

// smallest is the smallest ratio above 1 that would have been claimed, whatever
// the other verdicts: at the level that Holm's first step asks for.
func (t *trial) smallest(level float64) *float64 {
	w := newWalsh(t.pair.logs)
	k := critical(len(t.pair.logs), level)
	if k == 0 {
		return nil
	}
	low, high := w.bounds(k)
	s := span{middle: t.span.middle, low: min(low, t.span.low), high: max(high, t.span.high), known: true}
	reach := s.reach()
	if t.floor.known {
		reach = max(reach, t.floor.reach)
	}
	return ratio(reach)
}

// leastExact is how far two medians must be from each other, relative to the
// second, to differ where there is no chance: a clock's last digits are no
// difference.
const leastExact = 0.001

// exact compares two cells without chance: medians that differ, and no run of one
// between those of the other, are a difference.
func (t *trial) exact() {
	t.v.Exact = true
	x, y := t.a.Statistic(lab.Duration), t.b.Statistic(lab.Duration)
	switch {
	case x.Median == nil && y.Median == nil:
		t.settle(NoVerdict, "neither finished often enough to have a median")
	case x.Median == nil || y.Median == nil:
		t.v.Ratio, t.v.Low, t.v.High = nil, nil, nil
		t.settle(Faster, "")
		if x.Median == nil {
			t.v.Verdict = Slower
		}
		t.v.Why = t.why(false)
	default:
		r := *x.Median / *y.Median
		t.v.Ratio = finite(r)
		t.v.Low, t.v.High = t.v.Ratio, t.v.Ratio
		t.settle(NoDifference, "")
		apart := !t.a.failed() && *x.Worst < *y.Best || !t.b.failed() && *y.Worst < *x.Best
		if math.Abs(r-1) > leastExact && apart {
			t.v.Verdict = Faster
			if r > 1 {
				t.v.Verdict = Slower
			}
		}
		t.v.Why = t.why(false)
	}
}

// failed says that some run did not end ok, and not by the lab's fault: the worst of
// those that did is not the cell's worst.
func (c *Cell) failed() bool { return c.Outcomes[lab.OK]+c.Outcomes[lab.Invalid] < c.Runs }

// success starts the verdict about how many runs ended ok; nil where all did.
func (s *study) success(a, b *Cell) *trial {
	t := s.trial(a, b, Success)
	if p := t.pair; len(p.logs) == 0 || p.onlyA+p.onlyB+p.bothFailed == 0 {
		return nil
	}
	if t.pair.okB > 0 {
		r := float64(t.pair.okA) / float64(t.pair.okB)
		t.v.Ratio = &r
	}
	n := t.pair.onlyA + t.pair.onlyB
	t.test = test{p: signTest(t.pair.onlyA, t.pair.onlyB), least: leastSignedRank(n), second: true}
	if why := incomparable(a, b); why != "" {
		t.settle(NotComparable, why)
	} else if Exact(a.Cell) {
		t.v.Exact = true
		t.settle(NoDifference, "")
		t.concludeSuccess(n > 0)
	}
	return t
}

func (t *trial) concludeSuccess(rejects bool) {
	t.v.Verdict = NoDifference
	switch p := t.pair; {
	case rejects && p.onlyA > p.onlyB:
		t.v.Verdict = Faster
	case rejects && p.onlyB > p.onlyA:
		t.v.Verdict = Slower
	}
	t.v.Why = t.whySuccess()
}
