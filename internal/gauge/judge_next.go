package gauge

import (
	"fmt"
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// nextIsToo is the chance that what happens to a share of packets happens to
// the next as well, where a Gaussian copula with a correlation decides (see
// lab.Chance): P(both)/share, with P(both) = share² + ∫ of the bivariate normal
// density at the threshold over the correlation (Plackett 1954).
func nextIsToo(share, correlation float64) float64 {
	if share <= 0 || share >= 1 || correlation <= 0 {
		return share
	}
	z := math.Sqrt2 * math.Erfinv(2*share-1)
	density := func(angle float64) float64 { return math.Exp(-z*z/(1+math.Sin(angle))) / (2 * math.Pi) } // r = sin(angle)
	const steps = 200                                                                                    // Simpson's rule
	h := math.Asin(correlation) / steps
	sum := density(0) + density(steps*h)
	for i := 1; i < steps; i++ {
		sum += density(float64(i)*h) * float64(2+2*(i%2))
	}
	return share + sum*h/3/share
}

// judgeNext judges how far the fate of a packet goes with the one before: the
// correlation of the two. fates says of each packet in the order of sending
// whether it happened, and whether that can be told. asked is the chance after
// one to which it happened, and share that of all.
func judgeNext(name string, d lab.Direction, share, asked float64, fates []fate) Check {
	all, hits, pairs, both := 0, 0, 0, 0
	for i, f := range fates {
		if !f.known {
			continue
		}
		all++
		if f.yes {
			hits++
		}
		if f.yes && i+1 < len(fates) && fates[i+1].known {
			pairs++
			if fates[i+1].yes {
				both++
			}
		}
	}
	correlation := func(q, p float64) float64 { return (q - p) / (1 - p) }
	want := correlation(asked, share)
	if pairs < fewest || hits == all {
		return unchecked(name, d.String(), "1", want, math.NaN(), pairs, "too few: measure longer")
	}
	n := float64(pairs)
	got := correlation(float64(both)/n, float64(hits)/float64(all))
	tolerance := (sigmas*(math.Sqrt(asked*(1-asked)/n)+math.Sqrt(share*(1-share)/float64(all))) + 2/n) / (1 - share)
	if math.Abs(got-want) <= tolerance && math.Abs(correlation(asked, share)) <= tolerance && asked != share {
		return unchecked(name, d.String(), "1", want, got, pairs, "too few to tell it from none: measure longer")
	}
	return judge(name, d.String(), "1", want, got, tolerance, pairs, "correlation of one packet's fate with the next one's")
}

// fate is what became of one packet.
type fate struct{ yes, known bool }

// copied says of each datagram whether it came twice; of lost ones that is not
// known.
func (s *series) copied() []fate {
	fates := make([]fate, len(s.sent))
	for _, a := range s.arrivals {
		f := &fates[a.number]
		f.yes = f.known
		f.known = true
	}
	return fates
}

// vanished says of each datagram whether it never arrived.
func (s *series) vanished() (fates []fate) {
	for _, lost := range s.lost() {
		fates = append(fates, fate{lost, true})
	}
	return fates
}

// judgeCopiesNext judges the correlation of duplicates, where there are any.
func judgeCopiesNext(d lab.Direction, w lab.Way, s *series) []Check {
	c := w.Duplicate
	if c.Share == 0 || c.Share >= 1 {
		return nil
	}
	asked := nextIsToo(c.Share, c.Correlation)
	if why := firstOf(obstacle(w), disturbed(s)); why != "" {
		return []Check{unchecked(DuplicatedNext, d.String(), "1", math.NaN(), math.NaN(), 0, why)}
	}
	if w.Corrupt.Share > 0 { // one of two that is altered does not arrive
		return []Check{unchecked(DuplicatedNext, d.String(), "1", math.NaN(), math.NaN(), 0, "corruption hides it")}
	}
	return []Check{judgeNext(DuplicatedNext, d, c.Share, asked, s.copied())}
}

// judgeAlteredNext judges the correlation of corruption, where there is any: what
// is altered does not arrive, for its checksum.
func judgeAlteredNext(d lab.Direction, w lab.Way, s *series) []Check {
	c := w.Corrupt
	if c.Share == 0 || c.Share >= 1 {
		return nil
	}
	why := firstOf(obstacle(w), disturbed(s))
	if why == "" && (w.Loss != (lab.Loss{}) || w.Duplicate.Share > 0) {
		why = "loss or duplicates hide it"
	}
	if why != "" {
		return []Check{unchecked(CorruptedNext, d.String(), "1", math.NaN(), math.NaN(), 0, why)}
	}
	return []Check{judgeNext(CorruptedNext, d, c.Share, nextIsToo(c.Share, c.Correlation), s.vanished())}
}

// judgeUndelayedNext judges the correlation, or the gap, of those that pass
// without delay, in a series in which they can be told (see judgeUndelayed).
func judgeUndelayedNext(d lab.Direction, w lab.Way, size int, s *series) Check {
	least := delayGrid(lab.Way{Delay: w.Delay, Jitter: w.Jitter})[0]
	fates := make([]fate, len(s.sent))
	for _, a := range s.arrivals {
		if f := &fates[a.number]; !f.known {
			took := float64(a.at-s.sent[a.number])/1e9 - serialisation(w, size)
			*f = fate{took < least/2, true}
		}
	}
	share := earlyShare(w)
	asked := nextIsToo(share, w.Reorder.Correlation)
	if w.Reorder.Gap > 1 { // it never happens to neighbours
		asked = 0
	}
	if why := firstOf(obstacle(w), disturbed(s)); why != "" {
		return unchecked(UndelayedNext, d.String(), "1", math.NaN(), math.NaN(), 0, why)
	}
	if w.Reorder.Gap > 1 && w.Reorder.Correlation > 0 {
		return unchecked(UndelayedNext, d.String(), "1", math.NaN(), math.NaN(), 0, "the gap hides the correlation")
	}
	return judgeNext(UndelayedNext, d, share, asked, fates)
}

// judgeJitterNext judges the correlation of a packet's delay with the next
// one's, where the delay varies.
func judgeJitterNext(d lab.Direction, w lab.Way, s *series) []Check {
	if w.Jitter.Spread == 0 {
		return nil
	}
	g := delayGrid(lab.Way{Delay: w.Delay, Jitter: w.Jitter})
	_, sd, _ := g.moments()
	why := firstOf(obstacle(w), disturbed(s))
	switch {
	case why != "":
	case w.Jitter.InOrder:
		why = "a packet that waits for those before it hides its own delay"
	case w.Reorder.Share > 0:
		why = "packets that pass without delay hide it"
	case sd < timeTolerance:
		why = "the delay varies too little to tell"
	}
	asked := g.correlation(w.Jitter.Correlation)
	if why != "" {
		return []Check{unchecked(JitterNext, d.String(), "1", asked, math.NaN(), 0, why)}
	}
	got, n := s.delayCorrelation()
	if n < fewest {
		return []Check{unchecked(JitterNext, d.String(), "1", asked, math.NaN(), n, "too few: measure longer")}
	}
	// What the machine adds goes together, and weakens what the path has.
	noise := timeTolerance / 2 / sd
	tolerance := sigmas/math.Sqrt(float64(n)) + 0.02 + noise*noise
	return []Check{judge(JitterNext, d.String(), "1", asked, got, tolerance, n, "correlation of one packet's delay with the next one's")}
}

// correlation is that of two values of the distribution that are made of normal
// numbers with correlation r (a Gaussian copula), by the midpoints of a grid.
func (g grid) correlation(r float64) float64 {
	mean, sd, _ := g.moments()
	if r <= 0 || sd == 0 {
		return 0
	}
	const steps = 200
	share := func(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }
	normal := make([]float64, steps)
	for i := range normal {
		normal[i] = math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/steps-1)
	}
	var sum float64
	for _, z := range normal {
		for _, x := range normal {
			sum += (g.quantile(share(z)) - mean) * (g.quantile(share(r*z+math.Sqrt(1-r*r)*x)) - mean)
		}
	}
	return sum / steps / steps / (sd * sd)
}

