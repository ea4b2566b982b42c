package stats

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

// still is a cell on a path on which nothing takes time.
func still(p lab.Protocol) lab.Cell {
	c := virtual(cell(p))
	c.Path.Name, c.Path.Up, c.Path.Down = "still", lab.Way{}, lab.Way{}
	return c
}

// oddities are values that a record can hold, whatever they mean.
func oddities() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64Range(0.001, 100), rapid.Float64(),
		rapid.SampledFrom([]float64{0, 0, -1, 5e-324, 1e-300, math.MaxFloat64, -math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1)}),
	)
}

// drawOdd makes records of all kinds of cells with values of all kinds.
func drawOdd(t *rapid.T) (records []lab.Record) {
	lossyStill := still(lab.H2)
	lossyStill.Path.Name, lossyStill.Path.Down.Loss.Share = "still and lossy", 0.1
	again := cell(lab.H1)
	again.Arm = lab.ArmAA
	cells := []lab.Cell{
		cell(lab.H1), cell(lab.H2), cell(lab.H3), again, virtual(cell(lab.H1)), virtual(cell(lab.H3)),
		lossy(virtual(cell(lab.H1))), lossy(virtual(cell(lab.H2))), still(lab.H1), still(lab.H3), lossyStill,
	}
	outcomes := append([]lab.Outcome{lab.OK, lab.OK, lab.OK, lab.OK}, lab.Outcomes()...)
	value, blocks := oddities(), rapid.IntRange(1, 8).Draw(t, "blocks")
	for _, c := range cells {
		for rep := range blocks {
			r := record(c, rep+1, 1, ended(rapid.SampledFrom(outcomes).Draw(t, "outcome")))
			r.Samples = nil
			for _, m := range lab.Metrics() {
				m.Value = ptr(value.Draw(t, m.Metric))
				r.Samples = append(r.Samples, m)
			}
			records = append(records, r)
		}
	}
	return records
}

// wild predicts what no theory should.
type wild struct{ v float64 }

func (w wild) Predict(lab.Cell) map[string]float64 { return map[string]float64{lab.Duration: w.v} }
func (w wild) Explain(lab.Cell, lab.Cell) []Term   { return []Term{{"all", w.v, FromTheory}} }

