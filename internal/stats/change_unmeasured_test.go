package stats

import (
	"slices"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Cells that the newer plan has and its records lack are told: a gate must not pass
// for want of measurements. Runs that the lab spoilt are none; cells that were not
// planned are only named.
func TestUnmeasuredCells(t *testing.T) {
	h1, h3 := cell(lab.H1), cell(lab.H3)
	old := slices.Concat(runs(h1, 1, 1, 1, 1), runs(h3, 1, 1, 1, 1))
	planOf := func(cells ...lab.Cell) (p lab.Plan) {
		for _, c := range cells {
			p.Runs = append(p.Runs, lab.Run{ID: lab.RunID(c, 1), Cell: c, Rep: 1})
		}
		return p
	}
	spoilt := runs(h3, 1, 1)
	for i := range spoilt {
		spoilt[i].Outcome = lab.Invalid
		spoilt[i].Run.Lateness, spoilt[i].Lateness.P99 = 5*time.Millisecond, 0.006
	}
	for _, c := range []struct {
		name  string
		plan  lab.Plan
		fresh []lab.Record
		want  int
	}{
		{"all there", planOf(h1, h3), old, 0},
		{"interrupted", planOf(h1, h3), runs(h1, 1, 1, 1, 1), 1},
		{"spoilt", planOf(h1, h3), slices.Concat(runs(h1, 1, 1, 1, 1), spoilt), 1},
		{"not planned", planOf(h1), runs(h1, 1, 1, 1, 1), 0},
		{"failed is measured", planOf(h1, h3), slices.Concat(runs(h1, 1, 1, 1, 1), runs(h3, 0, 0, 0)), 0},
	} {
		got, err := Compare(Measured{Name: "old", Plan: planOf(h1, h3), Records: old}, Measured{Name: "new", Plan: c.plan, Records: c.fresh}, nil, false)
		if err != nil || len(got.Unmeasured) != c.want || got.Unmeasured == nil {
			t.Errorf("%s: %v, %v", c.name, got.Unmeasured, err)
		}
	}
}
