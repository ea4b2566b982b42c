package gauge

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
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
	corrupt := w.Corrupt.Share * noticed(family, size)
	if joined > 1 && w.Loss.Super {
		return inSupers(lossOf(w, family, size, 1), joined, corrupt)
	}
	switch l := w.Loss; {
	case w.Corrupt.Correlation > 0:
		return correlated(1-(1-l.Mean())*(1-corrupt), w.Corrupt.Correlation)
	case l.Gilbert == lab.Gilbert{} && l.Burst > 1 && l.Share > 0 && l.Share < 1:
		return bursts(l.Share, l.Burst, corrupt)
	case l.Gilbert == lab.Gilbert{}:
		return markov(lab.Gilbert{Good: 1 - (1-l.Share)*(1-corrupt)})
	default:
		g := l.Gilbert
		g.Bad, g.Good = 1-(1-g.Bad)*(1-corrupt), 1-(1-g.Good)*(1-corrupt)
		return markov(g)
	}
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

// markov is the loss of a chain of two states (lab.Gilbert), of which
// independent loss is the case that never leaves the good one.
func markov(g lab.Gilbert) lossModel {
	bad := 0.0
	if g.P+g.R > 0 {
		bad = g.P / (g.P + g.R)
	}
	m := lossModel{share: bad*g.Bad + (1-bad)*g.Good}
	m.variance = m.share * (1 - m.share)
	if keep := 1 - g.P - g.R; keep < 1 { // autocovariance: C·keep^lag
		c := bad * (1 - bad) * (g.Bad - g.Good) * (g.Bad - g.Good)
		m.variance += 2 * c * keep / (1 - keep)
	}
	m.run, m.runSD = markovRun(g, bad)
	return m
}

// markovRun sums the distribution of the length of a run of losses: P(L > k) =
// start · Q^k · 1, where start is the state in which a run begins and Q one step
// within it.
func markovRun(g lab.Gilbert, bad float64) (mean, sd float64) {
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

// bursts is loss in bursts of exactly k: each packet outside a burst begins one
// with a chance q that makes the share right. Bursts may follow each other.
func bursts(share float64, k int, corrupt float64) lossModel {
	n := float64(k)
	q := share / (n*(1-share) + share)
	m := lossModel{share: share}
	// By renewal: a decision takes k packets and loses k, or takes one.
	m.variance = (q*n*n*(1-share)*(1-share) + (1-q)*share*share) / (q*n + 1 - q)
	m.run, m.runSD = n/(1-q), n*math.Sqrt(q)/(1-q)
	if corrupt > 0 {
		m.share = 1 - (1-share)*(1-corrupt)
		m.variance = (1-corrupt)*(1-corrupt)*m.variance + (1-share)*corrupt*(1-corrupt)
		m.run, m.runSD = math.NaN(), math.NaN()
	}
	return m
}

// inSupers is the loss where one decision takes all the packets of a
// super-packet. Flipped bits stay a packet's own.
func inSupers(one lossModel, k int, corrupt float64) lossModel {
	n := float64(k)
	one.variance *= n
	one.run, one.runSD = one.run*n, one.runSD*n
	if corrupt > 0 {
		one.run, one.runSD = math.NaN(), math.NaN()
	}
	return one
}

// correlated is a chance whose autocorrelation is r^lag.
func correlated(share, r float64) lossModel {
	return lossModel{
		share: share, variance: share * (1 - share) * (1 + r) / (1 - r), run: math.NaN(), runSD: math.NaN(),
	}
}
