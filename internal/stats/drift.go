package stats

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// Drifting says of one comparison on a site in real time how its blocks changed
// while the study ran.
type Drifting struct {
	Cell lab.Cell // of the comparison, without protocol and arm
	N    int      // blocks
	// Rho is Spearman's rank correlation of the blocks' levels with their order, and
	// P the chance of one as far from 0 without any drift.
	Rho, P float64
	// Change is by how much the level changed from the first block to the last, by
	// the Theil–Sen slope: 0.05 is 5 % slower.
	Change float64
	// Spoilt are the blocks whose level is far outside that of all others.
	Spoilt []int
}

// What counts as drift, and as a block that was spoilt.
const (
	driftLevel  = 0.01 // of the test
	driftChange = 0.05 // of the level, from end to end
	driftBlocks = 6    // fewer say nothing
	outerFence  = 3.0  // times the inter-quartile range (Tukey, 1977)
	spoiltBy    = 0.10 // and at least so far from the median
)

// Significant says that the machine changed while the comparison was carried out.
func (d Drifting) Significant() bool {
	return d.N >= driftBlocks && d.P <= driftLevel && math.Abs(d.Change) > driftChange
}

// Drifted looks at each comparison of the sites in real time. A block's level is
// the mean, over its runs that ended ok, of the logarithm of the duration less the
// cell's median: what all protocols have in common, so that no difference between
// them can look like drift, or be hidden by what is done about it.
//
// On a path with chance in it a block's level is also that of its losses: there no
// block is called spoilt. Blocks that were carried out again are left out: what is
// found follows from the plan's own blocks alone.
func Drifted(records []lab.Record) (out []Drifting) {
	all := map[lab.Cell]series{}
	for c, records := range byCell(records) {
		runs, _ := counted(records)
		all[c] = planned(runs)
	}
	return drifts(all)
}

// planned are the runs that the plan had from the beginning.
func planned(runs []lab.Record) series {
	s := seriesOf(runs)
	for i := range runs {
		if run := &runs[i].Run; run.Repeats != 0 {
			delete(s, run.Rep)
		}
	}
	return s
}

