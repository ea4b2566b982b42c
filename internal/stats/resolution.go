package stats

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// floor is how far apart two series of one cell are: no claim is smaller.
type floor struct {
	known bool
	reach float64 // of the logarithm of the ratio
	low   float64
	high  float64
}

// beyond says whether an effect is larger than what equal cells show.
func (f floor) beyond(log float64) bool { return !f.known || math.Abs(log) > f.reach }

// resolution compares a comparison's cell that is measured twice with itself.
func (s *study) resolution(cells []*Cell) (r Resolution, f floor, ok bool) {
	for _, c := range cells {
		again := c.Cell
		again.Arm = lab.ArmAA
		second, measured := s.series[again]
		if !measured || noRatio(c) != "" {
			continue
		}
		p := pairUp(s.series[c.Cell], second)
		r = resolutionOf(c)
		r.Blocks = len(p.logs)
		seed := seedOf(s.plan.Seed, name(c.Cell), lab.ArmAA)
		e := Paired(p.logs, seed)
		r.Ratio, r.Low, r.High = e.Ratio, e.Low, e.High
		if Exact(c.Cell) {
			r.Low, r.High = r.Ratio, r.Ratio
		}
		return r, s.floorOf(p, seed), true
	}
	return Resolution{}, floor{}, false
}

// floorOf takes the blocks in which both series ended ok: runs that failed leave
// no bound, and whether failures are chance is the test's own question.
func (s *study) floorOf(p pair, seed uint64) floor {
	both := p.survivors()
	if len(both) < fewest {
		return floor{}
	}
	i := spanOf(both, seed, Level)
	return floor{known: i.known, reach: max(-i.low, i.high, 0), low: i.low, high: i.high}
}

func resolutionOf(c *Cell) Resolution {
	return Resolution{
		Path: c.Path.Name, Load: c.Load.Name, Site: c.Site, Server: c.Stack.Server, Client: c.Stack.Client,
		CC: c.Stack.CC, TLS: c.Stack.TLS, InitCwnd: c.Stack.InitCwnd, Pacing: c.Stack.Pacing,
		Protocol: c.Protocol, Metric: lab.Duration,
	}
}
