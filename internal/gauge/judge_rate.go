package gauge

import (
	"fmt"
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// rateTolerance is by how much what depends on a rate may miss, relatively.
const rateTolerance = 0.01

// A rate itself is known as sharply as the arrivals show it, and this much. What
// is faster than the path is sure to be moved, is judged by rateTolerance.
const (
	sharpTolerance = 0.002
	sharpRate      = 500e6 // bit/s
	bluntest       = 0.05  // the tolerance from which a series says nothing
)

// flood is a train that offers more than a way's rate.
type flood struct {
	*series
	size  int // IP bytes of each packet
	burst int // packets that were sent at once at the beginning
	// managed is how many active queue management dropped; where the lab does not
	// know, all that did not arrive.
	managed int
}

// offeredRate is what was offered after the burst, in bit/s of IP bytes.
func (f flood) offeredRate() float64 {
	var first, last int64
	n := 0
	for _, t := range f.sent[min(f.burst, len(f.sent)):] {
		if t == 0 {
			continue
		}
		if first == 0 {
			first = t
		}
		last = t
		n++
	}
	if last <= first {
		return math.Inf(1)
	}
	return float64((n-1)*f.size*8) / (float64(last-first) / 1e9)
}

// rate is the rate of what arrived, in bit/s of IP bytes, its standard error, and
// how many times that it is for arrivals that are late together. The first part is left out: a token bucket's burst passes at once. Of
// what is policed that is the first burst, which emptied the bucket. What the
// receiver's socket had no room for was on the wire, and counts.
func (f flood) rate(policed bool) (rate, se, together float64) {
	skip := len(f.arrivals) / 4
	var x, y []float64
	for i, a := range f.arrivals {
		if policed && a.number < f.burst || !policed && i < skip {
			continue
		}
		x = append(x, float64(a.at-f.arrivals[0].at)/1e9)
		y = append(y, float64(i+a.before)*float64(f.size)*8)
	}
	return slope(x, y)
}

// judgeRate judges the rate of a flood.
func judgeRate(d lab.Direction, w lab.Way, f flood) Check {
	asked := udpRate(w, f.size)
	got, se, together := f.rate(policed(w))
	n := len(f.arrivals)
	if obstacle(w) != "" {
		return unchecked(Rate, d.String(), "bit/s", asked, got, n, obstacle(w))
	}
	if n < fewest {
		return tooFew(Rate, d.String(), "bit/s", asked, n, f.count(), f.size, w)
	}
	offered := f.offeredRate()
	// A series that is not a straight line at all must not excuse itself.
	scatter := min(sigmas*se*together, sigmas*se+bluntest*asked)
	tolerance := sharpTolerance*asked + scatter
	if asked > sharpRate {
		tolerance += (rateTolerance - sharpTolerance) * asked
	}
	if w.Limit > 0 { // room that falls free is taken by the next that is offered
		if mean, _, _ := delayGrid(w).moments(); mean > 0 {
			tolerance += asked * float64(f.size*8) / offered / mean
		}
	}
	// No more than the rate came through because no more was sent?
	if got <= asked+tolerance && offered*(1-w.Loss.Mean()) < asked*1.02 {
		return unchecked(Rate, d.String(), "bit/s", asked, got, n, fmt.Sprintf("this machine could send only %s", bits(offered)))
	}
	if got < asked-tolerance && disturbed(f.series) != "" {
		return unchecked(Rate, d.String(), "bit/s", asked, got, n, disturbed(f.series))
	}
	if math.Abs(got-asked) <= tolerance && scatter > bluntest*asked && together > 2 {
		return unchecked(Rate, d.String(), "bit/s", asked, got, n, "the arrivals scatter too much: measure longer, or on a quieter machine")
	}
	note := fmt.Sprintf("packets of %d B", f.size)
	if w.Overhead != 0 {
		note += fmt.Sprintf(", %d B each for the rate", wireSize(w, f.size))
		if math.Abs(asked*float64(w.Overhead)) < tolerance*float64(f.size) {
			note += ", which is too little to be seen"
		}
	}
	return judge(Rate, d.String(), "bit/s", asked, got, tolerance, n, note)
}

// judgeQueue judges how long packets waited at most, and how much.
func judgeQueue(p lab.Path, d lab.Direction, f flood) []Check {
	w := p.Way(d)
	got, n := f.longestWait(w)
	rate := float64(w.Rate)
	if rate == 0 {
		return nil
	}
	if why := queueObstacle(w, n); why != "" {
		if w.Police {
			return []Check{judge(QueueWait, d.String(), "s", 0, got, 2*timeTolerance, n, "a policer has no queue")}
		}
		return []Check{
			unchecked(QueueWait, d.String(), "s", math.NaN(), got, n, why),
			unchecked(Queue, d.String(), "B", math.NaN(), math.NaN(), n, why),
		}
	}
	bytes, _ := queueBytes(w, p.RTT(), f.size)
	packet := float64(wireSize(w, f.size)) * 8 / rate
	asked := bytes / float64(f.size) * packet
	g := delayGrid(w)
	_, sd, _ := g.moments()
	tolerance := packet + 2*timeTolerance + rateTolerance*asked + sigmas*1.25*sd/math.Sqrt(float64(max(n, 1)))
	if w.Jitter.InOrder { // most wait for one before them that has more of the jitter
		tolerance += g.quantile(0.99) - g.quantile(0.5)
	}
	note := fmt.Sprintf("once it was full, packets of %d B", f.size)
	wait := judge(QueueWait, d.String(), "s", asked, got, tolerance, n, note)
	if why := disturbed(f.series); got > asked+tolerance && why != "" {
		wait = unchecked(QueueWait, d.String(), "s", asked, got, n, why)
	}
	checks := []Check{wait}
	return append(checks, judgeHeld(d, w, f, bytes))
}

// judgeHeld judges what of the first burst found room. A burst of which nothing
// was dropped is evidence as well: of a queue that takes in more than it should.
func judgeHeld(d lab.Direction, w lab.Way, f flood, asked float64) Check {
	held, overflowed, why := f.held(w)
	if why != "" {
		return unchecked(Queue, d.String(), "B", asked, math.NaN(), f.burst, why)
	}
	tolerance := queueTolerance(w, asked, f.size)
	switch {
	case overflowed:
		return judge(Queue, d.String(), "B", asked, held, tolerance, f.burst,
			fmt.Sprintf("what a burst of %d packets found room for before the first drop", f.burst))
	case held > asked+tolerance:
		return judge(Queue, d.String(), "B", asked, held, tolerance, f.burst,
			fmt.Sprintf("at least: nothing of a burst of %d packets was dropped", f.burst))
	}
	return unchecked(Queue, d.String(), "B", asked, held, f.burst, "the burst was sent too slowly to fill the queue")
}

func queueObstacle(w lab.Way, n int) string {
	switch {
	case obstacle(w) != "":
		return obstacle(w)
	case w.Police:
		return "a policer has no queue"
	case w.AQM != (lab.AQM{}):
		return "active queue management decides what waits"
	case throttled(w, lab.UDP) && w.Throttle.Rate < w.Rate:
		return "the throttle keeps the queue empty"
	case n < fewest:
		return "too few packets came through"
	}
	return ""
}

// longestWait is how long packets waited for the rate when the queue was full,
// in s: of those that came to it after the burst that filled it, less the delay
// that they would have had without. As long as more is offered it stays full
// within a packet, so that nine of ten waited at most about the longest wait; the
// tenth may be a late delivery. Where the delay varies, it is the median.
func (f flood) longestWait(w lab.Way) (wait float64, n int) {
	var delays []float64
	last := 0
	for i, t := range f.sent {
		if t != 0 {
			last = i
		}
	}
	for _, a := range f.arrivals {
		// Only what was offered to a full queue.
		if a.number > f.burst && a.number <= last {
			delays = append(delays, float64(a.at-f.sent[a.number])/1e9)
		}
	}
	if len(delays) == 0 {
		return math.NaN(), 0
	}
	s, g := sorted(delays), delayGrid(w)
	q := 0.9
	if g.varies() {
		q = 0.5
	}
	return quantile(s, q) - g.quantile(0.5) - serialisation(w, f.size), len(s)
}

// queueTolerance is by how much what a queue takes in may miss, in bytes.
func queueTolerance(w lab.Way, asked float64, size int) float64 {
	return 2*float64(size) + 2*timeTolerance*float64(w.Rate)/8 + rateTolerance*asked
}

// held is how many bytes of the first burst found room in the queue, where that
// can be told; otherwise why not. Where the queue did not overflow it held so
// much at least. The packet that is being sent does not wait, nor does what a
// token bucket lets pass at once.
func (f flood) held(w lab.Way) (bytes float64, overflowed bool, why string) {
	if why := dropsOtherwise(w); why != "" {
		return 0, false, why
	}
	if why := disturbed(f.series); why != "" {
		return 0, false, why
	}
	lost, burst := f.lost(), min(f.burst, len(f.sent))
	if burst == 0 {
		return 0, false, "no burst was sent to fill it"
	}
	first := burst
	for i := range burst {
		if f.sent[i] == 0 {
			return 0, false, "the burst was held back by the sender's own buffers"
		}
		if lost[i] {
			first = i
			break
		}
	}
	took := float64(f.sent[min(first, burst-1)]-f.sent[0]) / 1e9
	gone := took*float64(w.Rate)/8*float64(f.size)/float64(wireSize(w, f.size)) + float64(w.Burst) + float64(f.size)
	return max(float64(first*f.size)-gone, 0), first < burst, ""
}

// dropsOtherwise says what else of a way makes packets vanish, or more of them,
// so that the first drop is not the queue's.
func dropsOtherwise(w lab.Way) string {
	switch {
	case w.Loss != (lab.Loss{}):
		return "the path loses packets by chance, so that the first drop is not the queue's"
	case w.Corrupt != (lab.Chance{}):
		return "the path corrupts packets, so that the first drop is not the queue's"
	case w.Duplicate != (lab.Chance{}):
		return "the path duplicates packets, which take room as well"
	case w.Limit > 0:
		return "the limit counts packets under way as well"
	}
	return ""
}

// bits writes a rate in Mbit/s.
func bits(rate float64) string { return fmt.Sprintf("%.4g Mbit/s", rate/1e6) }
