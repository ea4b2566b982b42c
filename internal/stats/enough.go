package stats

import (
	"maps"
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// Enough says whether the records of one comparison satisfy the rule of reps: auto:
// the interval of the ratio of every pair of protocols is narrower than rule.Width,
// or rule.Max blocks are there. Comparisons without chance in them have enough with
// two blocks, which are the same.
//
// Properties that an edit must keep:
//   - it looks after rule.Min blocks, and then each time there are a quarter more,
//     not after every one: the more looks, the more often an interval is narrow by
//     chance;
//   - only whole blocks count, up to the first that is not whole, and none that was
//     carried out again: what a look sees never changes by later records, and an
//     answer of yes stays one.
func Enough(rule lab.Auto, records []lab.Record) bool {
	series, blocks, exact := wholeBlocks(records)
	if exact {
		return blocks >= min(2, rule.Max)
	}
	for n := rule.Min; n <= blocks; n = max(n+1, int(math.Ceil(1.25*float64(n)))) {
		if narrow(series, n, rule.Width) {
			return true
		}
	}
	return blocks >= rule.Max
}

// wholeBlocks returns the series of each cell but the A/A arm's, and the last
// block before the first that is not whole.
func wholeBlocks(records []lab.Record) (all []series, blocks int, exact bool) {
	byCell, have := map[lab.Cell][]lab.Record{}, map[int]int{}
	for _, r := range records {
		if r.Run.Repeats == 0 {
			byCell[r.Run.Cell] = append(byCell[r.Run.Cell], r)
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(byCell), compareCells) { // which of two is a decides the bootstrap's draws
		runs, _ := counted(byCell[c])
		for _, r := range runs {
			have[r.Run.Rep]++
		}
		exact = Exact(c)
		if c.Arm == "" {
			all = append(all, seriesOf(runs))
		}
	}
	for len(byCell) > 0 && have[blocks+1] == len(byCell) {
		blocks++
	}
	return all, blocks, exact
}

// narrow says whether after n blocks the interval of every pair is narrow enough.
// A series of which nothing ended well has none, and more blocks give it none; one of
// which the lab spoilt all may get one.
func narrow(all []series, n int, width float64) bool {
	var ending []series
	for _, s := range all {
		if s = s.first(n); !s.fails() {
			ending = append(ending, s)
		}
	}
	for i, a := range ending {
		for _, b := range ending[i+1:] {
			logs := pairUp(a, b).logs
			if len(logs) == 0 {
				return false
			}
			s := spanOf(logs, 0, Level)
			if !s.known || !(math.Expm1(s.high-s.low) < width) {
				return false
			}
		}
	}
	return true
}

// fails says whether there are runs, and none of them ended well.
func (s series) fails() bool {
	for _, x := range s {
		if !math.IsInf(x, 1) {
			return false
		}
	}
	return len(s) > 0
}

func (s series) first(n int) series {
	part := series{}
	for block, x := range s {
		if block <= n {
			part[block] = x
		}
	}
	return part
}
