package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// drifting makes a comparison of n blocks whose level is f(block).
func drifting(n int, noise float64, seed uint64, f func(block int) float64) (records []lab.Record) {
	r := rand.New(rand.NewPCG(seed, 1))
	for block := 1; block <= n; block++ {
		for i, p := range lab.Protocols() {
			seconds := (0.1 + 0.05*float64(i)) * math.Exp(f(block)+noise*r.NormFloat64())
			records = append(records, record(cell(p), block, seconds))
		}
	}
	return records
}

func TestDrift(t *testing.T) {
	for _, tt := range []struct {
		name        string
		f           func(int) float64
		significant bool
		spoilt      int
	}{
		{"steady", func(int) float64 { return 0 }, false, 0},
		{"ever slower", func(b int) float64 { return 0.02 * float64(b) }, true, 0},
		{"ever faster", func(b int) float64 { return -0.02 * float64(b) }, true, 0},
		{"slower, but hardly", func(b int) float64 { return 0.001 * float64(b) }, false, 0},
		{"one block", func(b int) float64 { return map[bool]float64{b == 7: 0.5}[true] }, false, 7},
	} {
		d := Drifted(drifting(12, 0.01, 3, tt.f))
		if len(d) != 1 || d[0].Significant() != tt.significant {
			t.Errorf("%s: %+v", tt.name, d)
			continue
		}
		if (tt.spoilt == 0) != (len(d[0].Spoilt) == 0) || tt.spoilt > 0 && d[0].Spoilt[0] != tt.spoilt {
			t.Errorf("%s: spoilt %v", tt.name, d[0].Spoilt)
		}
	}
	if d := Drifted(drifting(5, 0.01, 3, func(b int) float64 { return float64(b) })); d[0].Significant() || d[0].Spoilt != nil {
		t.Errorf("five blocks say %+v", d[0])
	}
}

// On a path with losses a block's level is also chance: nothing is carried out
// again for it.
func TestLossesSpoilNoBlock(t *testing.T) {
	records := drifting(12, 0.01, 3, func(b int) float64 { return map[bool]float64{b == 7: 2}[true] })
	for i := range records {
		records[i].Run.Cell.Path.Down.Loss.Share = 0.01
	}
	if d := Drifted(records); len(d) != 1 || d[0].Spoilt != nil {
		t.Errorf("%+v", d)
	}
}

// A difference between protocols is no drift, nor is virtual time's.
func TestDriftIsCommonToAll(t *testing.T) {
	var records []lab.Record
	for block := 1; block <= 12; block++ {
		records = append(records, record(cell(lab.H1), block, math.Exp(0.05*float64(block))), record(cell(lab.H2), block, math.Exp(-0.05*float64(block))))
	}
	if d := Drifted(records); d[0].Significant() {
		t.Errorf("%+v", d[0])
	}
	for i := range records {
		records[i].Run.Cell.Site = lab.Virtual
	}
	if d := Drifted(records); d != nil {
		t.Errorf("%+v", d)
	}
}

// Without drift few comparisons are called so: the level of the test is 1 %.
func TestDriftIsNotAlarmed(t *testing.T) {
	const studies = 400
	alarms, spoilt := 0, 0
	for seed := range uint64(studies) {
		d := Drifted(drifting(10, 0.05, seed, func(int) float64 { return 0 }))[0]
		if d.Significant() {
			alarms++
		}
		spoilt += len(d.Spoilt)
	}
	if limit := 0.01*studies + 3*math.Sqrt(0.01*studies); float64(alarms) > limit {
		t.Errorf("%d of %d, the limit is %.1f", alarms, studies, limit)
	}
	if spoilt > studies/50 {
		t.Errorf("%d blocks of %d were called spoilt", spoilt, studies*10)
	}
}

// Spearman's by hand: two neighbours exchanged in 1…5 give 0.9; ties share ranks.
func TestRho(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{1, 2, 3, 4, 5}, 1}, {[]float64{5, 4, 3, 2, 1}, -1}, {[]float64{1, 2, 3, 5, 4}, 0.9},
		{[]float64{1, 1, 1}, 0}, {[]float64{1, 1, 2}, math.Sqrt(3) / 2},
	} {
		if got := rho(tt.values); !almost(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.values, got, tt.want)
		}
	}
}
