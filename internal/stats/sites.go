package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// A cell is bound by the implementation when its time here is longer than protocol
// time by more than both of these, and the CPU time of both sides is at least
// boundShare of the excess.
const (
	boundExcess = 0.25
	boundTime   = 0.020 // s
	boundShare  = 0.5
)

// implementationBound compares a cell with its twin in virtual time, by medians.
// Where CPU time is not known of both sides nothing is said.
func implementationBound(here, protocol *Cell) bool {
	if protocol == nil {
		return false
	}
	mine, its := here.Statistic(lab.Duration).Median, protocol.Statistic(lab.Duration).Median
	client, server := here.Statistic(lab.CPUClient).Median, here.Statistic(lab.CPUServer).Median
	if mine == nil || its == nil || client == nil || server == nil {
		return false
	}
	excess := *mine - *its
	return excess > boundExcess**its && excess > boundTime && *client+*server >= boundShare*excess
}

// agreementLimit is how far, relative to protocol time, a cell's time here may be
// from it to count as agreeing.
const agreementLimit = 0.1

// agreements compares each site in real time with protocol time, by the medians of
// the cells that both have.
func (s *study) agreements() []Agreement {
	out := []Agreement{}
	for _, site := range lab.SiteNames() {
		a := Agreement{Site: site, Limit: agreementLimit}
		var excesses []float64
		for i := range s.cells {
			c := &s.cells[i]
			excess, ok := excessOf(c, s.twin(c))
			if c.Site != site || !ok {
				continue
			}
			excesses = append(excesses, excess)
			if math.Abs(excess) <= agreementLimit {
				a.Within++
			}
			if a.Worst == nil || math.Abs(excess) > math.Abs(*a.Worst) {
				a.Worst, a.Where = &excess, fmt.Sprintf("%s, %s, %s", c.Path.Name, c.Load.Name, c.Protocol)
			}
		}
		slices.SortFunc(excesses, cmp.Compare[float64])
		if a.Cells = len(excesses); a.Cells > 0 {
			a.Median = median(excesses, a.Cells)
			out = append(out, a)
		}
	}
	return out
}

// excessOf is the time here over protocol time, minus 1.
func excessOf(here, protocol *Cell) (excess float64, ok bool) {
	if protocol == nil {
		return 0, false
	}
	mine, its := here.Statistic(lab.Duration).Median, protocol.Statistic(lab.Duration).Median
	if mine == nil || its == nil || *its < shortest {
		return 0, false
	}
	return *mine / *its - 1, !math.IsInf(*mine / *its, 0)
}

// difference is the median time of a minus that of b, in s; nil where one is not
// defined.
func difference(a, b *Cell) *float64 {
	if a == nil || b == nil {
		return nil
	}
	x, y := a.Statistic(lab.Duration).Median, b.Statistic(lab.Duration).Median
	if x == nil || y == nil {
		return nil
	}
	return finite(*x - *y)
}

// parts splits a difference here into what protocol time has of it, and the rest.
func (s *study) parts(v *Verdict, a, b *Cell) {
	v.Difference = difference(a, b)
	v.ProtocolPart = difference(s.twin(a), s.twin(b))
	if v.Difference != nil && v.ProtocolPart != nil {
		rest := *v.Difference - *v.ProtocolPart
		v.MachinePart = finite(rest)
	} else {
		v.ProtocolPart = nil
	}
}
