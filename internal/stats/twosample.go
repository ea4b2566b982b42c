package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// TwoSample compares two samples that have nothing in common, such as a cell in
// two folders: a over b. The values are of the runs that finished, the smaller the
// better, na and nb all runs; the others are worse than every value. The order of
// the values does not matter.
//
// The estimate is the median of all differences of logarithms (Hodges and Lehmann,
// 1963). The interval is the hull of two: the one that the rank-sum test does not
// reject (Mann and Whitney, 1947), which is exact where the two differ by a factor
// only; and the percentile interval of a bootstrap of both samples (Efron, 1979),
// which needs no such likeness, but is too narrow for few. P is the rank-sum test's,
// exact given the ranks, middle ranks for ties. There is an interval from 4 runs
// against 4 on. N is the number of runs of both.
//
// Properties that an edit must keep: a larger value of a, or one more failure in
// it, never moves estimate or bounds down; exchanging a and b turns all round.
func TwoSample(a, b []float64, na, nb int, seed uint64) Estimate {
	e := Estimate{N: na + nb, P: 1}
	if na == 0 || nb == 0 {
		return e
	}
	d := differences{censoredLogs(a, na), censoredLogs(b, nb)}
	s := d.span(seed, Level)
	e.Ratio, e.P = ratio(s.middle), rankSum(d.x, d.y)
	if s.known {
		e.Low, e.High, e.Side, e.Smallest = ratio(s.low), ratio(s.high), s.side(), ratio(s.reach())
	}
	return e
}

// censoredLogs returns n logarithms in order, +Inf for the runs without a value.
func censoredLogs(values []float64, n int) []float64 {
	logs := make([]float64, 0, n)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 1) {
			logs = append(logs, math.Log(max(v, math.SmallestNonzeroFloat64)))
		}
	}
	for len(logs) < n {
		logs = append(logs, math.Inf(1))
	}
	slices.Sort(logs)
	return logs
}

// differences has x − y for all pairs of two ordered samples: as with walsh, they
// are not listed but counted. The difference of two runs that failed may be
// anything, and speaks against a claim.
type differences struct{ x, y []float64 }

func (d differences) len() int { return len(d.x) * len(d.y) }

func (d differences) median() float64 {
	n := d.len()
	return middle(d.at((n+1)/2, 0), d.at(n/2+1, 0), 0)
}

// bounds returns the k-th smallest and the k-th largest difference.
func (d differences) bounds(k int) (low, high float64) {
	return d.at(k, math.Inf(-1)), d.at(d.len()+1-k, math.Inf(1))
}

// at returns the k-th smallest difference, from 1; that of two infinities is taken
// as opposite.
func (d differences) at(k int, opposite float64) float64 {
	low, high := place64(math.Inf(-1)), place64(math.Inf(1))
	for low < high {
		mid := low + (high-low)/2
		if d.atMost(number64(mid), opposite) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return number64(low)
}

// atMost counts the differences that are v or less.
func (d differences) atMost(v, opposite float64) (count int) {
	j := 0 // the first of y that makes at most v with x[i]; it rises with i
	for _, x := range d.x {
		for j < len(d.y) && minusOr(x, d.y[j], opposite) > v {
			j++
		}
		count += len(d.y) - j
	}
	return count
}

func minusOr(x, y, opposite float64) float64 {
	if math.IsInf(x, 1) && math.IsInf(y, 1) {
		return opposite
	}
	return x - y
}

// span makes the hull of both intervals, each at level 1 − alpha.
func (d differences) span(seed uint64, alpha float64) span {
	s := span{middle: d.median()}
	k := criticalSum(len(d.x), len(d.y), alpha)
	if k == 0 {
		return s
	}
	s.known = true
	s.low, s.high = d.bounds(k)
	if k > 1 { // otherwise these are the extremes already
		low, high := d.bootstrap(seed, alpha)
		s.low, s.high = min(s.low, low), max(s.high, high)
	}
	return s
}

// weighed is the difference of the i-th of x and the j-th of y.
type weighed struct {
	v    float64
	i, j int
}

// bootstrap draws both samples again with replacement. What a draw has is among the
// differences that there are, each as often as both were drawn. With many runs it
// is the interval that this tends to.
func (d differences) bootstrap(seed uint64, alpha float64) (low, high float64) {
	if max(len(d.x), len(d.y)) > manyBlocks {
		return d.limit(alpha)
	}
	list := make([]weighed, 0, d.len())
	for i, x := range d.x {
		for j, y := range d.y {
			list = append(list, weighed{minusOr(x, y, 0), i, j})
		}
	}
	slices.SortFunc(list, func(a, b weighed) int { return cmp.Compare(a.v, b.v) })
	random := rand.New(rand.NewPCG(seed, uint64(len(list))))
	medians := make([]float64, draws)
	for i := range medians {
		medians[i] = weighedMedian(list, drawn(random, len(d.x)), drawn(random, len(d.y)))
	}
	slices.Sort(medians)
	k := max(int(alpha/2*draws), 1)
	return medians[k-1], medians[draws-k]
}

// drawn is how often each of n is drawn in n draws.
func drawn(random *rand.Rand, n int) []int {
	times := make([]int, n)
	for range n {
		times[random.IntN(n)]++
	}
	return times
}

// weighedMedian is the lower median of the ordered differences.
func weighedMedian(list []weighed, x, y []int) float64 {
	half, sum := (len(list)+1)/2, 0
	for _, w := range list {
		if sum += x[w.i] * y[w.j]; sum >= half {
			return w.v
		}
	}
	return list[len(list)-1].v
}

// limit is the interval for many runs: the share of differences at most the
// estimate is a U-statistic of two samples, and strays as its projections do
// (Serfling, 1980, section 5.5).
func (d differences) limit(alpha float64) (low, high float64) {
	theta := d.median()
	x, y := len(d.x), len(d.y)
	stray := math.Sqrt(d.projection(theta)/float64(x) + d.turned().projection(-theta)/float64(y))
	k := int(math.Floor((0.5 - normalQuantile(1-alpha/2)*stray) * float64(d.len())))
	return d.bounds(max(k, 1))
}

func (d differences) turned() differences { return differences{d.y, d.x} }

// projection is the variance, over x, of the share of y with which the difference
// is at most theta.
func (d differences) projection(theta float64) float64 {
	var sum, squares float64
	j := 0
	for _, x := range d.x {
		for j < len(d.y) && minusOr(x, d.y[j], 0) > theta {
			j++
		}
		share := float64(len(d.y)-j) / float64(len(d.y))
		sum += share
		squares += share * share
	}
	n := float64(len(d.x))
	return max(squares/n-sum/n*sum/n, 0)
}
