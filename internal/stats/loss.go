package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// lossSigmas is how many standard deviations the loss that the witness saw may
// be from what was asked.
const lossSigmas = 4

// mostJoined is the largest number of wire packets that segmentation offload
// joins: 64 KiB of segments of 1448 bytes.
const mostJoined = 46

// LossVariance is the variance of the share of packets lost by chance among n in
// a row, times n, for large n. It is share × (1 − share) where each is lost on
// its own; losses that come together make it larger.
func LossVariance(l lab.Loss) float64 {
	p := l.Mean()
	variance := p * (1 - p)
	switch g := l.Gilbert; {
	case g != lab.Gilbert{}:
		if stay := 1 - g.P - g.R; stay < 1 { // the autocovariance is c × stay^lag
			bad := g.P / (g.P + g.R)
			c := bad * (1 - bad) * (g.Bad - g.Good) * (g.Bad - g.Good)
			variance += 2 * c * stay / (1 - stay)
		}
	case l.Burst > 1 && p > 0:
		// By renewal: a packet outside a burst begins one with chance q, which
		// takes and loses k packets.
		k := float64(l.Burst)
		q := p / (k*(1-p) + p)
		variance = (q*k*k*(1-p)*(1-p) + (1-q)*p*p) / (q*k + 1 - q)
	}
	if l.Super {
		variance *= mostJoined
	}
	return variance
}

// lossKey names what is compared.
type lossKey struct {
	path      lab.Path
	site      lab.SiteName
	direction lab.Direction
}

// seen is what the witness saw of one key.
type seen struct {
	packets, lost int
	expected      float64
	lengths       map[uint64][]float64 // packets of each run, by the seed of its fates
}

// WarnLoss names the paths on which the witness saw another share of packets
// lost by chance than was asked for, by more than four standard deviations: then
// the link was not what the study claims. Attempts that do not count are left
// out.
//
// The fate of the nth packet follows from seed, direction and n. So the runs of
// one seed share their losses, and are no independent evidence: the variance is
// of the packets that they have in common.
func WarnLoss(records []lab.Record) (out []string) {
	all := map[lossKey]*seen{}
	for _, r := range records {
		if r.Outcome == lab.Invalid {
			continue
		}
		for d, way := range map[lab.Direction]lab.WireWay{lab.Up: r.Wire.Up, lab.Down: r.Wire.Down} {
			key := lossKey{r.Run.Cell.Path, r.Run.Cell.Site, d}
			if key.path.Way(d).Loss.ECN {
				continue // some are marked instead
			}
			if key.path.Way(d).Limit > 0 && way.Drops[string(lab.DropNetem)] > 0 {
				continue // netem counts those for its limit as well
			}
			if all[key] == nil {
				all[key] = &seen{lengths: map[uint64][]float64{}}
			}
			all[key].add(r.Run.Seed, key.path.Way(d).Loss, way)
		}
	}
	for key, s := range all {
		if w := s.warn(key); w != "" {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}

// beforeLoss are the drops of packets that never came to the chance of loss.
var beforeLoss = []lab.Reason{lab.DropNAT, lab.DropMTU, lab.DropRule, lab.DropReject, lab.DropOutage}

func (s *seen) add(seed uint64, l lab.Loss, w lab.WireWay) {
	n := w.Packets
	for _, reason := range beforeLoss {
		n -= w.Drops[string(reason)]
	}
	s.packets += n
	s.lost += w.Drops[string(lab.DropLoss)] + w.Drops[string(lab.DropNetem)]
	s.expected += expectedLoss(l, n)
	s.lengths[seed] = append(s.lengths[seed], float64(n))
}

// expectedLoss is how many of a run's first n packets are lost on average. The
// Gilbert–Elliott model begins in the good state, which a short run notices.
func expectedLoss(l lab.Loss, n int) float64 {
	g := l.Gilbert
	if g == (lab.Gilbert{}) || g.P+g.R == 0 {
		return l.Mean() * float64(n)
	}
	stay := 1 - g.P - g.R
	bad := g.P / (g.P + g.R)
	late := (1 - math.Pow(stay, float64(n))) / (1 - stay) // packets by which the bad state comes late
	return l.Mean()*float64(n) - bad*(g.Bad-g.Good)*late
}

func (s *seen) warn(key lossKey) string {
	l := key.path.Way(key.direction).Loss
	var common float64
	for _, lengths := range s.lengths {
		common += inCommon(lengths)
	}
	// Half a packet is for the steps in which a count can be.
	tolerance := lossSigmas*math.Sqrt(LossVariance(l)*common) + 0.5
	if l.Mean() == 0 {
		tolerance = 0
	}
	if s.packets == 0 || math.Abs(float64(s.lost)-s.expected) <= tolerance {
		return ""
	}
	n := float64(s.packets)
	return fmt.Sprintf("path %s, %s: the witness saw %s of %d packets %s lost by chance, but %s ± %s was to be expected (%d standard deviations): the path was not what it claims",
		key.path.Name, key.site, percent(float64(s.lost)/n), s.packets, key.direction,
		percent(s.expected/n), percent(tolerance/n), lossSigmas)
}

// inCommon sums over all pairs of runs the packets whose fates they share: each
// pair has those of the shorter one.
func inCommon(lengths []float64) (sum float64) {
	slices.SortFunc(lengths, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, n := range lengths {
		sum += n * float64(2*i+1)
	}
	return sum
}

func percent(p float64) string { return fmt.Sprintf("%.3g %%", p*100) }
