package cli

import (
	"fmt"
	"slices"
	"sync"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

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

// enough says whether a comparison's records satisfy the rule of reps: auto
// (stats.Enough).
type enough func(rule lab.Auto, records []lab.Record) bool

// stopper carries out the rule of reps: auto. It is a runner.Stopper.
//
// What it answers follows from the rule and from the records of the repetitions
// that are done, wherever they are from: a study that is gone on with, and a report
// of the folder, come to the same.
type stopper struct {
	rule   lab.Auto
	enough enough

	mu      sync.Mutex
	of      map[comparison][]lab.Record
	at      map[lab.SiteName][]lab.Record
	decided map[question]bool
}

// question is one that a stopper was asked; with the zero comparison's path and
// load, whether the site's budget is left.
type question struct {
	about comparison
	done  int
}

// newStopper knows the records that a folder has already.
func newStopper(rule lab.Auto, records []lab.Record, enough enough) *stopper {
	s := &stopper{
		rule: rule, enough: enough,
		of: map[comparison][]lab.Record{}, at: map[lab.SiteName][]lab.Record{}, decided: map[question]bool{},
	}
	for _, r := range records {
		s.Ended(r)
	}
	return s
}

// Ended implements runner.Stopper.
func (s *stopper) Ended(r lab.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := comparisonOf(r.Run.Cell)
	s.of[c] = append(s.of[c], r)
	s.at[c.site] = append(s.at[c.site], r)
}

// Needed implements runner.Stopper.
func (s *stopper) Needed(run lab.Run, done int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := comparisonOf(run.Cell)
	affordable := s.decide(question{comparison{site: c.site}, done}, func() bool {
		return s.rule.Budget == 0 || stats.Spent(s.at[c.site], c.site, done) < s.rule.Budget
	})
	return affordable && s.decide(question{c, done}, func() bool { return !s.satisfied(c, done) })
}

// decide answers each question once: the records of what is done don't change.
func (s *stopper) decide(q question, answer func() bool) bool {
	known, ok := s.decided[q]
	if !ok {
		known = answer()
		s.decided[q] = known
	}
	return known
}

// satisfied says whether the rule has what it wants of a comparison.
func (s *stopper) satisfied(c comparison, done int) bool {
	var records []lab.Record
	for _, r := range s.of[c] {
		if r.Run.Rep <= done {
			records = append(records, r)
		}
	}
	return done > 0 && s.enough(s.rule, records)
}

// budgetWarnings says on which sites the budget ended the repetitions of reps:
// auto, and of how many comparisons before they were enough.
func budgetWarnings(p lab.Plan, records []lab.Record, enough enough) (out []string) {
	if p.Auto == nil {
		return nil
	}
	s := newStopper(*p.Auto, records, enough)
	for _, site := range lab.SiteNames() {
		last := stats.Affordable(p, records, site)
		if last >= p.Reps {
			continue
		}
		var all, open []comparison
		for _, r := range p.Runs {
			c := comparisonOf(r.Cell)
			if r.Cell.Site != site || r.Rep > 1 || slices.Contains(all, c) {
				continue
			}
			all = append(all, c)
			if !s.satisfied(c, last) {
				open = append(open, c)
			}
		}
		if len(open) > 0 {
			out = append(out, fmt.Sprintf("site %s: the budget of %s was spent after %s of at most %d; %d of %s had not come to intervals of %s by then (a longer budget: --reps 'auto budget %s')",
				site, lab.FormatDuration(p.Auto.Budget), plural(last, "repetition", "repetitions"), p.Reps, len(open), plural(len(all), "comparison", "comparisons"),
				lab.FormatShare(p.Auto.Width), lab.FormatDuration(2*p.Auto.Budget)))
		}
	}
	return out
}
