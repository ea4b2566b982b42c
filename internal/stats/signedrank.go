package stats

import (
	"cmp"
	"math"
	"slices"
)

// exactRanks is up to how many blocks the signed-rank test's distribution is
// taken exactly. Beyond, the normal one is near enough, and errs on the careful
// side: its tails are longer.
const exactRanks = 50

// signedRank returns the two-sided p of Wilcoxon's signed-rank test (1945),
// exact given the ranks, middle ranks for ties. Blocks that are 0 or NaN have the
// lowest ranks, and count for the side that has less, whichever it is: against
// any claim.
func signedRank(logs []float64) float64 {
	ranks, positive, negative, none := doubledRanks(settled(logs))
	t := min(positive, negative) + none
	if len(ranks) <= exactRanks {
		return min(1, 2*atMost(ranks, t))
	}
	var mean, variance float64 // of the doubled sum
	for _, r := range ranks {
		mean += float64(r) / 2
		variance += float64(r) * float64(r) / 4
	}
	return min(1, 2*normalTail((mean-float64(t)-1)/math.Sqrt(variance)))
}

// doubledRanks ranks the blocks by size without sign, and sums the ranks of each
// sign up. Doubled, a middle rank is a whole number too.
func doubledRanks(x []float64) (ranks []int, positive, negative, none int) {
	x = slices.Clone(x)
	slices.SortFunc(x, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	for from := 0; from < len(x); {
		to := from + tied(x[from:])
		for _, v := range x[from:to] {
			r := from + 1 + to // twice the mean of from+1 … to
			ranks = append(ranks, r)
			switch {
			case v > 0:
				positive += r
			case v < 0:
				negative += r
			default:
				none += r
			}
		}
		from = to
	}
	return ranks, positive, negative, none
}

// tied counts those at the beginning that are of one size.
func tied(x []float64) (n int) {
	for n < len(x) && math.Abs(x[n]) == math.Abs(x[0]) {
		n++
	}
	return n
}

// atMost is the probability that the ranks, each there or not with probability
// one half, sum up to t or less.
func atMost(ranks []int, t int) (p float64) {
	for _, chance := range sums(ranks, t) {
		p += chance
	}
	return p
}

// sums returns the probabilities of the sums 0 … t.
func sums(ranks []int, t int) []float64 {
	chances := make([]float64, t+1)
	chances[0] = 1
	for _, r := range ranks {
		for s := t; s >= 0; s-- {
			chances[s] /= 2
			if s >= r {
				chances[s] += chances[s-r] / 2
			}
		}
	}
	return chances
}

// critical returns k so that the k-th smallest and the k-th largest Walsh average
// are an interval of level 1 − alpha or more for n blocks; 0 when there is none.
func critical(n int, alpha float64) int {
	if n > exactRanks {
		size := float64(n)
		mean := size * (size + 1) / 4
		deviation := math.Sqrt(mean * (2*size + 1) / 6)
		return max(int(math.Floor(mean-0.5-normalQuantile(1-alpha/2)*deviation)), 0)
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	p := 0.0
	for k, chance := range sums(ranks, n*(n+1)/4) {
		if p += chance; 2*p > alpha {
			return k
		}
	}
	return 0
}

// normalTail is the probability that a standard normal value is z or more.
func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
