package stats

import "math"

// logChoose is the logarithm of the number of ways to take k of n.
func logChoose(n, k int) float64 {
	lgamma := func(v int) float64 { l, _ := math.Lgamma(float64(v) + 1); return l }
	return lgamma(n) - lgamma(k) - lgamma(n-k)
}

// fisher returns the two-sided p of Fisher's exact test (1922) on two counts of
// good and bad: the probability, given the sums, of all tables that are at most as
// likely as this one.
func fisher(goodA, badA, goodB, badB int) (p float64) {
	a, b, good := goodA+badA, goodB+badB, goodA+goodB
	all := logChoose(a+b, good)
	chance := func(x int) float64 { return math.Exp(logChoose(a, x) + logChoose(b, good-x) - all) }
	here := chance(goodA)
	const same = 1 + 1e-9 // chances that are equal differ in their last digits
	for x := max(0, good-b); x <= min(a, good); x++ {
		if c := chance(x); c <= here*same {
			p += c
		}
	}
	return min(1, p)
}

// leastFisher is the smallest p that the test can have for these sums: good ones in
// all, of a and b runs.
func leastFisher(good, a, b int) float64 {
	low, high := max(0, good-b), min(a, good)
	return min(fisher(low, a-low, good-low, b-good+low), fisher(high, a-high, good-high, b-good+high))
}

// leastRankSum is the smallest two-sided p of the rank-sum test of a and b runs: all
// of one are above all of the other.
func leastRankSum(a, b int) float64 {
	if a == 0 || b == 0 {
		return 1
	}
	return min(1, 2*math.Exp(-logChoose(a+b, a)))
}

// runsNeeded is how many runs on either side it takes for the rank-sum test to be
// able to reach Level when Holm's correction is made for so many tests.
func runsNeeded(tests int) int {
	n := 4
	for leastRankSum(n, n) > Level/float64(max(tests, 1)) {
		n++
	}
	return n
}

// exceed is the probability that k or more of m runs lie beyond all of n others,
// when all are alike: that the k farthest of all are among the m (the exceedance
// test; Rosenbaum, 1954). Ties only make it smaller.
func exceed(k, m, n int) float64 {
	p := 1.0
	for i := range min(k, m) {
		p *= float64(m-i) / float64(m+n-i)
	}
	return p
}
