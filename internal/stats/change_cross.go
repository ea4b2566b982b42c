package stats

import (
	"fmt"
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// cross looks at one threshold in every cell.
func cross(t Threshold, both []*pairing, strict bool) ThresholdCount {
	count := ThresholdCount{Threshold: t.Text}
	holds := t.farRuns(both)
	for i, p := range both {
		var state, why string
		switch t.Stat {
		case OfFailures:
			state, why = t.countFailures(p)
		case OfWorst:
			state, why = t.crossWorst(p, holds[i], strict)
		default:
			state, why = t.crossMedian(p, strict)
		}
		if state == "" {
			continue
		}
		count.Looked++
		switch state {
		case Crossed:
			count.Crossed++
		case MayHave:
			count.MayHave++
		}
		if state != NotCrossed {
			p.change.Crossings = append(p.change.Crossings, Crossing{t.Text, t.Metric, state, why})
		}
	}
	return count
}

// find returns a metric's place in a pairing, -1 where there is no comparison of
// it: it was not measured in both folders, or is not comparable.
func (p *pairing) find(metric string) int {
	for i, c := range p.change.Metrics {
		if c.Metric == metric && p.tests[i].compared {
			return i
		}
	}
	return -1
}

// crossMedian is crossed where a change is claimed, and its whole interval lies
// beyond the threshold. An estimate beyond it may be chance.
func (t Threshold) crossMedian(p *pairing, strict bool) (state, why string) {
	i := p.find(t.Metric)
	if i < 0 {
		return "", ""
	}
	test, c := p.tests[i], p.change.Metrics[i]
	worse, most := t.worsening()
	claim, low, point := c.Change == Worse, test.sure.low, test.shift.point
	if !worse {
		claim, low, point = c.Change == Better, -test.sure.high, -point
	}
	if p.change.Exact && !claim {
		return NotCrossed, ""
	}
	why = fmt.Sprintf("%s %s", t.Metric, c.words())
	switch {
	case claim && low > most, strict && point > most:
		return Crossed, why
	case point > most && c.Why != "":
		return MayHave, why + "; " + c.Why
	case point > most:
		return MayHave, why + "; chance could have done that"
	}
	return NotCrossed, ""
}

// words are the medians, and the ratio with its interval.
func (c MetricChange) words() string {
	s := fmt.Sprintf("%s → %s", quantity(c.Metric, c.Old), quantity(c.Metric, c.New))
	if c.Ratio != nil {
		s += fmt.Sprintf(" (new/old %s", number(*c.Ratio))
		if c.Low != nil && c.High != nil && *c.Low < *c.High {
			s += fmt.Sprintf(", %s to %s", number(*c.Low), number(*c.High))
		}
		s += ")"
	}
	return s
}

func quantity(metric string, v *float64) string {
	switch {
	case v == nil:
		return "not finished"
	case metric == lab.Goodput:
		return fmt.Sprintf("%.3g Mbit/s", *v/1e6)
	case metric == lab.RoundTrips:
		return fmt.Sprintf("%.3g", *v)
	case metric == Success:
		return fmt.Sprintf("%.0f %%", *v*100)
	}
	return seconds(*v)
}

// crossWorst is crossed where the worst run is beyond the threshold, and so many
// runs are that chance does it with a probability of at most Level over all cells.
func (t Threshold) crossWorst(p *pairing, holds, strict bool) (state, why string) {
	i := p.find(t.Metric)
	if i < 0 {
		return "", ""
	}
	k, m, n, limit := t.farther(p.tests[i])
	if k == 0 || p.change.Exact && math.Abs(p.tests[i].old.worst()-p.tests[i].fresh.worst()) < math.Log1p(leastExact) {
		return NotCrossed, ""
	}
	c := p.change.Metrics[i]
	why = fmt.Sprintf("worst %s %s → %s", t.Metric, quantity(t.Metric, c.OldWorst), quantity(t.Metric, c.NewWorst))
	if p.tests[i].fresh.failed > 0 {
		why += fmt.Sprintf(", and %d did not end ok", p.tests[i].fresh.failed)
	}
	where := "new"
	if worse, _ := t.worsening(); !worse {
		where = "old"
	}
	why += fmt.Sprintf("; %d of %d runs of the %s folder are beyond %s", k, m, where, quantity(t.Metric, value(t.Metric, limit)))
	if p.change.Exact || holds || strict {
		return Crossed, why
	}
	return MayHave, fmt.Sprintf("%s; with %d and %d runs chance could have done that", why, n, m)
}

// farther counts the runs of the folder that is to be no worse which lie beyond
// the other's worst by more than the threshold, of m, with n in the other.
func (t Threshold) farther(c changeTest) (k, m, n int, limit float64) {
	worse, most := t.worsening()
	from, to := c.old, c.fresh
	if !worse {
		from, to = c.fresh, c.old
	}
	limit = from.worst() + most
	return to.beyond(limit), to.n(), from.n(), limit
}

// farRuns says for each cell whether the runs beyond the worst are more than
// chance, corrected for the number of cells.
func (t Threshold) farRuns(both []*pairing) []bool {
	holds := make([]bool, len(both))
	if t.Stat != OfWorst {
		return holds
	}
	var tests []test
	var at []int
	for i, p := range both {
		if j := p.find(t.Metric); j >= 0 && !p.change.Exact {
			k, m, n, _ := t.farther(p.tests[j])
			tests, at = append(tests, test{p: exceed(k, m, n), least: exceed(m, m, n)}), append(at, i)
		}
	}
	carried, adjusted := family(tests)
	for i, a := range at {
		holds[a] = carried[i] && adjusted[i] <= Level
	}
	return holds
}

// countFailures compares counts as they are. Runs that the lab spoilt are not
// among them, nor is a cell that both folders' programs do not support.
func (t Threshold) countFailures(p *pairing) (state, why string) {
	if p.before.never(lab.Unsupported) && p.then.never(lab.Unsupported) {
		return "", ""
	}
	okOld, old := endedOK(p.old.runs[p.before.Cell])
	okNew, fresh := endedOK(p.fresh.runs[p.then.Cell])
	if fresh == 0 || old == 0 && !t.Total {
		return "", ""
	}
	failed := fresh - okNew
	if t.Total {
		if failed <= t.Count {
			return NotCrossed, ""
		}
		return Crossed, fmt.Sprintf("%d of %d runs did not end ok", failed, fresh)
	}
	// The old count is taken as if there had been as many runs.
	allowed := float64(old-okOld)*float64(fresh)/float64(old) + float64(t.Count)
	if float64(failed) <= allowed+1e-9 {
		return NotCrossed, ""
	}
	return Crossed, fmt.Sprintf("%d of %d runs did not end ok, before %d of %d", failed, fresh, old-okOld, old)
}
