package gauge

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// lossModel is what a way's loss by chance amounts to. NaN means that there is
// no closed form.
type lossModel struct {
	share    float64 // of packets, in the long run
	variance float64 // of the share measured over n packets, times n
	run      float64 // mean length of a run of lost packets
	runSD    float64 // its standard deviation
}

// lossOf is the loss that a receiver of datagrams of an IP size sees: those
// lost by chance, and those that its kernel throws away for a flipped bit.
// joined is how many packets make a super-packet; it counts with Loss.Super.
func lossOf(w lab.Way, family lab.Family, size, joined int) lossModel {
	l := w.Loss
	super := l.Super && joined > 1
	l.Super = false
	m := lossModel{share: l.Mean(), variance: stats.LossVariance(l)}
	m.run, m.runSD = runOf(l)
	if super {
		k := float64(joined)
		m.variance, m.run, m.runSD = m.variance*k, m.run*k, m.runSD*k
	}
	// The copy of a duplicated packet is not altered.
	corrupt := w.Corrupt.Share * noticed(family, size) * (1 - w.Duplicate.Share)
	if corrupt == 0 {
		return m
	}
	// A packet must escape both. The chances are independent of each other.
	c := correlated(corrupt, w.Corrupt.Correlation)
	m.variance = (1-corrupt)*(1-corrupt)*m.variance + (1-m.share)*(1-m.share)*c.variance + m.share*(1-m.share)*corrupt*(1-corrupt)
	m.share = 1 - (1-m.share)*(1-corrupt)
	m.run, m.runSD = math.NaN(), math.NaN()
	if g := withCorruption(l, corrupt); !super && w.Corrupt.Correlation == 0 && l.Burst < 2 {
		m.run, m.runSD = markovRun(g)
	}
	return m
}

// withCorruption is independent or Gilbert–Elliott loss, to which an
// independent one is added.
func withCorruption(l lab.Loss, corrupt float64) lab.Gilbert {
	g := l.Gilbert
	if g == (lab.Gilbert{}) {
		g.Good = l.Share
	}
	g.Bad, g.Good = 1-(1-g.Bad)*(1-corrupt), 1-(1-g.Good)*(1-corrupt)
	return g
}

// runOf is the mean length of a run of lost packets, and its standard
// deviation.
func runOf(l lab.Loss) (mean, sd float64) {
	if p := l.Mean(); p <= 0 || p >= 1 {
		return math.NaN(), math.NaN()
	}
	if l.Gilbert == (lab.Gilbert{}) && l.Burst > 1 {
		// A packet outside a burst begins one with chance q, and so does the one
		// after a burst.
		k := float64(l.Burst)
		q := l.Share / (k*(1-l.Share) + l.Share)
		return k / (1 - q), k * math.Sqrt(q) / (1 - q)
	}
	return markovRun(withCorruption(l, 0))
}

// noticed is the share of a packet's bits whose flip a receiver's kernel
// notices. IPv6 has no header checksum: traffic class, flow label and hop limit
// may change unseen.
func noticed(family lab.Family, size int) float64 {
	if family == lab.IPv6 {
		return 1 - 36/float64(size*8)
	}
	return 1
}

// markovRun sums the distribution of the length of a run of losses: P(L > k) =
// start · Q^k · 1, where start is the state in which a run begins and Q one step
// within it.
func markovRun(g lab.Gilbert) (mean, sd float64) {
	bad := 0.0
	if g.P+g.R > 0 {
		bad = g.P / (g.P + g.R)
	}
	good := 1 - bad
	toGood := good*(1-g.Good)*(1-g.P) + bad*(1-g.Bad)*g.R
	toBad := good*(1-g.Good)*g.P + bad*(1-g.Bad)*(1-g.R)
	a, b := toGood*g.Good, toBad*g.Bad // in the good state, in the bad one
	if a+b <= 0 {
		return math.NaN(), math.NaN()
	}
	a, b = a/(a+b), b/(a+b)
	var square float64
	for k := range 1 << 20 {
		mean += a + b
		square += float64(2*k+1) * (a + b)
		a, b = (a*(1-g.P)+b*g.R)*g.Good, (a*g.P+b*(1-g.R))*g.Bad
		if a+b < 1e-12 {
			break
		}
	}
	return mean, math.Sqrt(max(square-mean*mean, 0))
}

// correlated is a chance whose autocorrelation is r^lag.
func correlated(share, r float64) lossModel {
	return lossModel{
		share: share, variance: share * (1 - share) * (1 + r) / (1 - r), run: math.NaN(), runSD: math.NaN(),
	}
}

// copiesAgainst is how many copies of a probe are sent one after the other so
// that one arrives in all but a millionth of cases; two at least, for a busy
// machine. Losses that come together take more.
func copiesAgainst(w lab.Way) int {
	const enough = 1e-6
	l := w.Loss
	group := 1
	if l.Gilbert == (lab.Gilbert{}) && l.Burst > 1 { // bursts follow each other by chance
		group = l.Burst
		l.Share = l.Share / (float64(l.Burst)*(1-l.Share) + l.Share)
	}
	g := withCorruption(l, w.Corrupt.Share)
	good, bad := 1.0, 0.0 // the state in which the first finds the path
	if g.P+g.R > 0 {
		bad = g.P / (g.P + g.R)
		good = 1 - bad
	}
	k := 0
	for good+bad > enough && k < mostCopies {
		good, bad = good*g.Good, bad*g.Bad // and it is lost
		good, bad = good*(1-g.P)+bad*g.R, good*g.P+bad*(1-g.R)
		k++
	}
	if group > 1 {
		k = (k + 1) * group // the first may be in the middle of a burst
	}
	return min(max(k, 2), mostCopies)
}
