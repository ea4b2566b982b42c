package stats

import (
	"errors"
	"fmt"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// Measured is one side of a comparison: what a folder holds.
type Measured struct {
	Name    string // as the caller calls it
	Plan    lab.Plan
	Records []lab.Record
	Machine Machine
}

// ErrNothingInCommon says that two folders have no cell in common.
var ErrNothingInCommon = errors.New("no cell is in both folders")

// Compare says what changed from an old folder to a new one.
//
// Cells belong together when they are equal in all that a plan says of them. Of
// those left over, two of one name do, if no other has it: what differs is then
// told. The A/A arms are compared with their own cells only, as the resolution.
//
// A change is claimed when the two-sample test rejects equality after Holm's
// correction over the comparison, the interval of the ratio has no 1 in it, and
// the change is larger than what two series of one cell differ by in either
// folder. Tested are the durations, the metrics that thresholds on medians name,
// and, where a run failed, the counts of runs that ended ok (Fisher's exact test).
// Cells without chance in them (Exact) are not tested: a difference is a
// difference.
//
// The order of records does not matter.
func Compare(old, fresh Measured, thresholds []Threshold, strict bool) (Changes, error) {
	before, after := newHalf(old), newHalf(fresh)
	both, onlyOld, onlyNew := match(before, after)
	c := Changes{
		Old: before.origin(), New: after.origin(), Strict: strict,
		Thresholds: []ThresholdCount{}, Cells: []Change{}, OnlyOld: names(onlyOld), OnlyNew: names(onlyNew),
		Unmeasured: unmeasured(before, after), Warnings: []string{},
	}
	if len(both) == 0 {
		return c, fmt.Errorf("compare %s (%d cells of study %q) with %s (%d of %q): %w",
			old.Name, len(onlyOld), old.Plan.Study, fresh.Name, len(onlyNew), fresh.Plan.Study, ErrNothingInCommon)
	}
	metrics := asked(thresholds)
	for _, p := range both {
		p.measure(metrics)
	}
	decideChanges(both)
	for _, t := range thresholds {
		c.Thresholds = append(c.Thresholds, cross(t, both, strict))
	}
	for _, p := range both {
		p.change.Change = p.overall()
		c.Cells = append(c.Cells, p.change)
	}
	for _, t := range c.Thresholds {
		c.Crossed = c.Crossed || t.Crossed > 0
	}
	c.Warnings = append(c.Warnings, warnChanges(before, after, both)...)
	return c, nil
}

// asked are the metrics of which claims are made.
func asked(thresholds []Threshold) []string {
	metrics := []string{lab.Duration}
	for _, t := range thresholds {
		if t.Stat == OfMedian && !slices.Contains(metrics, t.Metric) {
			metrics = append(metrics, t.Metric)
		}
	}
	return metrics
}

func names(cells []Cell) []CellName {
	list := []CellName{}
	for _, c := range cells {
		list = append(list, nameOf(c.Cell))
	}
	return list
}

// unmeasured are the cells of which old has observations, and fresh none although its
// plan has them: a gate that looked at the others alone would pass where nothing was
// measured.
func unmeasured(old, fresh *half) []CellName {
	list := []CellName{}
	planned := map[lab.Cell]bool{}
	for _, r := range fresh.Plan.Runs {
		planned[r.Cell] = true
	}
	for _, c := range old.cells {
		if planned[c.Cell] && len(old.runs[c.Cell]) > 0 && len(fresh.runs[c.Cell]) == 0 {
			list = append(list, nameOf(c.Cell))
		}
	}
	return list
}

// half is one side, by cell.
type half struct {
	Measured
	cells []Cell // in order, without those that are measured again
	// runs that are observations: those that the lab spoilt are not among them.
	runs map[lab.Cell][]lab.Record
	// again has the A/A arm of each comparison: by its cells without a protocol.
	again map[lab.Cell]lab.Cell
	known map[armMetric]span // of the arms, as they are asked for
}

type armMetric struct {
	arm    lab.Cell
	metric string
}

func newHalf(m Measured) *half {
	h := &half{Measured: m, runs: map[lab.Cell][]lab.Record{}, again: map[lab.Cell]lab.Cell{}, known: map[armMetric]span{}}
	byCell := map[lab.Cell][]lab.Record{}
	for _, r := range m.Records {
		byCell[r.Run.Cell] = append(byCell[r.Run.Cell], r)
	}
	for c, records := range byCell {
		cell, runs, _ := summariseCell(c, records)
		h.runs[c] = slices.DeleteFunc(runs, lab.Record.Late)
		switch c.Arm {
		case "":
			h.cells = append(h.cells, cell)
		case lab.ArmAA:
			h.again[group(c)] = c
		}
	}
	slices.SortFunc(h.cells, func(a, b Cell) int { return compareCells(a.Cell, b.Cell) })
	return h
}

// group is the comparison of a cell, or of an A/A arm.
func group(c lab.Cell) lab.Cell {
	c.Protocol, c.Arm = "", ""
	return c
}

func (h *half) origin() Origin {
	o := Origin{
		Name: h.Name, Samewire: h.Plan.Samewire, Revision: h.Machine.Revision,
		Study: h.Plan.Study, Seed: h.Plan.Seed, Cells: len(h.cells),
	}
	for _, c := range h.cells {
		o.Runs += c.Runs
	}
	return o
}

// pairing is one cell in both folders.
type pairing struct {
	old, fresh   *half
	before, then *Cell // in the old folder and in the new one
	change       Change
	tests        []changeTest // of the metrics, in their order
}

// match puts the cells of two folders together, in the order of the new one's.
func match(old, fresh *half) (both []*pairing, onlyOld, onlyNew []Cell) {
	at := map[lab.Cell]*Cell{}
	for i := range old.cells {
		at[old.cells[i].Cell] = &old.cells[i]
	}
	partners := map[lab.Cell]*Cell{} // of the new folder's cells
	taken := map[lab.Cell]bool{}     // of the old folder's
	join := func(before, then *Cell) { partners[then.Cell], taken[before.Cell] = before, true }
	for i := range fresh.cells {
		if before := at[fresh.cells[i].Cell]; before != nil {
			join(before, &fresh.cells[i])
		}
	}
	left := func(cells []Cell, done func(lab.Cell) bool) map[string][]*Cell {
		byName := map[string][]*Cell{}
		for i := range cells {
			if c := &cells[i]; !done(c.Cell) {
				byName[name(c.Cell)] = append(byName[name(c.Cell)], c)
			}
		}
		return byName
	}
	olds := left(old.cells, func(c lab.Cell) bool { return taken[c] })
	for n, cells := range left(fresh.cells, func(c lab.Cell) bool { return partners[c] != nil }) {
		if len(cells) == 1 && len(olds[n]) == 1 {
			join(olds[n][0], cells[0])
		}
	}
	for i := range fresh.cells {
		c := &fresh.cells[i]
		if before := partners[c.Cell]; before != nil {
			both = append(both, newPairing(old, fresh, before, c))
		} else {
			onlyNew = append(onlyNew, *c)
		}
	}
	for _, c := range old.cells {
		if !taken[c.Cell] {
			onlyOld = append(onlyOld, c)
		}
	}
	return both, onlyOld, onlyNew
}

func newPairing(old, fresh *half, before, then *Cell) *pairing {
	p := &pairing{old: old, fresh: fresh, before: before, then: then}
	p.change = Change{
		CellName: nameOf(then.Cell), Exact: Exact(before.Cell) && Exact(then.Cell),
		OldRuns: before.Runs, OldOK: before.OK, OldOutcomes: before.Outcomes,
		NewRuns: then.Runs, NewOK: then.OK, NewOutcomes: then.Outcomes,
		Differs: p.differences(), Metrics: []MetricChange{}, Crossings: []Crossing{},
	}
	p.change.Why = p.incomparable()
	return p
}
