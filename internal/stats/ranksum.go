package stats

import (
	"math"
	"slices"
)

// exactSum is up to how many runs of both samples the rank-sum test's distribution
// is taken exactly.
const exactSum = 40

// rankSum returns the two-sided p of the rank-sum test for two ordered samples,
// given the ranks: every choice of as many ranks is as likely. Ties, and all runs
// that failed, have middle ranks.
func rankSum(x, y []float64) float64 {
	ranks, sum := sumOfRanks(x, y)
	n, k, total := len(ranks), len(x), len(ranks)*(len(ranks)+1)
	if n > exactSum {
		return rankSumNormal(ranks, k, sum)
	}
	chances := choices(ranks, k)
	var below, above float64
	for s, chance := range chances {
		if s <= sum {
			below += chance
		}
		if s >= sum && s <= total {
			above += chance
		}
	}
	return min(1, 2*min(below, above))
}

// sumOfRanks returns the doubled ranks of both samples, and the sum of those of x.
func sumOfRanks(x, y []float64) (ranks []int, sum int) {
	both := append(slices.Clone(x), y...)
	slices.Sort(both)
	for from := 0; from < len(both); {
		to := from
		for to < len(both) && both[to] == both[from] {
			ranks = append(ranks, 0)
			to++
		}
		for i := from; i < to; i++ {
			ranks[i] = from + 1 + to
		}
		for _, v := range x {
			if v == both[from] {
				sum += from + 1 + to
			}
		}
		from = to
	}
	return ranks, sum
}

// choices returns the probability of every sum of k of the ranks.
//
// The ranks are taken one after the other: ways[j][s] is the share of the choices
// of j among those taken that have the sum s.
func choices(ranks []int, k int) []float64 {
	most := 0
	for _, r := range ranks {
		most += r
	}
	ways := make([][]float64, k+1)
	for j := range ways {
		ways[j] = make([]float64, most+1)
	}
	ways[0][0] = 1
	reached := 0
	for i, r := range ranks {
		reached += r
		for j := min(k, i+1); j > 0; j-- {
			with, without := float64(j)/float64(i+1), float64(i+1-j)/float64(i+1)
			for s := reached; s >= 0; s-- {
				ways[j][s] *= without
				if s >= r {
					ways[j][s] += with * ways[j-1][s-r]
				}
			}
		}
	}
	return ways[k]
}

// rankSumNormal is the test for many runs: the normal distribution with the
// variance that the tied ranks leave.
func rankSumNormal(ranks []int, k, sum int) float64 {
	n, size := float64(len(ranks)), float64(k)
	mean := size * (n + 1) // of doubled ranks
	variance := 0.0
	for _, r := range ranks {
		d := float64(r) - (n + 1)
		variance += d * d
	}
	variance *= size * (n - size) / (n * (n - 1))
	if variance == 0 {
		return 1
	}
	return min(1, 2*normalTail(max(math.Abs(float64(sum)-mean)-1, 0)/math.Sqrt(variance)))
}

// criticalSum returns k so that the k-th smallest and the k-th largest difference
// of two samples are an interval of level 1 − alpha or more; 0 when there is none.
func criticalSum(x, y int, alpha float64) int {
	if x+y > exactSum {
		mean := float64(x) * float64(y) / 2
		deviation := math.Sqrt(mean * float64(x+y+1) / 6)
		return max(int(math.Floor(mean-0.5-normalQuantile(1-alpha/2)*deviation)), 0)
	}
	ranks := make([]int, x+y)
	for i := range ranks {
		ranks[i] = i + 1
	}
	least, p := x*(x+1)/2, 0.0
	for s, chance := range choices(ranks, x) {
		if p += chance; 2*p > alpha {
			return max(s-least, 0)
		}
	}
	return 0
}
