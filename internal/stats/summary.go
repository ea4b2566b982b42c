package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// Summarise makes the output of a study from its plan and the records that
// there are, in any order. Results are ordered by path (loss, round-trip time,
// rate, name), load (bytes, name), stack, site and protocol.
func Summarise(plan lab.Plan, records []lab.Record, theory Theory) Output {
	out := Output{
		Samewire: plan.Samewire, Study: plan.Study, Seed: plan.Seed,
		Results: []Result{}, Verdicts: []Verdict{}, Resolutions: []Resolution{}, Agreements: []Agreement{}, Warnings: []string{},
	}
	var others []lab.Record
	all, own := map[lab.Cell]series{}, map[lab.Cell]series{} // of all runs, and of the plan's own
	for c, records := range byCell(records) {
		cell, runs, uncounted := summariseCell(c, records)
		all[c], own[c] = seriesOf(runs), planned(runs)
		others = append(others, uncounted...)
		if c.Arm == "" {
			out.Cells = append(out.Cells, cell)
		}
	}
	slices.SortFunc(out.Cells, func(a, b Cell) int { return compareCells(a.Cell, b.Cell) })
	s := newStudy(plan, out.Cells, all, theory)
	s.predict()
	s.flagBound()
	drifts := drifts(own)
	flagDrift(out.Cells, drifts)
	for _, cells := range Comparisons(out.Cells) {
		flagUnequal(cells)
	}
	var noFloor []string
	out.Verdicts, out.Resolutions, noFloor = s.verdicts()
	out.Agreements = s.agreements()
	for _, c := range out.Cells {
		out.Results = append(out.Results, results(c)...)
	}
	out.Warnings = append(out.Warnings, warnMissing(plan, records)...)
	out.Warnings = append(out.Warnings, warnUncounted(others)...)
	out.Warnings = append(out.Warnings, warnMTU(out.Cells)...)
	out.Warnings = append(out.Warnings, WarnLoss(records)...)
	out.Warnings = append(out.Warnings, warnAlike(out.Cells)...)
	out.Warnings = append(out.Warnings, warnStalls(out.Cells)...)
	out.Warnings = append(out.Warnings, noFloor...)
	out.Warnings = append(out.Warnings, warnDrift(drifts, records)...)
	return out
}

// byCell puts the records of a cell together. They are large: it counts before it
// copies.
func byCell(records []lab.Record) map[lab.Cell][]lab.Record {
	counts := map[lab.Cell]int{}
	for i := range records {
		counts[records[i].Run.Cell]++
	}
	out := make(map[lab.Cell][]lab.Record, len(counts))
	for c, n := range counts {
		out[c] = make([]lab.Record, 0, n)
	}
	for i := range records {
		c := records[i].Run.Cell
		out[c] = append(out[c], records[i])
	}
	return out
}

func summariseCell(c lab.Cell, records []lab.Record) (cell Cell, runs, others []lab.Record) {
	runs, others = counted(records)
	late := slices.ContainsFunc(records, lab.Record.Late)
	cell = Cell{
		Cell: c, Runs: len(runs), Outcomes: map[lab.Outcome]int{},
		Asked: c.Load.For(c.Protocol), BDP: bdp(c.Path), TooLate: late,
	}
	for _, r := range runs {
		cell.Outcomes[r.Outcome]++
		cell.Limit = max(cell.Limit, r.Run.Timeout.Seconds())
		if r.Outcome != lab.OK {
			cell.Failures = append(cell.Failures, Failure{r.Run.ID, r.Outcome, r.Reason})
		}
		cell.observe(r)
	}
	cell.OK = cell.Outcomes[lab.OK]
	for _, m := range lab.Metrics() {
		cell.Statistics = append(cell.Statistics, statistic(m, runs, cell.Limit))
	}
	for _, r := range others {
		if r.Outcome == lab.Invalid {
			cell.Repeated++
		}
	}
	cell.flag()
	return cell, runs, others
}

