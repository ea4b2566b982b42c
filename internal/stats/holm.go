package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// test is one member of the family over which Holm's correction is made.
type test struct {
	p     float64
	least float64 // the smallest p that the test could have had, with so many blocks
	// second: it is carried out only where that takes no other test's chance.
	second bool
}

// family says which tests are carried out, and corrects their p for their number:
// Holm (1979) takes the smallest p times their number, the next times one less,
// and so on, none smaller than the one before. The probability of any false claim
// is at most Level.
//
// Which tests are carried out may depend on what they could reach, and not on what
// they show: given the sizes of all differences, every sign is as likely as the
// other, and what a test could reach follows from the sizes alone.
func family(tests []test) (carried []bool, adjusted []float64) {
	carried, adjusted = make([]bool, len(tests)), make([]float64, len(tests))
	list := chosenTests(tests)
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(tests[i].p, tests[j].p) })
	last := 0.0
	for i, t := range list {
		last = max(last, min(1, tests[t].p*float64(len(list)-i)))
		carried[t], adjusted[t] = true, last
	}
	return carried, adjusted
}

// chosenTests leaves out those that could not show anything: with K the smallest
// number for which at most K tests could reach Level/K, it takes these (Tarone,
// 1990). Then the second ones are added, those with most chances first, as long as
// all that are there could still reach their level.
func chosenTests(tests []test) []int {
	within := func(k int) (list []int) {
		for i, t := range tests {
			if !t.second && t.least <= Level/float64(k) {
				list = append(list, i)
			}
		}
		return list
	}
	k := 1 + sort.Search(len(tests), func(i int) bool { return len(within(i+1)) <= i+1 })
	list := within(k)
	worst := 0.0
	for _, i := range list {
		worst = max(worst, tests[i].least)
	}
	for _, i := range secondTests(tests) {
		worst = max(worst, tests[i].least)
		if worst > Level/float64(len(list)+1) {
			break
		}
		list = append(list, i)
	}
	return list
}

func secondTests(tests []test) (list []int) {
	for i, t := range tests {
		if t.second {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(tests[i].least, tests[j].least) })
	return list
}

// fewest is the number of blocks from which on there is an interval of 95 %.
const fewest = 6

// blocksNeeded is how many blocks the signed-rank test takes to be able to reach
// Level when Holm's correction is made for so many tests.
func blocksNeeded(tests int) int {
	n := fewest
	for leastSignedRank(n) > Level/float64(max(tests, 1)) {
		n++
	}
	return n
}

// leastSignedRank is the smallest p of n blocks: all have the same sign.
func leastSignedRank(n int) float64 { return math.Min(1, math.Ldexp(2, -n)) }

// signTest is the exact two-sided p for two counts of which each was as likely to
// take every one (McNemar's test, exact).
func signTest(a, b int) float64 { return min(1, 2*binomialBelow(a+b, min(a, b)+1)) }
