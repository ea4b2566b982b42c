package gauge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// sigmas is how many standard deviations chance may take.
const sigmas = 3

// timeTolerance is by how much a median delay of one way may miss, in s: what a
// machine that others use as well adds. A quiet one is far below.
const timeTolerance = 1e-3

// fewest is how many values a statistic needs.
const fewest = 10

// judgeDelay judges the one-way delays of probes of an IP size, of which sent
// were sent.
func judgeDelay(d lab.Direction, w lab.Way, size, sent int, delays []float64) []Check {
	g := delayGrid(w)
	extra := serialisation(w, size)
	asked := g.quantile(0.5) + extra
	if len(delays) < fewest {
		return []Check{tooFew(Delay, d.String(), "s", asked, len(delays), sent, size, w)}
	}
	s := sorted(delays)
	note := fmt.Sprintf("least %s, p99 %s, most %s", ms(s[0]), ms(quantile(s, 0.99)), ms(s[len(s)-1]))
	if why := obstacle(w); w.Trace != (lab.Trace{}) {
		return []Check{unchecked(Delay, d.String(), "s", math.NaN(), quantile(s, 0.5), len(s), why)}
	}
	n := effective(len(s), w.Jitter.Correlation)
	checks := []Check{judge(Delay, d.String(), "s", asked, quantile(s, 0.5),
		timeTolerance+g.quantileError(0.5, n), len(s), note)}
	if w.Jitter == (lab.Jitter{}) {
		return checks
	}
	mean, sd, kurtosis := g.moments()
	gotMean, gotSD, _ := moments(s)
	checks = append(checks,
		judge(JitterMean, d.String(), "s", mean+extra, gotMean, timeTolerance+sigmas*sd/math.Sqrt(n), len(s), ""),
		judge(JitterSD, d.String(), "s", sd, gotSD,
			timeTolerance/2+sd*(0.03+sigmas*math.Sqrt((kurtosis-1)/(4*n))), len(s), ""))
	for _, q := range []struct {
		name      string
		at        float64
		tolerance float64
	}{{JitterLow, 0.1, timeTolerance}, {JitterHigh, 0.9, timeTolerance}, {JitterTail, 0.99, 3 * timeTolerance}} {
		checks = append(checks, judge(q.name, d.String(), "s", g.quantile(q.at)+extra, quantile(s, q.at),
			q.tolerance+g.quantileError(q.at, n), len(s), ""))
	}
	return checks
}

// judgeRTT judges round trips of probes of an IP size.
func judgeRTT(p lab.Path, size, sent int, trips []float64) Check {
	up, down := delayGrid(p.Up), delayGrid(p.Down)
	upMean, upSD, _ := up.moments()
	downMean, downSD, _ := down.moments()
	asked := upMean + downMean + serialisation(p.Up, size) + serialisation(p.Down, size)
	if len(trips) < fewest {
		return tooFew(RTT, Both, "s", asked, len(trips), sent, size, p.Up, p.Down)
	}
	s := sorted(trips)
	note := fmt.Sprintf("least %s, p99 %s, most %s", ms(s[0]), ms(quantile(s, 0.99)), ms(s[len(s)-1]))
	got := quantile(s, 0.5)
	tolerance := 2 * timeTolerance
	if up.varies() || down.varies() {
		got, _, _ = moments(s)
		n := effective(len(s), max(p.Up.Jitter.Correlation, p.Down.Jitter.Correlation))
		tolerance += sigmas * math.Hypot(upSD, downSD) / math.Sqrt(n)
		note = "mean; " + note
	}
	for _, w := range []lab.Way{p.Up, p.Down} {
		if w.Trace != (lab.Trace{}) {
			return unchecked(RTT, Both, "s", math.NaN(), got, len(s), obstacle(w))
		}
	}
	return judge(RTT, Both, "s", asked, got, tolerance, len(s), note)
}

// effective is how many independent values are worth n whose autocorrelation is
// r^lag.
func effective(n int, r float64) float64 { return float64(n) * (1 - r) / (1 + r) }