func drifts(all map[lab.Cell]series) (out []Drifting) {
	byComparison := map[lab.Cell][]series{}
	for _, c := range slices.SortedFunc(maps.Keys(all), compareCells) { // sums must not depend on chance
		if c.Site != lab.Virtual && len(all[c]) > 0 {
			byComparison[shared(c)] = append(byComparison[shared(c)], all[c])
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(byComparison), compareCells) {
		out = append(out, drift(key, byComparison[key]))
	}
	return out
}

func drift(key lab.Cell, cells []series) Drifting {
	blocks, levels := blockLevels(cells)
	d := Drifting{Cell: key, N: len(blocks), P: 1}
	if d.N < driftBlocks {
		return d
	}
	d.Rho = rho(levels)
	d.Change = math.Expm1(slope(levels) * float64(d.N-1))
	d.P = rhoNormal(d.N, math.Abs(d.Rho))
	if d.N < manyForRho && d.P < nearDrift && math.Abs(d.Change) > driftChange {
		d.P = rhoChance(levels, math.Abs(d.Rho))
	}
	if !key.Path.Random() {
		ordered := slices.Sorted(slices.Values(levels))
		for i, block := range blocks {
			if outside(ordered, levels[i]) {
				d.Spoilt = append(d.Spoilt, block)
			}
		}
	}
	return d
}

// blockLevels returns the blocks in the order in which they were carried out, and
// the level of each.
func blockLevels(cells []series) (blocks []int, levels []float64) {
	sum, n := map[int]float64{}, map[int]int{}
	for _, s := range cells {
		var ended []float64
		for _, x := range s {
			if !math.IsInf(x, 0) {
				ended = append(ended, x)
			}
		}
		slices.Sort(ended)
		if len(ended) == 0 {
			continue
		}
		middle := (ended[(len(ended)-1)/2] + ended[len(ended)/2]) / 2
		for block, x := range s {
			if !math.IsInf(x, 0) {
				sum[block] += x - middle
				n[block]++
			}
		}
	}
	for block := range sum {
		blocks = append(blocks, block)
	}
	slices.Sort(blocks)
	for _, block := range blocks {
		levels = append(levels, sum[block]/float64(n[block]))
	}
	return blocks, levels
}

// rho is Spearman's rank correlation of values with their order; ties have the
// mean of their ranks.
func rho(values []float64) float64 {
	n := len(values)
	r := ranks(values)
	mean := float64(n+1) / 2
	var xy, xx, yy float64
	for i := range r {
		x, y := float64(i+1)-mean, r[i]-mean
		xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

func ranks(values []float64) []float64 {
	at := make([]int, len(values))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	r := make([]float64, len(values))
	for i := 0; i < len(at); {
		j := i
		for j < len(at) && values[at[j]] == values[at[i]] {
			j++
		}
		for k := i; k < j; k++ {
			r[at[k]] = float64(i+j+1) / 2
		}
		i = j
	}
	return r
}

// permutations is how many orders stand for all.
const permutations = 10_000

// manyForRho is from how many blocks on the normal distribution is good enough.
const manyForRho = 60

// nearDrift is below which p of the normal distribution the orders are counted:
// above it there is no drift by either.
const nearDrift = 0.1

func rhoNormal(n int, rho float64) float64 {
	return math.Erfc(rho * math.Sqrt(float64(n-1)) / math.Sqrt2)
}

// rhoChance is the share of orders in which the values correlate at least so much
// with it. The orders are the same each time.
func rhoChance(values []float64, least float64) float64 {
	r := rand.New(rand.NewPCG(uint64(len(values)), permutations))
	shuffled := ranks(values)
	mean, squares := float64(len(values)+1)/2, 0.0
	for i := range shuffled {
		shuffled[i] -= mean
		squares += shuffled[i] * shuffled[i]
	}
	places := float64(len(values)) * (float64(len(values))*float64(len(values)) - 1) / 12
	enough := (least - 1e-12) * math.Sqrt(squares*places)
	hits := 1 // the order that was
	for range permutations {
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		sum := 0.0
		for i, rank := range shuffled {
			sum += float64(i) * rank // the ranks' mean is 0, so that places need none
		}
		if math.Abs(sum) >= enough {
			hits++
		}
	}
	return float64(hits) / float64(permutations+1)
}

// slope is the median of the slopes between all pairs of values (Theil, 1950; Sen,
// 1968). Beyond mostSlopes values evenly chosen ones stand for all.
func slope(values []float64) float64 {
	const mostSlopes = 500
	step := (len(values) + mostSlopes - 1) / mostSlopes
	var all []float64
	for i := 0; i < len(values); i += step {
		for j := i + step; j < len(values); j += step {
			all = append(all, (values[j]-values[i])/float64(j-i))
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// outside says whether one of ordered values is beyond the outer fences of the
// others, and far from their median.
func outside(ordered []float64, value float64) bool {
	i, _ := slices.BinarySearch(ordered, value)
	q1, q2, q3 := linear(ordered, i, 0.25), linear(ordered, i, 0.5), linear(ordered, i, 0.75)
	reach := max(outerFence*(q3-q1), 0)
	return (value > q3+reach || value < q1-reach) && math.Abs(value-q2) > math.Log1p(spoiltBy)
}

// linear is a quantile that interpolates linearly between ordered values, as numpy
// does by default, without the one at a place; a place behind them all is none.
func linear(ordered []float64, without int, q float64) float64 {
	n := len(ordered)
	if without < n {
		n--
	}
	value := func(i int) float64 {
		i = min(i, n-1)
		if i >= without {
			i++
		}
		return ordered[i]
	}
	at := q * float64(n-1)
	low := int(math.Floor(at))
	return value(low) + (at-float64(low))*(value(low+1)-value(low))
}

// flagDrift flags the cells of comparisons during which the machine changed.
func flagDrift(cells []Cell, drifts []Drifting) {
	significant := map[lab.Cell]bool{}
	for _, d := range drifts {
		if d.Significant() {
			significant[d.Cell] = true
		}
	}
	for i := range cells {
		if len(significant) > 0 && significant[shared(cells[i].Cell)] {
			cells[i].set(Drift)
		}
	}
}

// shared is what the cells of a comparison have in common: all but protocol and arm.
func shared(c lab.Cell) lab.Cell {
	c.Protocol, c.Arm = "", ""
	return c
}

// warnDrift says what changed, and which blocks were carried out again for it.
func warnDrift(drifts []Drifting, records []lab.Record) (out []string) {
	again := map[lab.Cell]map[int]bool{}
	for _, r := range records {
		if r.Run.Repeats == 0 {
			continue
		}
		key := shared(r.Run.Cell)
		if again[key] == nil {
			again[key] = map[int]bool{}
		}
		again[key][r.Run.Repeats] = true
	}
	for _, d := range drifts {
		place := fmt.Sprintf("%s, %s, %s", d.Cell.Path.Name, d.Cell.Load.Name, d.Cell.Site)
		if d.Significant() {
			out = append(out, fmt.Sprintf("%s: the machine changed while this was measured: all protocols together by %+.0f %% from the first repetition to the last (rank correlation %.2f, p = %.2g)",
				place, d.Change*100, d.Rho, d.P))
		}
		for _, block := range d.Spoilt {
			what := "was not carried out again"
			if again[d.Cell][block] {
				what = "was carried out again, and both count"
			}
			out = append(out, fmt.Sprintf("%s: repetition %d took much longer or shorter than the others, all protocols alike; it %s", place, block, what))
		}
	}
	return out
}
