package stats

import "github.com/samewire/samewire/internal/lab"

// Needless are the IDs of a plan's runs that have no record, and need none: the rule
// of reps: auto has enough of their comparison, or its budget left no time for them.
// It follows from the records alone.
func Needless(plan lab.Plan, records []lab.Record) map[string]bool {
	out := map[string]bool{}
	if plan.Auto == nil {
		return out
	}
	of := map[comparison][]lab.Record{}
	for _, r := range records {
		c := comparisonOf(r.Run.Cell)
		of[c] = append(of[c], r)
	}
	last := map[lab.SiteName]int{}
	for _, site := range lab.SiteNames() {
		last[site] = Affordable(plan, records, site)
	}
	whole := wholeRepetitions(plan, records)
	enough := map[comparison]bool{}
	for c, n := range whole {
		enough[c] = n > 0 && Enough(*plan.Auto, upTo(of[c], n))
	}
	for _, r := range plan.Runs {
		c := comparisonOf(r.Cell)
		if r.Rep > whole[c] && (r.Rep > last[c.site] || enough[c]) {
			out[r.ID] = true
		}
	}
	return out
}

// comparison names a comparison of a study: in one study, paths and loads have
// their names to themselves.
type comparison struct {
	path, load string
	stack      lab.Stack
	site       lab.SiteName
}

func comparisonOf(c lab.Cell) comparison {
	return comparison{c.Path.Name, c.Load.Name, c.Stack, c.Site}
}

// wholeRepetitions is, for each comparison, the last repetition before the first of
// which a run has no record.
func wholeRepetitions(plan lab.Plan, records []lab.Record) map[comparison]int {
	have := map[string]bool{}
	for _, r := range records {
		have[r.Run.ID] = true
	}
	whole := map[comparison]int{}
	for _, r := range plan.Runs {
		c := comparisonOf(r.Cell)
		n, known := whole[c]
		if !known {
			n = plan.Reps
		}
		if !have[r.ID] {
			n = min(n, r.Rep-1)
		}
		whole[c] = n
	}
	return whole
}

func upTo(records []lab.Record, rep int) (part []lab.Record) {
	for _, r := range records {
		if r.Run.Rep <= rep {
			part = append(part, r)
		}
	}
	return part
}