// delayCorrelation is that of the delays of neighbours that both arrived.
func (s *series) delayCorrelation() (r float64, n int) {
	took := make([]float64, len(s.sent))
	for _, a := range s.arrivals {
		if took[a.number] == 0 {
			took[a.number] = float64(a.at-s.sent[a.number]) / 1e9
		}
	}
	var x, y []float64
	for i := range max(len(took)-1, 0) {
		if took[i] != 0 && took[i+1] != 0 {
			x, y = append(x, took[i]), append(y, took[i+1])
		}
	}
	mx, sx, _ := moments(x)
	my, sy, _ := moments(y)
	for i := range x {
		r += (x[i] - mx) * (y[i] - my) / float64(len(x)) / (sx * sy)
	}
	return r, len(x)
}

func firstOf(reasons ...string) string {
	for _, why := range reasons {
		if why != "" {
			return why
		}
	}
	return ""
}

// judgeMarked judges the share of datagrams that arrived marked, of a train whose
// datagrams understand ECN, where chance loses or marks.
func judgeMarked(d lab.Direction, w lab.Way, m lossModel, s *series) Check {
	n, asked := s.count(), 0.0
	got := float64(s.marked) / float64(max(n, 1))
	if w.Loss.ECN {
		asked = w.Loss.Mean()
	}
	if why := firstOf(obstacle(w), disturbed(s)); why != "" {
		return unchecked(Marked, d.String(), "1", asked, got, n, why)
	}
	if w.Corrupt.Share > 0 || w.Duplicate.Share > 0 {
		return unchecked(Marked, d.String(), "1", asked, got, n, "corruption or duplicates change the count")
	}
	if asked == 0 {
		return judge(Marked, d.String(), "1", 0, got, 0, n, "of datagrams that understand ECN")
	}
	return judge(Marked, d.String(), "1", asked, got, chance(m.variance, n), n, "of datagrams that understand ECN: marked instead of lost")
}

