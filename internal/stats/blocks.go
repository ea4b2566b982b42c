package stats

import (
	"hash/fnv"
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// series has what a cell's runs took, by block: the logarithm of the duration in
// s, or +Inf for a run that did not end ok. Blocks in which the lab was at fault
// are not in it.
type series map[int]float64

// shortest is the shortest duration that has a logarithm of use, in s.
const shortest = 1e-9

func seriesOf(runs []lab.Record) series {
	s := series{}
	for _, r := range runs {
		d := r.Value(lab.Duration)
		switch {
		case r.Outcome == lab.Invalid:
		case r.Outcome != lab.OK:
			s[r.Run.Rep] = math.Inf(1)
		case d != nil && sound(*d):
			s[r.Run.Rep] = math.Log(max(*d, shortest))
		}
	}
	return s
}

// grain is to what logarithms of ratios are rounded, so that equal ratios are ties in
// the tests, whatever a logarithm's last digits: a ns in a thousand s.
const grain = 0x1p-40

// pair is the blocks in which two series both have a run.
type pair struct {
	logs       []float64 // of a over b, as Paired takes them
	okA, okB   int
	onlyA      int // blocks in which a ended ok and b did not
	onlyB      int
	bothFailed int
}

func pairUp(a, b series) pair {
	var p pair
	blocks := make([]int, 0, len(a))
	for block := range a {
		if _, ok := b[block]; ok {
			blocks = append(blocks, block)
		}
	}
	slices.Sort(blocks)
	for _, block := range blocks {
		x, y := a[block], b[block]
		p.logs = append(p.logs, math.Round((x-y)/grain)*grain) // NaN where neither ended ok
		switch failedA, failedB := math.IsInf(x, 1), math.IsInf(y, 1); {
		case failedA && failedB:
			p.bothFailed++
		case failedA:
			p.onlyB++
		case failedB:
			p.onlyA++
		}
	}
	n := len(blocks) - p.bothFailed
	p.okA, p.okB = n-p.onlyB, n-p.onlyA
	return p
}

// survivors are the logarithms of the blocks in which both ended ok.
func (p pair) survivors() (finite []float64) {
	for _, x := range p.logs {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			finite = append(finite, x)
		}
	}
	return finite
}

// seedOf makes the seed of a bootstrap from the study's and what is compared, so
// that it does not depend on what else there is.
func seedOf(seed uint64, what ...string) uint64 {
	h := fnv.New64a()
	for _, w := range what {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	return seed ^ h.Sum64()
}
