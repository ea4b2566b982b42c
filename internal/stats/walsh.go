package stats

import "math"

// walsh has the averages of every two blocks, each with itself too: n(n+1)/2 of
// them. They are never listed: where the k-th lies is found by bisection, since
// how many are at most v is counted in one pass over the ordered blocks (Johnson
// and Mizoguchi, 1978). So many thousands of blocks cost little.
//
// The average of +Inf and −Inf may be anything: it is taken as −Inf for a lower
// bound, +Inf for an upper one and 0 between, so that it speaks against a claim.
type walsh struct {
	x []float64 // ordered
}

func newWalsh(logs []float64) walsh { return walsh{settled(logs)} }

func (w walsh) len() int { return len(w.x) * (len(w.x) + 1) / 2 }

// median is the Hodges–Lehmann estimate.
func (w walsh) median() float64 {
	n := w.len()
	return middle(w.at((n+1)/2, 0), w.at(n/2+1, 0), 0)
}

// bounds returns the k-th smallest and the k-th largest average.
func (w walsh) bounds(k int) (low, high float64) {
	return w.at(k, math.Inf(-1)), w.at(w.len()+1-k, math.Inf(1))
}

// at returns the k-th smallest average, from 1. The average of opposite
// infinities is taken as opposite.
//
// It bisects over the floating-point numbers themselves, in their order, so that
// what it finds is exact.
func (w walsh) at(k int, opposite float64) float64 {
	low, high := place64(w.x[0]), place64(w.x[len(w.x)-1])
	for low < high {
		mid := low + (high-low)/2
		if w.atMost(number64(mid), opposite) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return number64(low)
}

// atMost counts the averages that are v or less.
func (w walsh) atMost(v, opposite float64) (count int) {
	j := len(w.x) - 1 // the last that makes at most v with x[i]; it falls while i rises
	for i := range w.x {
		for j >= i && middle(w.x[i], w.x[j], opposite) > v {
			j--
		}
		if j < i {
			break
		}
		count += j - i + 1
	}
	return count
}

func middle(a, b, opposite float64) float64 {
	if math.IsInf(a, 0) && math.IsInf(b, 0) && a != b {
		return opposite
	}
	return a/2 + b/2
}

// place64 numbers the floating-point numbers in their order; number64 is its
// inverse.
func place64(v float64) uint64 {
	const sign = 1 << 63
	b := math.Float64bits(v + 0) // −0 is 0
	if b&sign != 0 {
		return ^b
	}
	return b | sign
}

func number64(p uint64) float64 {
	const sign = 1 << 63
	if p&sign != 0 {
		return math.Float64frombits(p &^ sign)
	}
	return math.Float64frombits(^p)
}

// limit is the interval for many blocks: the averages at the ranks to which the
// share at most the estimate may stray.
func (w walsh) limit(alpha float64) (low, high float64) {
	n := float64(len(w.x))
	theta := w.median()
	var sum, squares float64
	j := len(w.x) - 1
	for _, a := range w.x { // the share of partners with which a is at most the estimate
		for j >= 0 && middle(a, w.x[j], 0) > theta {
			j--
		}
		share := float64(j+1) / n
		sum += share
		squares += share * share
	}
	variance := max(squares/n-sum/n*sum/n, 0)
	stray := normalQuantile(1-alpha/2) * 2 * math.Sqrt(variance/n)
	k := int(math.Floor((0.5 - stray) * float64(w.len())))
	return w.bounds(max(k, 1))
}

func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
