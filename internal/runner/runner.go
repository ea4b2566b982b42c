package runner

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/samewire/samewire/internal/lab"
)

// Observer is told what happens while a plan is carried out. It must be safe
// for concurrent use.
type Observer interface {
	Started(run lab.Run, attempt int) // also runs that a Repeater adds to the plan
	Ended(record lab.Record)
	LeftOut(run lab.Run) // the Stopper needs it no more
}

// Stopper ends the repetitions of a plan early. It is told of each record once the
// record is kept, from several goroutines.
type Stopper interface {
	Ended(record lab.Record)
	// Needed says whether a run is still needed once all runs of the repetitions
	// 1 to done have ended. It is asked between repetitions only, and what it
	// answers must follow from the records of those repetitions alone; where a run
	// is not needed, the same run of any later repetition is not either.
	Needed(run lab.Run, done int) bool
}

// Repeater adds runs to a plan, such as those of blocks that the machine spoilt.
type Repeater interface {
	// Again is asked once, after a site's last run. The error ends the plan.
	Again(site lab.SiteName) ([]lab.Run, error)
}

// Options say how a plan is to be carried out.
type Options struct {
	Carriers map[lab.SiteName]Carrier // one for each site of the plan
	Jobs     map[lab.SiteName]int     // runs at a time; 0 means 1
	Done     map[string]bool          // IDs of runs to leave out, as a resumed study does
	Keep     lab.Keep                 // what is kept besides the records
	Sink     Sink
	Observer Observer // may be nil
	Stopper  Stopper  // nil: the whole plan is carried out
	Repeater Repeater // nil: nothing is carried out again
}

// Validate reports all faults of the options for a plan.
func (o Options) Validate(p lab.Plan) error {
	if o.Sink == nil {
		return fmt.Errorf("carry out plan: no sink for the records")
	}
	for _, run := range p.Runs {
		if o.Carriers[run.Cell.Site] == nil {
			return fmt.Errorf("carry out plan: no carrier for site %s", run.Cell.Site)
		}
	}
	return nil
}

// Run carries out the plan, site after site. It returns when all runs are done,
// when ctx ends (with ctx's error; runs in hand are given up and leave no
// record), or when the sink fails.
func Run(ctx context.Context, p lab.Plan, o Options) error {
	if err := o.Validate(p); err != nil {
		return err
	}
	if o.Observer == nil {
		o.Observer = silent{}
	}
	for _, site := range lab.SiteNames() {
		jobs := max(o.Jobs[site], 1)
		if err := runSite(ctx, pending(p.Runs, site, o.Done), jobs, o); err != nil {
			return err
		}
		if err := runAgain(ctx, p, site, jobs, o); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// pending returns a site's runs that are still to do, in the plan's order.
func pending(all []lab.Run, site lab.SiteName, done map[string]bool) []lab.Run {
	var runs []lab.Run
	for _, run := range all {
		if run.Cell.Site == site && !done[run.ID] {
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, func(a, b lab.Run) int { return a.Order - b.Order })
	return runs
}

// runSite carries out the pending runs of a site. With a Stopper no repetition
// begins before the last run of the one before has ended, however many run at a
// time: what is needed then does not depend on which of them was faster.
func runSite(ctx context.Context, pending []lab.Run, jobs int, o Options) error {
	if o.Stopper == nil {
		return runAll(ctx, pending, jobs, o)
	}
	for len(pending) > 0 {
		rep := pending[0].Rep
		var now, later []lab.Run
		for _, run := range pending {
			switch {
			case !o.Stopper.Needed(run, rep-1):
				o.Observer.LeftOut(run)
			case run.Rep == rep:
				now = append(now, run)
			default:
				later = append(later, run)
			}
		}
		if err := runAll(ctx, now, jobs, o); err != nil {
			return err
		}
		pending = later
	}
	return context.Cause(ctx)
}

// runAgain carries out what the Repeater adds to a site's runs.
func runAgain(ctx context.Context, p lab.Plan, site lab.SiteName, jobs int, o Options) error {
	here := func(run lab.Run) bool { return run.Cell.Site == site }
	if o.Repeater == nil || !slices.ContainsFunc(p.Runs, here) {
		return nil
	}
	again, err := o.Repeater.Again(site)
	if err != nil {
		return fmt.Errorf("find what is to be carried out again on site %s: %w", site, err)
	}
	return runAll(ctx, pending(again, site, o.Done), jobs, o)
}

// runAll takes the runs in order, jobs at a time.
func runAll(ctx context.Context, runs []lab.Run, jobs int, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan lab.Run)
	var wait sync.WaitGroup
	for range min(jobs, len(runs)) {
		wait.Go(func() {
			for run := range next {
				if err := runOne(ctx, run, o); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, run := range runs {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- run:
		case <-ctx.Done():
		}
	}
	close(next)
	wait.Wait()
	return context.Cause(ctx)
}

// runOne carries out a run, and once more if the lab spoilt it. Both attempts
// are kept.
func runOne(ctx context.Context, run lab.Run, o Options) error {
	for attempt := 1; attempt <= 2; attempt++ {
		if givenUp(ctx) {
			return nil
		}
		o.Observer.Started(run, attempt)
		record := o.Carriers[run.Cell.Site].CarryOut(ctx, lab.Order{Run: run, Attempt: attempt, Keep: o.Keep})
		if givenUp(ctx) && record.Outcome == lab.Invalid {
			return nil // given up in the middle: no result
		}
		record.Attempt = attempt
		if err := o.Sink.Put(record); err != nil {
			return fmt.Errorf("keep record of run %s: %w", run.ID, err)
		}
		if o.Stopper != nil {
			o.Stopper.Ended(record)
		}
		o.Observer.Ended(record)
		if record.Outcome != lab.Invalid {
			return nil
		}
	}
	return nil
}

func givenUp(ctx context.Context) bool { return ctx.Err() != nil }

type silent struct{}

func (silent) Started(lab.Run, int) {}
func (silent) Ended(lab.Record)     {}
func (silent) LeftOut(lab.Run)      {}
