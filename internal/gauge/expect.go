package gauge

import (
	"math"
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// gridSize is how many equally likely values stand for a distribution.
const gridSize = 8192

// grid is a distribution of delays as equally likely values, in s, sorted: the
// value in the middle of each of its quantiles.
type grid []float64

// delayGrid is the distribution of one way's delay, without rate and queue:
// delay and jitter, never negative, and none for the packets that reordering
// lets pass. Correlation does not change it: what is asked is the marginal.
func delayGrid(w lab.Way) grid {
	g := make(grid, gridSize)
	early := int(math.Round(earlyShare(w) * gridSize))
	rest := gridSize - early
	for i := range rest {
		u := (float64(i) + 0.5) / float64(rest)
		g[early+i] = max(w.Delay.Seconds()+jitterQuantile(w.Jitter, u), 0)
	}
	slices.Sort(g)
	return g
}

// earlyShare is the share of packets that pass without delay. As in netem,
// gap-1 packets at least lie between two of them, and of the others each has the
// chance: so one in gap - 1 + 1/share.
func earlyShare(w lab.Way) float64 {
	p := w.Reorder.Share
	return p / (1 + p*float64(max(w.Reorder.Gap, 1)-1))
}

// jitterQuantile is the value of a jitter, in s, below which a share u lies
// (see lab.Distribution).
func jitterQuantile(j lab.Jitter, u float64) float64 {
	spread := j.Spread.Seconds()
	switch j.Distribution {
	case lab.Normal:
		return spread * min(max(math.Sqrt2*math.Erfinv(2*u-1), -4), 4)
	case lab.Pareto:
		return spread * min(4.0/3*(math.Pow(1-u, -1.0/3)-1.5), 4)
	default:
		return spread * (2*u - 1)
	}
}

// varies says that the delays are not all the same.
func (g grid) varies() bool { return g[len(g)-1] > g[0] }

func (g grid) quantile(q float64) float64 {
	return g[min(max(int(q*float64(len(g))), 0), len(g)-1)]
}

// longest is the longest delay of a way, without rate and queue.
func longest(w lab.Way) time.Duration {
	d := max(w.Delay.Seconds()+jitterQuantile(w.Jitter, 1), 0)
	return time.Duration(d * float64(time.Second))
}

// moments returns mean, standard deviation and kurtosis (3 for a normal
// distribution; 3 as well for a constant).
func (g grid) moments() (mean, sd, kurtosis float64) { return moments(g) }

// moments of values: their mean, standard deviation and kurtosis.
func moments(values []float64) (mean, sd, kurtosis float64) {
	n := float64(len(values))
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	for _, v := range values {
		mean += v / n
	}
	var m2, m4 float64
	for _, v := range values {
		d := v - mean
		m2 += d * d / n
		m4 += d * d * d * d / n
	}
	if m2 == 0 {
		return mean, 0, 3
	}
	return mean, math.Sqrt(m2), m4 / (m2 * m2)
}

// serialisation is how long the rate needs for an IP packet that finds it
// idle, in s. What a token bucket holds passes at once.
func serialisation(w lab.Way, size int) float64 {
	if w.Rate == 0 || w.Police {
		return 0
	}
	return float64(max(int64(wireSize(w, size))-w.Burst, 0)) * 8 / float64(w.Rate)
}

// wireSize is what the rate counts for an IP packet, in bytes.
func wireSize(w lab.Way, size int) int { return max(size+w.Overhead, 1) }

// udpRate is the rate at which IP bytes of UDP packets of a size get through
// when more is offered, in bit/s; +Inf when there is no limit. What bounds it:
// rate, throttle, and a limit on the packets under way.
func udpRate(w lab.Way, size int) float64 {
	rate := math.Inf(1)
	if w.Rate > 0 {
		rate = float64(w.Rate) * float64(size) / float64(wireSize(w, size))
	}
	if throttled(w, lab.UDP) {
		rate = min(rate, float64(w.Throttle.Rate))
	}
	if w.Limit > 0 {
		if mean, _, _ := delayGrid(w).moments(); mean > 0 {
			rate = min(rate, float64(w.Limit*size*8)/mean)
		}
	}
	return rate
}

func throttled(w lab.Way, t lab.Transport) bool {
	return w.Throttle.Rate > 0 && (w.Throttle.Transport == "" || w.Throttle.Transport == t)
}

// mtu is the largest IP packet of a way at its beginning.
func mtu(w lab.Way) int {
	if w.MTU == 0 {
		return lab.DefaultMTU
	}
	return w.MTU
}

// leastMTU is the largest IP packet that passes at any time.
func leastMTU(w lab.Way) int {
	if w.Shrink.MTU > 0 {
		return min(mtu(w), w.Shrink.MTU)
	}
	return mtu(w)
}

// queueBytes is what may wait for the rate when packets of one size are sent,
// in IP bytes; ok is false where nothing waits by design or the path does not
// say.
func queueBytes(w lab.Way, rtt time.Duration, size int) (bytes float64, ok bool) {
	if w.Rate == 0 || w.Police || w.AQM != (lab.AQM{}) || w.Trace != (lab.Trace{}) {
		return 0, false
	}
	perSecond := float64(w.Rate) / 8 * float64(size) / float64(wireSize(w, size)) // IP bytes
	switch q := w.Queue; {
	case q.Bytes > 0:
		bytes = wholePackets(float64(q.Bytes), size)
	case q.BDP > 0:
		bytes = wholePackets(q.BDP*float64(w.Rate)/8*rtt.Seconds(), size)
	case q.Time > 0:
		bytes = q.Time.Seconds() * perSecond
	case q.Packets > 0:
		bytes = float64(q.Packets * size)
	default:
		bytes = float64(lab.DefaultQueue * size)
	}
	if w.Limit > 0 { // it counts what is under way as well
		mean, _, _ := delayGrid(w).moments()
		bytes = min(bytes, max(float64(w.Limit*size)-perSecond*mean, 0))
	}
	return bytes, true
}

func wholePackets(limit float64, size int) float64 {
	return math.Floor(limit/float64(size)) * float64(size)
}

// headerSize is the size of IP and UDP headers.
func headerSize(v6 bool) int {
	if v6 {
		return 48
	}
	return 28
}