// Whatever records hold, what is made of them are numbers, or nothing: JSON has no
// NaN and no infinity.
func TestWhateverIsMeasuredIsJSON(t *testing.T) {
	thresholds := []Threshold{{Stat: OfMedian, Metric: lab.Duration, Percent: 5}, {Stat: OfMedian, Metric: lab.CPUServer, Percent: 5}, {Stat: OfWorst, Metric: lab.TTFB}}
	rapid.Check(t, func(t *rapid.T) {
		records := drawOdd(t)
		out := Summarise(plan, records, wild{oddities().Draw(t, "theory")})
		if _, err := json.Marshal(out); err != nil {
			t.Fatal(err)
		}
		text := out.Warnings
		for _, v := range out.Verdicts {
			text = append(text, v.Why)
		}
		changes, err := Compare(Measured{Plan: plan, Records: records}, Measured{Plan: plan, Records: drawOdd(t)}, thresholds, rapid.Bool().Draw(t, "strict"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(changes); err != nil {
			t.Fatal(err)
		}
		for _, c := range changes.Cells {
			text = append(text, c.Why)
			for _, m := range c.Metrics {
				text = append(text, m.Why)
			}
			for _, x := range c.Crossings {
				text = append(text, x.Why)
			}
		}
		for _, s := range text {
			if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
				t.Fatal(s)
			}
		}
		for _, m := range Methods() {
			if s, ok := m.Summary(rapid.SliceOf(oddities()).Draw(t, "values")); ok {
				if _, err := json.Marshal(s); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// What takes no time has no ratio.
func TestNoTimeIsNotCompared(t *testing.T) {
	const timers = "no delay and no rate: virtual time shows only what waits for timers"
	lossyOf := func(c lab.Cell) lab.Cell {
		c.Path.Down.Loss.Share = 0.1
		return c
	}
	shared := func(p lab.Protocol) lab.Cell {
		c := still(p)
		c.Path.Up.Delay = time.Millisecond
		return c
	}
	kernel := func(p lab.Protocol) lab.Cell {
		c := still(p)
		c.Site = lab.Kernel
		return c
	}
	for _, tt := range []struct {
		name string
		of   func(lab.Protocol) lab.Cell
		h3   float64 // s
		why  string  // empty: it is compared
	}{
		{"nothing takes time", still, 0, timers},
		{"a pacer waits", still, 0.036, timers},
		{"losses are waited for", func(p lab.Protocol) lab.Cell { return lossyOf(still(p)) }, 0.2, timers},
		{"a delay, and yet no time", shared, 0.036, "h1 took no time that could be measured, to which there is no ratio"},
		{"real time", kernel, 0.036, "h1 took no time that could be measured, to which there is no ratio"},
	} {
		var records []lab.Record
		again := tt.of(lab.H1)
		again.Arm = lab.ArmAA
		for rep := range 7 {
			records = append(records, record(tt.of(lab.H1), rep+1, 0), record(again, rep+1, 0), record(tt.of(lab.H3), rep+1, tt.h3))
		}
		for i := range records {
			records[i].Samples[1].Value = ptr(math.Inf(1)) // goodput
		}
		out := Summarise(plan, records, nil)
		v := verdict(t, out, lab.Duration)
		if v.Verdict != NotComparable || v.Why != tt.why || v.Ratio != nil || v.Low != nil || v.High != nil || v.Exact || len(out.Resolutions) != 0 {
			t.Errorf("%s: %+v, %+v", tt.name, v, out.Resolutions)
		}
		if _, err := json.Marshal(out); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		changes, err := Compare(Measured{Plan: plan, Records: records}, Measured{Plan: plan, Records: records}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes.Cells {
			if m := c.metric(t, lab.Duration); m.Change == Better || m.Change == Worse || (tt.why == timers) != (m.Change == NotComparable && m.Why == timers) || *m.Old == 0 && m.Ratio != nil {
				t.Errorf("%s: %+v", tt.name, m)
			}
		}
	}
}

// drawStudy makes a study of two or three protocols with an A/A arm, on both kinds
// of site, with failures, and durations from those of a list, so that there are ties.
func drawStudy(t *rapid.T) (records []lab.Record) {
	of := rapid.SampledFrom([]func(lab.Protocol) lab.Cell{
		cell,
		func(p lab.Protocol) lab.Cell { return virtual(cell(p)) },
		func(p lab.Protocol) lab.Cell { return lossy(virtual(cell(p))) },
	}).Draw(t, "site")
	again := of(lab.H1)
	again.Arm = lab.ArmAA
	value := rapid.OneOf(rapid.Float64Range(0.5, 2), rapid.Float64Range(0.99, 1.01), rapid.SampledFrom([]float64{0.5, 1, 1, 1}))
	for _, c := range []lab.Cell{of(lab.H1), again, of(lab.H2)} {
		slow := rapid.SampledFrom([]float64{1, 1, 1.5, 4}).Draw(t, "slow")
		for rep := range rapid.IntRange(5, 12).Draw(t, "blocks") {
			r := record(c, rep+1, slow*value.Draw(t, "seconds"))
			if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
				r.Outcome = lab.Timeout
			}
			records = append(records, r)
		}
	}
	return records
}

// A clock that counts in another unit changes no verdict and no ratio. (Drift, the
// time limit and what a difference is made of are in seconds.)
func TestTheUnitOfTimeDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := drawStudy(t)
		factor := rapid.OneOf(rapid.SampledFrom([]float64{0.25, 2, 1024}), rapid.Float64Range(0.01, 100)).Draw(t, "factor")
		scaled := slices.Clone(records)
		for i, r := range records {
			scaled[i].Samples = []lab.Sample{{Metric: lab.Duration, Unit: "s", Value: ptr(factor * *r.Value(lab.Duration))}}
		}
		x, y := Summarise(plan, records, nil), Summarise(plan, scaled, nil)
		near := cmpopts.EquateApprox(1e-9, 0)
		for i, v := range x.Verdicts {
			w := y.Verdicts[i]
			v.Why, w.Why, v.Difference, w.Difference = "", "", nil, nil
			if diff := cmp.Diff(v, w, near); diff != "" {
				t.Fatalf("times %v:\n%s", factor, diff)
			}
		}
		if diff := cmp.Diff(x.Resolutions, y.Resolutions, near); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Who is named first makes no difference: what h1 does to h2 turns over when their
// runs are exchanged. The A/A arm, which is h1's, stays what it was.
func TestExchangingTheArmsTurnsTheVerdictOver(t *testing.T) {
	mirrored := map[string]string{Faster: Slower, Slower: Faster}
	turned := func(p *float64) *float64 {
		if p == nil {
			return nil
		}
		return ptr(1 / *p)
	}
	rapid.Check(t, func(t *rapid.T) {
		records := slices.DeleteFunc(drawStudy(t), func(r lab.Record) bool { return r.Run.Cell.Arm != "" })
		exchanged := slices.Clone(records)
		for i := range exchanged {
			run := &exchanged[i].Run
			run.Cell.Protocol = map[lab.Protocol]lab.Protocol{lab.H1: lab.H2, lab.H2: lab.H1}[run.Cell.Protocol]
			run.ID = lab.RunID(run.Cell, run.Rep)
		}
		x, y := Summarise(plan, records, nil), Summarise(plan, exchanged, nil)
		for i, v := range x.Verdicts {
			w := y.Verdicts[i]
			want := v.Verdict
			if m := mirrored[want]; m != "" {
				want = m
			}
			near := cmpopts.EquateApprox(1e-9, 0)
			if w.Verdict != want || v.Blocks != w.Blocks || !cmp.Equal(v.P, w.P, near) || !cmp.Equal(turned(v.Ratio), w.Ratio, near) {
				t.Fatalf("%+v\nturned into\n%+v", v, w)
			}
			if v.Ratio != nil && (!cmp.Equal(turned(v.Low), w.High, near) || !cmp.Equal(turned(v.High), w.Low, near)) {
				t.Fatalf("%+v\nturned into\n%+v", v, w)
			}
		}
	})
}

// One failed run more, in place of one that ended ok or besides, makes a cell look
// better in nothing: its median, its place among the cells of its comparison, how
// many runs ended ok, and the verdicts about it.
func TestAFailedRunNeverLooksBetter(t *testing.T) {
	good := map[string]int{Slower: 0, NoDifference: 1, NoVerdict: 1, NotComparable: 1, Faster: 2}
	place := func(out Output, c lab.Cell) (better int) {
		mine := out.Cells[slices.IndexFunc(out.Cells, func(have Cell) bool { return have.Cell == c })]
		for _, other := range out.Cells {
			m, o := mine.Statistic(lab.Duration).Median, other.Statistic(lab.Duration).Median
			if o != nil && (m == nil || *o < *m) {
				better++
			}
		}
		return better
	}
	rapid.Check(t, func(t *rapid.T) {
		records := drawStudy(t)
		before := Summarise(plan, records, nil)
		worse := slices.Clone(records)
		c := records[0].Run.Cell
		if i := rapid.IntRange(-1, len(records)-1).Draw(t, "which"); i >= 0 {
			c = records[i].Run.Cell
			worse[i].Outcome = lab.Stalled
		} else {
			worse = append(worse, record(c, 13, 0.001, ended(lab.Reset)))
		}
		if c.Arm != "" {
			return // it is no cell
		}
		after := Summarise(plan, worse, nil)
		if place(after, c) < place(before, c) {
			t.Fatal("it has a better place")
		}
		for i, v := range before.Verdicts {
			if i >= len(after.Verdicts) || after.Verdicts[i].Metric != v.Metric {
				continue // where no run had failed there is one about success now
			}
			if strings.Contains(v.Why, "within what two series") {
				continue // a failed run takes its block from the A/A arm's, whose reach may shrink (docs/statistics.md)
			}
			x, y := good[v.Verdict], good[after.Verdicts[i].Verdict]
			if v.B == c.Protocol {
				x, y = 2-x, 2-y
			}
			if y == 2 && x < 2 {
				t.Fatalf("%s: %s\nbecame\n%s: %s", v.Verdict, v.Why, after.Verdicts[i].Verdict, after.Verdicts[i].Why)
			}
		}
	})
}
