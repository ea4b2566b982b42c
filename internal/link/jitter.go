package link

import (
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// tailCut is where netem's distribution tables end, in standard deviations: they
// hold 16 bits, of which 8192 is one.
const tailCut = 4

// jitter says what is added to the delay of each packet. The zero jitter is
// nothing.
type jitter struct {
	spread       float64 // ns
	distribution lab.Distribution
	from         stream
	correlated   bool
	normals      normals
}

func newJitter(j lab.Jitter, from stream) jitter {
	return jitter{
		spread: float64(j.Spread), distribution: j.Distribution, from: from,
		correlated: j.Correlation > 0, normals: newNormals(from, j.Correlation),
	}
}

// next is a packet's jitter. It must be called once for each packet of the
// direction, in their order.
func (j *jitter) next(i index) time.Duration {
	if j.spread == 0 {
		return 0
	}
	return time.Duration(math.Round(j.spread * j.standard(i)))
}

// standard is the jitter in units of its spread.
func (j *jitter) standard(i index) float64 {
	switch j.distribution {
	case lab.Normal:
		return min(max(j.normals.next(i), -tailCut), tailCut)
	case lab.Pareto:
		return min(4.0/3*(1/math.Cbrt(1-j.share(i))-1.5), tailCut)
	default:
		return 2*j.share(i) - 1
	}
}

// share is uniform between 0 and 1.
func (j *jitter) share(i index) float64 {
	if j.correlated {
		return normalShare(j.normals.next(i))
	}
	return j.from.inner(i)
}

// reorder says which packets pass without their delay, as netem does: gap-1
// packets at least lie between two of them, and of the others each has the
// chance. The zero reorder is none.
type reorder struct {
	chance chance
	gap    int
	since  int // packets since the last that passed
}

// next decides about a packet. It must be called once for each packet of the
// direction, in their order.
func (r *reorder) next(i index) bool {
	if !r.chance.next(i) || r.since < r.gap-1 {
		r.since++
		return false
	}
	r.since = 0
	return true
}