// judgeQueueMarks judges whether active queue management marks, by a flood of
// datagrams that understand ECN. It may never act within the flood.
func judgeQueueMarks(d lab.Direction, w lab.Way, f flood) Check {
	name, asked, got := QueueMarks, 0.0, 0.0
	if w.AQM.ECN {
		asked = 1
	}
	if f.marked > 0 {
		got = 1
	}
	note := fmt.Sprintf("%d of %d arrived marked", f.marked, len(f.arrivals))
	switch why := firstOf(obstacle(w), disturbed(f.series)); {
	case why != "":
		return unchecked(name, d.String(), "bool", asked, got, f.count(), why)
	case w.Loss != (lab.Loss{}):
		return unchecked(name, d.String(), "bool", asked, got, f.count(), "loss by chance looks the same")
	case f.marked == 0 && f.managed == 0:
		return unchecked(name, d.String(), "bool", asked, math.NaN(), f.count(), "it neither marked nor dropped: measure longer")
	}
	return judge(name, d.String(), "bool", asked, got, 0, f.count(), note)
}

// judgePassed judges what a policer lets pass at once: what came through of the
// first burst, less what the rate added meanwhile.
func judgePassed(d lab.Direction, w lab.Way, f flood) Check {
	asked, rate := float64(w.Burst), float64(w.Rate)
	if throttled(w, lab.UDP) && (w.Rate == 0 || w.Throttle.Rate < w.Rate) {
		asked, rate = float64(w.Throttle.BurstBytes()), float64(w.Throttle.Rate)
	}
	burst := min(f.burst, len(f.sent))
	why := firstOf(obstacle(w), disturbed(f.series))
	switch {
	case why != "":
	case dropsOtherwise(w) != "":
		why = "other drops or duplicates of the path change it"
	case w.Rate > 0 && throttled(w, lab.UDP):
		why = "two limits act on the burst"
	case burst == 0:
		why = "no burst was sent"
	}
	if why != "" {
		return unchecked(Passed, d.String(), "B", asked, math.NaN(), burst, why)
	}
	passed := 0
	for _, a := range f.arrivals {
		if a.number < burst {
			passed++
		}
	}
	took := float64(f.sent[burst-1]-f.sent[0]) / 1e9
	size := float64(f.size)
	counted := wireSize(w, f.size)
	if throttled(w, lab.UDP) { // it counts IP bytes
		counted = f.size
	}
	got := float64(passed*counted) - took*rate/8
	tolerance := 2*size + timeTolerance*rate/8 + rateTolerance*asked
	if passed == burst && got < asked+tolerance {
		return unchecked(Passed, d.String(), "B", asked, got, burst, "the burst was not more than it lets pass")
	}
	return judge(Passed, d.String(), "B", asked, got, tolerance, burst,
		fmt.Sprintf("%d of a burst of %d packets came through", passed, burst))
}
