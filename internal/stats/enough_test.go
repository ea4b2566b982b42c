package stats

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
)

// pathOf are the records of one path of a plan.
func pathOf(records []lab.Record, path string) (part []lab.Record) {
	for _, r := range records {
		if r.Run.Cell.Path.Name == path {
			part = append(part, r)
		}
	}
	return part
}

func TestEnough(t *testing.T) {
	rule := lab.Auto{Width: 0.1, Min: 8, Max: 12}
	for _, tt := range []struct {
		name, path   string
		site         lab.SiteName
		blocks, from int // of how many blocks on it is enough
	}{
		{"all the same", "a", lab.Kernel, 12, 8},
		{"wide", "b", lab.Kernel, 12, 12},
		{"without chance", "b", lab.Virtual, 12, 2},
	} {
		p := ruledPlan(tt.blocks, rule, tt.site)
		for n := 0; n <= tt.blocks; n++ {
			records := pathOf(ruledRecords(p, n, n), tt.path)
			if got := Enough(rule, records); got != (n >= tt.from) {
				t.Errorf("%s: %d blocks: %v", tt.name, n, got)
			}
			rand.New(rand.NewPCG(1, uint64(n))).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			if got := Enough(rule, records); got != (n >= tt.from) {
				t.Errorf("%s: %d blocks in another order: %v", tt.name, n, got)
			}
		}
	}
}

// What wide blocks became narrow with is seen at a quarter more, not before.
func TestEnoughLooksSeldom(t *testing.T) {
	rule := lab.Auto{Width: 0.8, Min: 8, Max: 60}
	p := ruledPlan(40, rule, lab.Kernel)
	first := 0
	for n := 1; n <= 40; n++ {
		records := pathOf(ruledRecords(p, n, n), "b")
		if Enough(rule, records) && first == 0 {
			first = n
		}
		if got := Enough(rule, records); got != (first > 0) {
			t.Fatalf("%d blocks: %v, after it was enough with %d", n, got, first)
		}
	}
	looks := map[int]bool{8: true, 10: true, 13: true, 17: true, 22: true, 28: true, 35: true}
	if !looks[first] || first == rule.Min {
		t.Errorf("it was enough with %d blocks, which is none of the looks", first)
	}
}

// A block that is not whole, what comes after it, and blocks that were carried out
// again, change nothing; nor does a protocol that never ended well.
func TestEnoughOfWholeBlocks(t *testing.T) {
	rule := lab.Auto{Width: 0.1, Min: 8, Max: 12}
	p := ruledPlan(12, rule, lab.Kernel)
	records := pathOf(ruledRecords(p, 8, 0), "a")
	var torn, repeated, failing []lab.Record
	for _, r := range records {
		if r.Run.Rep != 5 || r.Run.Cell.Protocol != lab.H2 {
			torn = append(torn, r)
		}
		if r.Run.Rep == 8 {
			r.Run.Rep, r.Run.Repeats = 20, 3
		}
		repeated = append(repeated, r)
		if r.Run.Cell.Protocol == lab.H2 {
			r.Outcome = lab.Timeout
		}
		failing = append(failing, r)
	}
	if Enough(rule, torn) {
		t.Error("a block was not whole")
	}
	if Enough(rule, repeated) {
		t.Error("a block that was carried out again counted as one more")
	}
	for i := range failing {
		failing[i].Run = records[i].Run
	}
	if !Enough(rule, failing) {
		t.Error("a protocol that never ends well will not have an interval")
	}
}

// However runs end, an answer comes, and yes stays yes as blocks are added.
func TestEnoughWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := lab.Auto{
			Width: rapid.SampledFrom([]float64{0.001, 0.1, 1}).Draw(t, "width"),
			Min:   rapid.IntRange(0, 9).Draw(t, "min"), Max: rapid.IntRange(9, 12).Draw(t, "max"),
		}
		p := ruledPlan(12, rule, lab.Kernel)
		records := pathOf(ruledRecords(p, 12, 12), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "path"))
		outcomes := append(lab.Outcomes(), lab.OK, lab.OK, lab.OK)
		for i := range records {
			records[i].Outcome = rapid.SampledFrom(outcomes).Draw(t, "outcome")
			records[i].Attempt = 2
		}
		enough := false
		for n := 1; n <= 12; n++ {
			got := Enough(rule, upTo(records, n))
			if enough && !got {
				t.Fatalf("%d blocks are not enough, and fewer were", n)
			}
			enough = got
		}
		if !enough {
			t.Fatal("the most blocks are not enough")
		}
	})
}

// A lab that spoils every run says nothing: more blocks may be better.
func TestEnoughOfSpoiltRuns(t *testing.T) {
	rule := lab.Auto{Width: 0.1, Min: 8, Max: 12}
	records := pathOf(ruledRecords(ruledPlan(12, rule, lab.Kernel), 10, 0), "a")
	for _, spoilt := range []func(lab.Run) bool{
		func(r lab.Run) bool { return r.Cell.Protocol == lab.H1 },
		func(r lab.Run) bool { return r.Rep%2 == 0 == (r.Cell.Protocol == lab.H2) }, // never both of a block
	} {
		changed := slices.Clone(records)
		for i, r := range changed {
			if spoilt(r.Run) {
				changed[i].Outcome = lab.Invalid
			}
		}
		if Enough(rule, changed) {
			t.Error("enough without one whole pair")
		}
	}
}
