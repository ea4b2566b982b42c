package link

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// stream is an endless row of random numbers, one for each packet number. It
// has no state: a number does not depend on whether others were drawn.
type stream uint64

// purpose tells the streams of one direction apart.
type purpose uint64

// The purposes. That of loss is 0, and its stream is the direction's key, so
// that a seed loses the packets that it always lost.
const (
	forLoss purpose = iota
	forMoves
	forDuplicate
	forCorrupt
	forBit
	forReorder
	forJitter
	forRules // and all above: a stream for each rule
)

// golden is 2^64 over the golden ratio, as in splitmix64: its multiples are
// spread over all 64 bits.
const golden = 0x9e3779b97f4a7c15

// directionKey is what all streams of a direction are made of.
func directionKey(seed uint64, d lab.Direction) uint64 {
	return lab.Mix64(seed + uint64(d+1)*golden)
}

func newStream(key uint64, use purpose) stream {
	if use == forLoss {
		return stream(key)
	}
	return stream(lab.Mix64(key + uint64(use)*golden))
}

// index is a packet number as the streams of its direction use it. It is made
// once for all of them.
type index uint64

func newIndex(n uint64) index { return index(lab.Mix64((n + 1) * golden)) }

func (s stream) bits(i index) uint64 { return lab.Mix64(uint64(s) ^ uint64(i)) }

// uniform is from 0 (included) to 1 (excluded).
func (s stream) uniform(i index) float64 { return float64(s.bits(i)>>11) * 0x1p-53 }

// inner is between 0 and 1, both excluded.
func (s stream) inner(i index) float64 { return (float64(s.bits(i)>>12) + 0.5) * 0x1p-52 }

// normals is a row of standard normal numbers of which each is correlated with
// the one before: z(n) = ρ·z(n-1) + √(1-ρ²)·x(n), where the x are independent.
// Every z is standard normal, so that what is made of them through quantiles (a
// Gaussian copula) has its own distribution exactly, whatever ρ. netem's
// own arithmetic does not keep it.
//
// next must be called once for each packet of the direction, in their order.
type normals struct {
	from      stream
	rho, rest float64
	last      float64
	started   bool
}

func newNormals(from stream, correlation float64) normals {
	rho := correlation
	if !(rho > 0) { // and not a number
		rho = 0
	}
	rho = min(rho, 1)
	return normals{from: from, rho: rho, rest: math.Sqrt(1 - rho*rho)}
}

func (g *normals) next(i index) float64 {
	z := normalQuantile(g.from.inner(i))
	if g.rho > 0 && g.started {
		z = g.rho*g.last + g.rest*z
	}
	g.last, g.started = z, true
	return z
}

// normalQuantile is the inverse of normalShare.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// normalShare is the share of a standard normal distribution that lies below z.
func normalShare(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// chance decides yes or no for each packet. The zero chance is never.
type chance struct {
	share      float64
	from       stream
	correlated bool
	below      float64 // yes for normal numbers below it
	normals    normals
}

func newChance(c lab.Chance, from stream) chance {
	made := chance{share: c.Share, from: from}
	if c.Correlation > 0 && c.Share > 0 && c.Share < 1 {
		made.correlated = true
		made.below = normalQuantile(c.Share)
		made.normals = newNormals(from, c.Correlation)
	}
	return made
}

// next decides about a packet. It must be called once for each packet of the
// direction, in their order.
func (c *chance) next(i index) bool {
	switch {
	case !(c.share > 0):
		return false
	case c.correlated:
		return c.normals.next(i) < c.below
	default:
		return c.from.uniform(i) < c.share
	}
}
