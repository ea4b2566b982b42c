package stats

import (
	"fmt"
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
	byComparison := map[lab.Cell][]lab.Record{}
	var order []lab.Cell
	for _, r := range records {
		key := r.Run.Cell
		key.Protocol, key.Arm = "", ""
		if key.Site == lab.Virtual || r.Run.Repeats != 0 {
			continue
		}
		if byComparison[key] == nil {
			order = append(order, key)
		}
		byComparison[key] = append(byComparison[key], r)
	}
	slices.SortFunc(order, compareCells)
	for _, key := range order {
		out = append(out, drift(key, byComparison[key]))
	}
	return out
}

func drift(key lab.Cell, records []lab.Record) Drifting {
	blocks, levels := blockLevels(records)
	d := Drifting{Cell: key, N: len(blocks), P: 1}
	if d.N < driftBlocks {
		return d
	}
	d.Rho = rho(levels)
	if d.Rho != 0 {
		d.P = rhoChance(levels, math.Abs(d.Rho))
	}
	d.Change = math.Expm1(slope(levels) * float64(d.N-1))
	if !key.Path.Random() {
		for i, block := range blocks {
			if outside(levels, i) {
				d.Spoilt = append(d.Spoilt, block)
			}
		}
	}
	return d
}

// blockLevels returns the blocks in the order in which they were carried out, and
// the level of each.
func blockLevels(records []lab.Record) (blocks []int, levels []float64) {
	byCell := map[lab.Cell][]lab.Record{}
	for _, r := range records {
		byCell[r.Run.Cell] = append(byCell[r.Run.Cell], r)
	}
	sum, n := map[int]float64{}, map[int]int{}
	for _, records := range byCell {
		runs, _ := counted(records)
		s := seriesOf(runs)
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

// rhoChance is the share of orders in which the values correlate at least so much
// with it. The orders are the same each time.
func rhoChance(values []float64, least float64) float64 {
	if len(values) >= manyForRho {
		return math.Erfc(least * math.Sqrt(float64(len(values)-1)) / math.Sqrt2)
	}
	r := rand.New(rand.NewPCG(uint64(len(values)), permutations))
	shuffled := slices.Clone(values)
	hits := 1 // the order that was
	for range permutations {
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if math.Abs(rho(shuffled)) >= least-1e-12 {
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

// outside says whether a value is beyond the outer fences of the others, and far
// from their median.
func outside(values []float64, i int) bool {
	others := slices.Delete(slices.Clone(values), i, i+1)
	slices.Sort(others)
	q1, q2, q3 := linear(others, 0.25), linear(others, 0.5), linear(others, 0.75)
	reach := max(outerFence*(q3-q1), 0)
	return (values[i] > q3+reach || values[i] < q1-reach) && math.Abs(values[i]-q2) > math.Log1p(spoiltBy)
}

// linear is a quantile that interpolates linearly between ordered values, as numpy does by default.
func linear(ordered []float64, q float64) float64 {
	at := q * float64(len(ordered)-1)
	low := int(math.Floor(at))
	if low+1 >= len(ordered) {
		return ordered[len(ordered)-1]
	}
	return ordered[low] + (at-float64(low))*(ordered[low+1]-ordered[low])
}

// flagDrift flags the cells of comparisons during which the machine changed.
func flagDrift(cells []Cell, drifts []Drifting) {
	for i := range cells {
		key := cells[i].Cell
		key.Protocol, key.Arm = "", ""
		for _, d := range drifts {
			if d.Cell == key && d.Significant() {
				cells[i].Flags = append(cells[i].Flags, Drift)
			}
		}
	}
}

// warnDrift says what changed, and which blocks were carried out again for it.
func warnDrift(drifts []Drifting, records []lab.Record) (out []string) {
	again := map[lab.Cell]map[int]bool{}
	for _, r := range records {
		key := r.Run.Cell
		key.Protocol, key.Arm = "", ""
		if r.Run.Repeats == 0 {
			continue
		}
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
