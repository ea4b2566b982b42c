package stats

import (
	"math"
	"slices"
)

// exactPairs is the largest product of two samples' sizes for which the rank-sum
// test's distribution is counted out; beyond it the normal distribution stands
// for it.
const exactPairs = 2500

// mostShifts bounds the differences from which a shift is estimated; of larger
// samples as many quantiles stand for each.
const mostShifts = 1 << 20

// TwoSample compares two samples that are not paired: a and b have the values of
// the na and nb runs that ended ok; the others are beyond all of them (positive
// values, larger is worse). The ratio is a over b.
//
// The estimate is the median of all differences of logarithms (Hodges and Lehmann,
// 1963); P is the rank-sum test's (Wilcoxon, 1945; Mann and Whitney, 1947), exact
// for small samples; the interval has the shifts that this test does not reject.
// It is exact where both samples have one shape. Ties count against a claim.
//
// Properties that an edit must keep: a larger value in a never moves estimate or
// bounds down; exchanging a and b turns the ratio round and leaves P.
func TwoSample(a, b []float64, na, nb int) Estimate {
	e := Estimate{N: min(na, nb), P: 1}
	if na == 0 || nb == 0 {
		return e
	}
	x, y := thinned(logsOf(a, na)), thinned(logsOf(b, nb))
	e.P = rankSum(x, y)
	d := shifts(x, y)
	s := span{middle: (d[(len(d)-1)/2] + d[len(d)/2]) / 2}
	if k := criticalRankSum(len(x), len(y), Level); k > 0 {
		s.low, s.high, s.known = d[k-1], d[len(d)-k], true
	}
	e.Ratio = ratio(s.middle)
	if s.known {
		e.Low, e.High, e.Side, e.Smallest = ratio(s.low), ratio(s.high), s.side(), ratio(s.reach())
	}
	return e
}

// logsOf returns the logarithms of n runs' values in order; those without a value
// are last.
func logsOf(values []float64, n int) []float64 {
	x := make([]float64, 0, n)
	for _, v := range values {
		x = append(x, math.Log(max(v, shortest)))
	}
	for len(x) < n {
		x = append(x, math.Inf(1))
	}
	slices.Sort(x)
	return x
}

// thinned returns as many quantiles of a sample as can be compared.
func thinned(x []float64) []float64 {
	const most = 1 << 10
	if len(x) <= most {
		return x
	}
	few := make([]float64, most)
	for i := range few {
		few[i] = x[(2*i+1)*len(x)/(2*most)]
	}
	return few
}

// shifts are all differences, in order. That of two runs which both failed says
// nothing: it is 0.
func shifts(x, y []float64) []float64 {
	d := make([]float64, 0, min(len(x)*len(y), mostShifts))
	for _, v := range x {
		for _, w := range y {
			z := v - w
			if math.IsNaN(z) {
				z = 0
			}
			d = append(d, z)
		}
	}
	slices.Sort(d)
	return d
}

// rankSum is the two-sided test of two ordered samples.
func rankSum(x, y []float64) float64 {
	u, ties := 0.0, 0.0
	for _, v := range x {
		less, _ := slices.BinarySearch(y, v)
		upto := less
		for upto < len(y) && y[upto] == v {
			upto++
		}
		u += float64(less) + float64(upto-less)/2
		ties += float64(upto - less)
	}
	m := float64(len(x) * len(y))
	u = min(u, m-u)
	if len(x)*len(y) <= exactPairs {
		return min(1, 2*rankSumTail(len(x), len(y), int(math.Ceil(u))))
	}
	z := (m/2 - u - 0.5) / math.Sqrt(m*float64(len(x)+len(y)+1)/12)
	return min(1, math.Erfc(max(z, 0)/math.Sqrt2))
}

// rankSumTail is the probability that U is at most k, of two samples without ties
// that do not differ.
func rankSumTail(m, n, k int) float64 {
	counts := rankSumShares(m, n)
	sum := 0.0
	for u := 0; u <= k && u < len(counts); u++ {
		sum += counts[u]
	}
	return min(sum, 1)
}

// rankSumShares is the distribution of U: f(m, n, u) = m/(m+n) f(m−1, n, u−n) +
// n/(m+n) f(m, n−1, u) (Mann and Whitney, 1947).
func rankSumShares(m, n int) []float64 {
	rows := make([][]float64, n+1) // of the samples with i of the first, by j of the second
	for j := range rows {
		rows[j] = []float64{1}
	}
	for i := 1; i <= m; i++ {
		next := make([][]float64, n+1)
		next[0] = []float64{1}
		for j := 1; j <= n; j++ {
			f := make([]float64, i*j+1)
			first, second := float64(i)/float64(i+j), float64(j)/float64(i+j)
			for u, p := range rows[j] {
				f[u+j] += first * p
			}
			for u, p := range next[j-1] {
				f[u] += second * p
			}
			next[j] = f
		}
		rows = next
	}
	return rows[n]
}

// criticalRankSum is how many of the smallest differences lie below the interval;
// 0 where the samples are too small for one.
func criticalRankSum(m, n int, alpha float64) int {
	if m*n > exactPairs {
		z := math.Sqrt2 * math.Erfinv(1-alpha)
		mean, sd := float64(m*n)/2, math.Sqrt(float64(m*n)*float64(m+n+1)/12)
		return max(0, int(math.Floor(mean-z*sd-0.5)))
	}
	counts := rankSumShares(m, n)
	sum := 0.0
	for k, p := range counts {
		if sum += p; 2*sum > alpha {
			return k
		}
	}
	return 0
}