// Comparisons puts the cells that differ in the protocol only together, in
// their order. The members are the cells themselves.
func Comparisons(cells []Cell) (groups [][]*Cell) {
	at := map[lab.Cell]int{}
	for i := range cells {
		key := cells[i].Cell
		key.Protocol = ""
		if _, ok := at[key]; !ok {
			at[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[key]] = append(groups[at[key]], &cells[i])
	}
	return groups
}

func results(c Cell) (out []Result) {
	for _, s := range c.Statistics {
		r := Result{
			Path: c.Path.Name, Load: c.Load.Name, Protocol: c.Protocol, Site: c.Site,
			Server: c.Stack.Server, Client: c.Stack.Client, CC: c.Stack.CC,
			TLS: c.Stack.TLS, InitCwnd: c.Stack.InitCwnd, Pacing: c.Stack.Pacing,
			Metric: s.Metric, Unit: s.Unit, Runs: c.Runs, OK: c.OK, Outcomes: c.Outcomes,
			Median: s.Median, Low: s.Low, High: s.High, Best: s.Best, Worst: s.Worst,
			Q1: s.Q1, Q3: s.Q3, RestrictedMean: s.RestrictedMean, Predicted: s.Predicted, Flags: []Flag{},
		}
		if s.Censored {
			r.Flags = append(r.Flags, Censored)
		}
		r.Flags = append(r.Flags, c.Flags...)
		out = append(out, r)
	}
	return out
}

// compareCells is the order of results. Equal cells only are equal in it.
// Texts of all of a load or path are made only where nothing cheaper decides.
func compareCells(a, b lab.Cell) int {
	if c := comparePaths(a.Path, b.Path); c != 0 {
		return c
	}
	if c := compareLoads(a.Load, b.Load); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.Stack.Server, b.Stack.Server),
		cmp.Compare(a.Stack.Client, b.Stack.Client),
		cmp.Compare(a.Stack.CC, b.Stack.CC),
		cmp.Compare(a.Stack.TLS, b.Stack.TLS),
		cmp.Compare(place(lab.SiteNames(), a.Site), place(lab.SiteNames(), b.Site)),
		cmp.Compare(a.Stack.InitCwnd, b.Stack.InitCwnd),
		cmp.Compare(a.Stack.Pacing, b.Stack.Pacing),
		cmp.Compare(place(lab.Protocols(), a.Protocol), place(lab.Protocols(), b.Protocol)),
		cmp.Compare(a.Site, b.Site),
		cmp.Compare(a.Protocol, b.Protocol),
		cmp.Compare(a.Arm, b.Arm),
	)
}

