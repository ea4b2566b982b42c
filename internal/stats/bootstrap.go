package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	draws = 500 // of a bootstrap
	// manyBlocks is where the bootstrap gives way to what it tends to.
	manyBlocks = 50
	// huge stands for an infinity, so that sums of opposite ones are 0.
	huge = 1e300
)

// bootstrap returns the percentile interval of the estimate over blocks drawn
// again with replacement (Efron, 1979). With many blocks it is the interval that
// this tends to: the estimate is a quantile of a U-statistic, whose variance is
// that of its projection (Serfling, 1980, section 5.5), with no need of symmetry.
//
// Every second draw is the one before turned over, and of an even number of averages
// the lower middle one makes low and the upper one high: turned blocks have the turned
// interval, so that a verdict does not depend on who is named first.
func (w walsh) bootstrap(seed uint64, alpha float64) (low, high float64) {
	n := len(w.x)
	if n > manyBlocks {
		return w.limit(alpha)
	}
	r := newRedraw(w.x)
	random := rand.NewPCG(seed, uint64(n))
	all := n * (n + 1) / 2
	lower, upper := make([]int, draws), make([]int, draws)
	for i := range draws {
		if i%2 == 0 {
			r.draw(random)
		} else {
			slices.Reverse(r.times)
		}
		r.count()
		lower[i] = r.place((all+1)/2, lower[max(i-1, 0)])
		upper[i] = r.place(all/2+1, lower[i])
	}
	slices.Sort(lower)
	slices.Sort(upper)
	k := max(int(alpha/2*draws), 1)
	return infinite(r.list[lower[k-1]]), infinite(r.list[upper[draws-k]])
}

// redraw has blocks drawn with replacement. The averages of what is drawn are
// among those of the blocks themselves, which are listed once, each with how many
// partners every block has at or below it; then counting needs no comparison.
type redraw struct {
	n    int
	list []float64 // the averages of every two blocks, in order, each once
	// partners[i*n+j] is with how many blocks, of the ordered ones, block j makes
	// an average of at most list[i].
	partners []uint8
	below    []int // at or below each place of the list: blocks, by themselves
	times    []int // how often each block was drawn
	before   []int // how many draws are of the first so many blocks
}

func newRedraw(ordered []float64) *redraw {
	n := len(ordered)
	x := make([]float64, n)
	for i, v := range ordered {
		x[i] = max(min(v, huge), -huge)
	}
	r := &redraw{n: n, times: make([]int, n), before: make([]int, n+1)}
	for i, a := range x {
		for _, b := range x[i:] {
			r.list = append(r.list, a/2+b/2)
		}
	}
	slices.Sort(r.list)
	r.list = slices.Compact(r.list)
	r.below = make([]int, len(r.list))
	r.partners = make([]uint8, len(r.list)*n)
	for j, a := range x {
		most := 0
		for i, v := range r.list {
			for most < n && a/2+x[most]/2 <= v {
				most++
			}
			r.partners[i*n+j] = uint8(most)
			if a <= v {
				r.below[i] = j + 1
			}
		}
	}
	return r
}

// draw takes two draws from each random number: the upper bits of a product of 32
// with n, which is fair to 1 in 2^26 with n up to 50.
func (r *redraw) draw(random *rand.PCG) {
	clear(r.times)
	n := uint64(r.n)
	for left := r.n; left > 0; left -= 2 {
		bits := random.Uint64()
		r.times[bits>>32*n>>32]++
		if left > 1 {
			r.times[bits&math.MaxUint32*n>>32]++
		}
	}
}

// count sums up what was drawn.
func (r *redraw) count() {
	for j, t := range r.times {
		r.before[j+1] = r.before[j] + t
	}
}

// atMost counts the averages of two draws, each with itself too, that are at most
// list[i].
func (r *redraw) atMost(i int) int {
	ordered := 0 // each two draws twice, but one with itself once
	partners := r.partners[i*r.n : (i+1)*r.n]
	times, before := r.times[:len(partners)], r.before
	for j, most := range partners {
		ordered += times[j] * before[most]
	}
	return (ordered + r.before[r.below[i]]) / 2
}

// place returns where in the list the k-th smallest average of what was drawn is. It
// looks from a guess on: as many places farther as averages are missing.
func (r *redraw) place(k, guess int) int {
	low, high := 0, len(r.list)-1
	for step := 0; low < high; step++ {
		at := max(low, min(guess, high-1))
		if step > 3 {
			at = (low + high) / 2
		}
		count := r.atMost(at)
		if count >= k {
			high = at
		} else {
			low = at + 1
		}
		guess = at + k - count
	}
	return low
}

func infinite(v float64) float64 {
	if math.Abs(v) > huge/4 {
		return math.Copysign(math.Inf(1), v)
	}
	return v
}