// quantileError is how far a quantile of n values may be from the
// distribution's by chance.
func (g grid) quantileError(q, n float64) float64 {
	k := sigmas * math.Sqrt(q*(1-q)/n)
	middle := g.quantile(q)
	return max(g.quantile(q+k)-middle, middle-g.quantile(q-k))
}

// judgeLoss judges the share of lost datagrams and the length of their runs.
func judgeLoss(d lab.Direction, w lab.Way, m lossModel, share, run string, s *series) []Check {
	lost := s.lost()
	lengths := runs(lost)
	n, gone := len(lost), total(lengths)
	got := float64(gone) / float64(max(n, 1))
	if why := disturbed(s); why != "" || obstacle(w) != "" {
		if obstacle(w) != "" {
			why = obstacle(w)
		}
		return []Check{unchecked(share, d.String(), "1", m.share, got, n, why)}
	}
	note := ""
	if w.Corrupt.Share > 0 {
		note = "lost, or thrown away for a wrong checksum"
	}
	checks := []Check{judge(share, d.String(), "1", m.share, got, chance(m.variance, n), n, note)}
	if m.share <= 0 || m.share >= 1 || gone == 0 {
		return checks
	}
	mean := float64(gone) / float64(len(lengths))
	switch {
	case math.IsNaN(m.run) && w.Loss != (lab.Loss{}):
		checks = append(checks, unchecked(run, d.String(), "packets", math.NaN(), mean, len(lengths),
			"there is no closed form for losses and corruption together; "+describeRuns(lengths)))
	case math.IsNaN(m.run):
		checks = append(checks, told(run, d.String(), "packets", mean, len(lengths), describeRuns(lengths)))
	case len(lengths) < fewest:
		checks = append(checks, unchecked(run, d.String(), "packets", m.run, mean, len(lengths), "too few runs: measure longer"))
	default:
		tolerance := sigmas * m.runSD / math.Sqrt(float64(len(lengths)))
		// The run at either end may be cut off.
		tolerance += m.run / float64(len(lengths))
		checks = append(checks, judge(run, d.String(), "packets", m.run, mean, tolerance, len(lengths), describeRuns(lengths)))
	}
	return checks
}

// chance is by how much a share over n packets may miss by chance; half a packet
// is for the steps in which it can be.
func chance(variance float64, n int) float64 {
	if variance <= 0 || n == 0 {
		return 0
	}
	return sigmas*math.Sqrt(variance/float64(n)) + 0.5/float64(n)
}

// disturbed says that datagrams are missing which the path may well have
// delivered.
func disturbed(s *series) string {
	switch {
	case s.unseen == 0 && s.spoilt == 0 && s.overflow == 0:
		return ""
	case s.unseen == 0 && s.spoilt == 0:
		return fmt.Sprintf("the path's own queue or limit dropped %d packets: this machine held the probes up", s.overflow)
	}
	return fmt.Sprintf("this machine was too busy: %d datagrams found no room at the receiver, %d packets were lost by the lab",
		s.unseen, s.spoilt)
}

// describeRuns lists how often each length came.
func describeRuns(lengths []int) string {
	const most = 6
	counts := map[int]int{}
	longest := 0
	for _, l := range lengths {
		counts[l]++
		longest = max(longest, l)
	}
	var parts []string
	for l := 1; l <= longest && len(parts) < most; l++ {
		if counts[l] > 0 {
			parts = append(parts, fmt.Sprintf("%d×%d", counts[l], l))
		}
	}
	return fmt.Sprintf("runs %s; longest %d", strings.Join(parts, " "), longest)
}

// judgeUndelayed judges the share that was let pass without its delay, where the
// path does so. ok is false where it cannot be told from those with a delay.
func judgeUndelayed(d lab.Direction, w lab.Way, size int, s *series) (c Check, ok bool) {
	least := delayGrid(lab.Way{Delay: w.Delay, Jitter: w.Jitter})[0]
	if w.Reorder.Share == 0 || least < 4*timeTolerance {
		return c, false
	}
	delays := s.delays()
	early := 0
	for _, t := range delays {
		if t-serialisation(w, size) < least/2 {
			early++
		}
	}
	got := float64(early) / float64(max(len(delays), 1))
	if why := obstacle(w); why != "" || len(delays) < fewest {
		return tooFew(Undelayed, d.String(), "1", earlyShare(w), len(delays), s.count(), size, w), true
	}
	asked := correlated(earlyShare(w), w.Reorder.Correlation)
	return judge(Undelayed, d.String(), "1", asked.share, got, chance(asked.variance, len(delays)), len(delays), ""), true
}

