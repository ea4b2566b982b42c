package stats

import (
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// allowForWaits takes away from the slower folder what its programs waited for a
// processor beyond what is usual in the other: what is left of the shift then is
// not the machine's having been busy. In the folder that is faster nothing is
// changed.
//
// What a program waited is summed over its threads, and both programs' waits are
// added up, so that it is as much as waiting can have cost, or more. It is careful,
// not exact: a program that now has more to wait for, by itself, looks better than
// it is.
func (p *pairing) allowForWaits(t changeTest) shift {
	old, fresh := p.old.runs[p.before.Cell], p.fresh.runs[p.then.Cell]
	s := t.shift
	switch {
	case s.point == 0 || t.metric == lab.RoundTrips:
		return s
	case !waitsCount(t.metric):
		if a, b := usualWait(old), usualWait(fresh); max(a, b) > busier*min(a, b)+longWait/2 {
			return shift{point: s.point, low: math.Inf(-1), high: math.Inf(1)}
		}
		return s
	case s.point > 0:
		less := shiftOf(t.old, badnessOf(t.metric, withoutWaits(fresh, usualWait(old))), p.seed(t.metric))
		s.low, s.point = min(s.low, less.low), max(min(s.point, less.point), 0)
		s.known = s.known && less.known
		return s
	}
	less := shiftOf(badnessOf(t.metric, withoutWaits(old, usualWait(fresh))), t.fresh, p.seed(t.metric))
	s.high, s.point = max(s.high, less.high), min(max(s.point, less.point), 0)
	s.known = s.known && less.known
	return s
}

// busier is how many times longer the usual wait of a folder must be than the
// other's, and half of longWait more, for nothing to be claimed of processor time:
// it grows on a busy machine, and no wait tells by how much.
const busier = 1.5

// waitsCount says that waiting for a processor makes a metric worse.
func waitsCount(metric string) bool { return isTime(metric) || metric == lab.Goodput }

// waited is for how long a run's programs waited, in s; 0 where that is not known.
func waited(r lab.Record) (s float64) {
	for _, side := range []lab.Side{r.Server, r.Client} {
		if side.Waited != nil {
			s += *side.Waited
		}
	}
	return s
}

// usualWait is the median over the runs that ended ok.
func usualWait(runs []lab.Record) float64 {
	var waits []float64
	for _, r := range runs {
		if r.Outcome == lab.OK {
			waits = append(waits, waited(r))
		}
	}
	slices.Sort(waits)
	if m := median(waits, len(waits)); m != nil {
		return *m
	}
	return 0
}

// leastLeft is which part of a value is left at least when waits are taken away.
const leastLeft = 0.001

// withoutWaits returns the runs with what they waited beyond the usual taken away
// from their times, and their goodput as if the load had taken so much less.
func withoutWaits(runs []lab.Record, usual float64) []lab.Record {
	out := slices.Clone(runs)
	for i, r := range runs {
		excess := max(waited(r)-usual, 0)
		out[i].Samples = slices.Clone(r.Samples)
		for j, s := range r.Samples {
			if s.Value == nil || !waitsCount(s.Metric) || math.IsNaN(*s.Value) {
				continue
			}
			v := *s.Value
			if s.Metric != lab.Goodput {
				v = max(v-excess, leastLeft*v)
			} else if d := r.Value(lab.Duration); d != nil && *d > 0 {
				v *= *d / max(*d-excess, leastLeft**d)
			}
			out[i].Samples[j].Value = &v
		}
	}
	return out
}
