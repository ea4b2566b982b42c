package stats

import (
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// study is what verdicts are made from: the cells, what their runs took, and what
// is known besides.
type study struct {
	plan   lab.Plan
	cells  []Cell // in order, without those that are measured again
	series map[lab.Cell]series
	at     map[lab.Cell]*Cell
	theory Theory
}

func newStudy(plan lab.Plan, cells []Cell, all map[lab.Cell]series, theory Theory) *study {
	s := &study{plan: plan, cells: cells, series: all, at: map[lab.Cell]*Cell{}, theory: theory}
	for i := range cells {
		s.at[cells[i].Cell] = &cells[i]
	}
	return s
}

// twin is the cell in virtual time of one in real time; nil where there is none.
func (s *study) twin(c *Cell) *Cell {
	if c.Site == lab.Virtual {
		return nil
	}
	other := c.Cell
	other.Site = lab.Virtual
	return s.at[other]
}

// predict has theory say what it can of every cell.
func (s *study) predict() {
	if s.theory == nil {
		return
	}
	for i := range s.cells {
		c := &s.cells[i]
		predicted := s.theory.Predict(c.Cell)
		for j := range c.Statistics {
			if v, ok := predicted[c.Statistics[j].Metric]; ok {
				c.Statistics[j].Predicted = finite(v)
			}
		}
	}
}

// flagBound marks the cells whose time here is the implementation's.
func (s *study) flagBound() {
	for i := range s.cells {
		if c := &s.cells[i]; implementationBound(c, s.twin(c)) {
			c.set(ImplementationBound)
		}
	}
}

// set adds a flag, in the order of all flags.
func (c *Cell) set(f Flag) {
	if !c.Has(f) {
		c.Flags = append(c.Flags, f)
		slices.SortFunc(c.Flags, func(a, b Flag) int { return place(Flags(), a) - place(Flags(), b) })
	}
}