// judgeOrder judges reordering of datagrams of an IP size.
func judgeOrder(d lab.Direction, w lab.Way, size int, s *series, r *rand.Rand) Check {
	late, arrived := s.reordered()
	got := float64(late) / float64(max(arrived, 1))
	inOrder := lab.Path{Up: w, Down: w}.InOrder()
	switch {
	case arrived < fewest:
		return tooFew(Reordered, d.String(), "1", math.NaN(), arrived, s.count(), size, w)
	case inOrder:
		return judge(Reordered, d.String(), "1", 0, got, 0, arrived, "")
	case obstacle(w) != "":
		return unchecked(Reordered, d.String(), "1", math.NaN(), got, arrived, obstacle(w))
	}
	var sent []int64
	for _, t := range s.sent {
		if t != 0 {
			sent = append(sent, t)
		}
	}
	asked, sd := reorderOf(w, sent, s.lost(), r)
	// A train's spacing is known to a few tens of µs only: 2 %.
	tolerance := sigmas*sd*math.Sqrt(1+1.0/reorderTrials) + 0.02*asked + 1/float64(arrived)
	return judge(Reordered, d.String(), "1", asked, got, tolerance, arrived, "asked follows from this train's spacing")
}

// judgeCopies judges duplicates.
func judgeCopies(d lab.Direction, w lab.Way, m lossModel, s *series) Check {
	n := s.count()
	got := float64(s.duplicates()) / float64(max(n, 1))
	if obstacle(w) != "" {
		return unchecked(Duplicated, d.String(), "1", w.Duplicate.Share, got, n, obstacle(w))
	}
	if disturbed(s) != "" && w.Duplicate.Share > 0 {
		return unchecked(Duplicated, d.String(), "1", w.Duplicate.Share, got, n, disturbed(s))
	}
	// What is lost by chance is not copied, and the copy is never altered.
	asked := w.Duplicate.Share * (1 - w.Loss.Mean()) * (1 - w.Corrupt.Share)
	c := correlated(asked, w.Duplicate.Correlation)
	if m.share > 0 && m.share < 1 { // it is a chance among those that were not lost, whose number varies
		c.variance += asked * asked * m.variance / ((1 - m.share) * (1 - m.share))
	}
	return judge(Duplicated, d.String(), "1", asked, got, chance(c.variance, n), n, "")
}

// judgeAltered judges what arrived altered: of a train without checksums, with
// an IP size, and of those with.
func judgeAltered(d lab.Direction, w lab.Way, size, header int, open *series, checked, n int) []Check {
	list := []Check{judge(CorruptAccepted, d.String(), "1", 0, float64(checked)/float64(max(n, 1)), 0, n, "")}
	if n == 0 {
		list[0] = unchecked(CorruptAccepted, d.String(), "1", 0, math.NaN(), 0, "nothing was sent")
	}
	if open == nil {
		return list
	}
	sent := open.count()
	got := float64(open.altered) / float64(max(sent, 1))
	if why := disturbed(open); why != "" {
		return append(list, unchecked(Corrupted, d.String(), "1", w.Corrupt.Share, got, sent, why))
	}
	// A bit flipped in the headers makes the packet another's, or nobody's.
	asked := w.Corrupt.Share * (1 - w.Loss.Mean()) * float64(size-header) / float64(size)
	c := correlated(asked, w.Corrupt.Correlation)
	return append(list, judge(Corrupted, d.String(), "1", asked, got, chance(c.variance, sent), sent,
		"without checksums; flips in the headers do not arrive"))
}

// ms writes seconds as milliseconds.
func ms(s float64) string { return fmt.Sprintf("%.3f ms", s*1e3) }