func compareLoads(a, b lab.Load) int {
	if a == b {
		return 0
	}
	if c := cmp.Or(cmp.Compare(a.Bytes(), b.Bytes()), cmp.Compare(a.Name, b.Name)); c != 0 {
		return c
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func comparePaths(a, b lab.Path) int {
	if a == b {
		return 0
	}
	c := cmp.Or(
		cmp.Compare(a.Up.Loss.Mean()+a.Down.Loss.Mean(), b.Up.Loss.Mean()+b.Down.Loss.Mean()),
		cmp.Compare(a.RTT(), b.RTT()),
		-cmp.Compare(a.Down.Rate, b.Down.Rate),
		cmp.Compare(a.Name, b.Name),
	)
	if c != 0 {
		return c
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func place[T comparable](list []T, v T) int {
	if i := slices.Index(list, v); i >= 0 {
		return i
	}
	return len(list)
}

// warnMissing says how much of the plan was not carried out, though it is needed.
func warnMissing(plan lab.Plan, records []lab.Record) []string {
	have, needless := map[string]bool{}, Needless(plan, records)
	for _, r := range records {
		have[r.Run.ID] = true
	}
	missing := 0
	for _, r := range plan.Runs {
		if !have[r.ID] && !needless[r.ID] {
			missing++
		}
	}
	switch {
	case missing == 0:
		return nil
	case plan.Auto != nil:
		return []string{fmt.Sprintf("up to %d of %d runs have no record: the study was not finished", missing, len(plan.Runs)-len(needless))}
	}
	return []string{fmt.Sprintf("%d of %d runs have no record: the study was not finished", missing, len(plan.Runs))}
}

// warnUncounted names every attempt that does not count.
func warnUncounted(records []lab.Record) (out []string) {
	slices.SortFunc(records, func(a, b lab.Record) int {
		return cmp.Or(compareCells(a.Run.Cell, b.Run.Cell), byRunThenAttempt(&a, &b))
	})
	for _, r := range records {
		what := fmt.Sprintf("%s: run %s, attempt %d", name(r.Run.Cell), r.Run.ID, r.Attempt)
		if r.Outcome != lab.Invalid {
			out = append(out, fmt.Sprintf("%s, was %s and does not count: the run had been carried out already", what, r.Outcome))
			continue
		}
		out = append(out, strings.TrimSuffix(what+" was invalid and carried out again: "+r.Reason, ": "))
	}
	return out
}

// warnMTU names the paths that swallow packets of a usual size without a word.
func warnMTU(cells []Cell) (out []string) {
	seen := map[string]bool{}
	for _, c := range cells {
		for _, d := range []lab.Direction{lab.Up, lab.Down} {
			way := c.Path.Way(d)
			hole := blackHole(way)
			what := fmt.Sprintf("path %s: packets %s that are larger than %d bytes vanish, and neither host is told (a black hole)", c.Path.Name, d, hole)
			if hole > 0 && !seen[what] {
				seen[what] = true
				out = append(out, what)
			}
		}
	}
	return out
}

// blackHole is the size above which packets of usual sizes vanish without a
// word; 0 where none do. What shrinks later counts as it is then.
func blackHole(w lab.Way) int {
	least := w.MTU
	if w.Shrink.MTU > 0 {
		least = w.Shrink.MTU
	}
	if w.TooBig || least >= lab.DefaultMTU {
		return 0
	}
	return least
}

// warnAlike names cells whose results can't be told apart: their paths, loads or
// stacks differ in what a result does not say.
func warnAlike(cells []Cell) (out []string) {
	seen, warned := map[string]bool{}, map[string]bool{}
	for _, c := range cells {
		n := name(c.Cell)
		if seen[n] && !warned[n] {
			out = append(out, n+": several cells go by this name")
			warned[n] = true
		}
		seen[n] = true
	}
	return out
}

// warnStalls says in one sentence which cells have runs that ended ok in spite of
// a stall: a median hides them.
func warnStalls(cells []Cell) []string {
	const most = 6
	var places []string
	for _, c := range cells {
		if c.Stalled > 0 {
			places = append(places, fmt.Sprintf("%s, %s, %s, %s: %d of %d", c.Path.Name, c.Load.Name, c.Protocol, c.Site, c.Stalled, c.Runs))
		}
	}
	more := ""
	if len(places) > most {
		more = fmt.Sprintf("; and %d more", len(places)-most)
		places = places[:most]
	}
	if len(places) == 0 {
		return nil
	}
	return []string{"runs that ended ok had stalls: " + strings.Join(places, "; ") + more}
}

// name is all that a result says of its cell; what is as usual is left out.
func name(c lab.Cell) string {
	s := fmt.Sprintf("%s, %s, %s, %s (server %s, client %s, %s",
		c.Path.Name, c.Load.Name, c.Protocol, c.Site, c.Stack.Server, c.Stack.Client, c.Stack.CC)
	if c.Stack.TLS != lab.DefaultStack.TLS {
		s += ", TLS " + c.Stack.TLS
	}
	if c.Stack.InitCwnd != lab.DefaultStack.InitCwnd {
		s += fmt.Sprintf(", initcwnd %d", c.Stack.InitCwnd)
	}
	if c.Stack.Pacing != "" {
		s += ", pacing " + c.Stack.Pacing
	}
	if c.Arm != "" {
		s += ", measured again"
	}
	return s + ")"
}
