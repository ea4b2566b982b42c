package plan

import (
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// Repeat returns the runs that carry out a block of the plan again: those of its
// cells, with its link seeds. Their repetition is beyond the plan's, and follows
// from the block alone, so that a study that is gone on with gives them the same
// names. cell is any of the comparison; protocol and arm don't matter.
func Repeat(p lab.Plan, cell lab.Cell, block int) (again []lab.Run) {
	comparison := Comparison(cell)
	for _, r := range p.Runs {
		if r.Rep != block || Comparison(r.Cell) != comparison {
			continue
		}
		r.Repeats, r.Rep, r.Order = block, p.Reps+block, len(p.Runs)+r.Order
		r.ID = lab.RunID(r.Cell, r.Rep)
		again = append(again, r)
	}
	return slices.Clip(again)
}

// Comparison is what the cells of one comparison have in common: the cell
// without its protocol and arm.
func Comparison(c lab.Cell) lab.Cell {
	c.Protocol, c.Arm = "", ""
	return c
}
