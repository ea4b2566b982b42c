package cli

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
	"github.com/samewire/samewire/internal/stats"
	"github.com/samewire/samewire/internal/store"
)

// spoilt is a block of a comparison during which the machine was not as it was for
// the others.
type spoilt struct {
	cell  lab.Cell // any of the comparison
	block int
}

// repeater has blocks that the machine spoilt carried out again, once. It is a
// runner.Repeater.
//
// What is spoilt follows from the plan's own blocks in the folder, so that a study
// that was interrupted while it repeated them goes on with the same.
type repeater struct {
	folder *store.Folder
	find   func([]lab.Record) []spoilt
	say    func(string)
}

// Again implements runner.Repeater.
func (a repeater) Again(site lab.SiteName) ([]lab.Run, error) {
	if site == lab.Virtual {
		return nil, nil // no machine is in its times
	}
	records, _, err := a.folder.Records()
	if err != nil {
		return nil, err
	}
	var runs []lab.Run
	for _, s := range a.find(records) {
		if s.cell.Site != site {
			continue
		}
		a.say(fmt.Sprintf("site %s: repetition %d of %s, %s took much longer or shorter than the others, all protocols alike: it is carried out again, and both are shown",
			site, s.block, s.cell.Path.Name, s.cell.Load.Name))
		runs = append(runs, plan.Repeat(a.folder.Plan(), s.cell, s.block)...)
	}
	return runs, nil
}

// spoiltBlocks are the blocks of the records that the machine spoilt.
func spoiltBlocks(records []lab.Record) (out []spoilt) {
	for _, d := range stats.Drifted(records) {
		for _, block := range d.Spoilt {
			out = append(out, spoilt{d.Cell, block})
		}
	}
	return out
}
