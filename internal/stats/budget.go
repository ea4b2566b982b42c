package stats

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Spent is for how much real time a site was busy with the runs of the repetitions
// 1 to last: the time that is covered by at least one attempt at a run. Runs side
// by side count once, and the pause of an interrupted study not at all. Blocks that
// were carried out again are not in it.
func Spent(records []lab.Record, site lab.SiteName, last int) time.Duration {
	type span struct{ from, to time.Time }
	var spans []span
	var undated, sum time.Duration
	for _, r := range records {
		if r.Run.Cell.Site != site || r.Run.Rep > last || r.Run.Repeats > 0 {
			continue
		}
		took := time.Duration(r.Took * float64(time.Second))
		from, err := time.Parse(time.RFC3339Nano, r.Started)
		if err != nil {
			undated += took
			continue
		}
		spans = append(spans, span{from, from.Add(took)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
	var until time.Time
	for _, s := range spans {
		if s.from.Before(until) {
			s.from = until
		}
		if s.to.After(s.from) {
			sum += s.to.Sub(s.from)
			until = s.to
		}
	}
	return sum + undated
}

// Affordable is the last repetition of a site that the budget of reps: auto leaves
// time for: one begins while less than the budget is spent. It is the plan's last
// where there is no such rule or no budget, or where it is not spent yet.
func Affordable(plan lab.Plan, records []lab.Record, site lab.SiteName) int {
	if plan.Auto == nil || plan.Auto.Budget == 0 {
		return plan.Reps
	}
	return 1 + sort.Search(plan.Reps-1, func(i int) bool { return Spent(records, site, i+1) >= plan.Auto.Budget })
}
