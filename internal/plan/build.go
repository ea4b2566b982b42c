package plan

import (
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/samewire/samewire/internal/lab"
)

// What TCP is given in the second arm of a study that equalises: quic-go's
// congestion control and initial window (quic-go 0.65, internal/congestion: Reno,
// 32 packets).
const (
	equalCC       = "reno"
	equalInitCwnd = 32
)

// Build resolves a study into its runs, in the order in which they are to be
// carried out: of reps: auto, all that there can be at most. It fails for a study
// without a cell, with two equal cells, or with more than MaxRuns runs.
//
// Each comparison has, besides its protocols, a second series of the first of
// them (lab.ArmAA): what the two differ by is noise.
//
// Properties that an edit must keep:
//   - equal studies give equal plans, on every machine and in every version;
//   - repetition n of every comparison comes before repetition n+1 of any;
//   - the cells of one block (one repetition of one comparison) run next to each
//     other;
//   - the order of blocks, and of cells in a block, follows from the seed
//     and each one's own identity, so that leaving out one cell does not change
//     the order of the others;
//   - a run's link seed follows from the study's seed, the names of path and
//     load and the repetition alone: protocol, site and stack don't touch it.
//     Only the second series has a seed of its own: with the first one's, virtual
//     time would give the first one's runs again, losses and all.
func Build(s lab.Study) (lab.Plan, error) {
	p := lab.Plan{
		Format: lab.FormatVersion, Samewire: lab.Version,
		Study: s.Name, Question: s.Question, Seed: s.Seed, Reps: s.Reps, LeftOut: []lab.LeftOut{},
	}
	blocks := comparisons(s)
	p.Auto = rule(s, blocks)
	cells := len(blocks) * (len(s.Protocols) + 1)
	switch {
	case len(blocks) == 0 || len(s.Protocols) == 0 || s.Reps < 1:
		return lab.Plan{}, fmt.Errorf("plan study %q: no cell is left to measure", s.Name)
	case s.Reps > MaxRuns/cells:
		return lab.Plan{}, fmt.Errorf("plan study %q: %d cells × %d repetitions are more than %d runs",
			s.Name, cells, s.Reps, MaxRuns)
	}
	p.Runs = make([]lab.Run, 0, cells*s.Reps)
	for rep := 1; rep <= s.Reps; rep++ {
		for _, block := range shuffled(blocks, s.Seed, rep) {
			for _, cell := range shuffled(arms(block, s.Protocols), s.Seed, rep) {
				p.Runs = append(p.Runs, run(s, cell, rep, len(p.Runs)+1))
			}
		}
	}
	return p, unique(p)
}

// comparisons returns a cell without a protocol for each comparison.
func comparisons(s lab.Study) (cells []lab.Cell) {
	for _, path := range s.Paths {
		for _, load := range s.Loads {
			for _, site := range s.Sites {
				for _, stack := range stacks(s, site) {
					cells = append(cells, lab.Cell{Path: path, Load: load, Site: site, Stack: stack})
				}
			}
		}
	}
	return cells
}

// stacks are the study's stacks, and after them, where it equalises and the site
// can, what of them with an equal TCP is not among them yet.
func stacks(s lab.Study, site lab.SiteName) []lab.Stack {
	all := slices.Clone(s.Stacks)
	if !s.Equalise || slices.Contains(s.FixedWindow, site) {
		return all
	}
	for _, stack := range s.Stacks {
		stack.CC, stack.InitCwnd = equalCC, equalInitCwnd
		if !slices.Contains(all, stack) {
			all = append(all, stack)
		}
	}
	return all
}

// arms are the cells of a block: one for each protocol, and the first one again.
func arms(block lab.Cell, names []lab.Protocol) []lab.Cell {
	cells := make([]lab.Cell, 0, len(names)+1)
	for _, name := range names {
		block.Protocol = name
		cells = append(cells, block)
	}
	block.Protocol, block.Arm = names[0], lab.ArmAA
	return append(cells, block)
}

// shuffled returns the cells in the order of a hash of seed, repetition and
// cell: random, and each cell's place independent of the others.
func shuffled(cells []lab.Cell, seed uint64, rep int) []lab.Cell {
	type keyed struct {
		key  uint64
		cell lab.Cell
	}
	order := make([]keyed, len(cells))
	for i, c := range cells {
		order[i] = keyed{lab.DeriveSeed(seed, "order", lab.RunID(c, rep)), c}
	}
	sort.SliceStable(order, func(i, j int) bool { return order[i].key < order[j].key })
	out := make([]lab.Cell, len(cells))
	for i, k := range order {
		out[i] = k.cell
	}
	return out
}

func run(s lab.Study, cell lab.Cell, rep, order int) lab.Run {
	words := []string{"link", cell.Path.Name, cell.Load.Name, strconv.Itoa(rep)}
	if cell.Arm != "" {
		words = append(words, cell.Arm)
	}
	return lab.Run{
		ID: lab.RunID(cell, rep), Cell: cell, Rep: rep, Order: order,
		Seed:    lab.DeriveSeed(s.Seed, words...),
		Timeout: s.Timeout, Lateness: s.Lateness,
		Authority: lab.DeriveSeed(s.Seed, "authority"),
	}
}

// unique refuses a plan in which two runs have one name: equal cells.
func unique(p lab.Plan) error {
	seen := make(map[string]lab.Cell, len(p.Runs))
	for _, r := range p.Runs {
		if _, ok := seen[r.ID]; ok {
			c := r.Cell
			return fmt.Errorf("plan study %q: two cells are the same: path %s, load %s, site %s, protocol %s, server %s, client %s",
				p.Study, c.Path.Name, c.Load.Name, c.Site, c.Protocol, c.Stack.Server, c.Stack.Client)
		}
		seen[r.ID] = r.Cell
	}
	return nil
}
