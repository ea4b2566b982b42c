package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/gauge"
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/kernel"
	"github.com/samewire/samewire/internal/stats"
	"github.com/samewire/samewire/internal/store"
)

// checkPaths checks the paths of what a folder does not have yet, unless the
// flags say no.
func (o runOptions) checkPaths(ctx context.Context, w io.Writer, p lab.Plan, folder *store.Folder) error {
	if o.noCheck {
		return nil
	}
	done, err := folder.Done()
	if err != nil {
		return exit(exitFailed, err)
	}
	records, _, err := folder.Records()
	if err != nil {
		return exit(exitFailed, err)
	}
	maps.Copy(done, stats.Needless(p, records))
	return checkPaths(ctx, w, p, o.kernel.backend, done, startGauge)
}

// measure has a job carried out (startGauge).
type measure func(ctx context.Context, job gaugeJob, doing func(string)) ([]gauge.Check, error)

// checkPaths measures delay, rate and MTU of each path on which the kernel site
// still has runs to carry out, in about a second each. When one is not what it
// claims, the error (exit status 4) comes with the table on w. What could not be
// checked is said, and is no fault.
func checkPaths(ctx context.Context, w io.Writer, p lab.Plan, b kernel.Backend, done map[string]bool, with measure) error {
	paths := kernelPaths(p, done)
	if len(paths) == 0 {
		return nil
	}
	show, clear := doing(w)
	held, checked := 0, 0
	for i, path := range paths {
		if err := b.Fits(path); err != nil { // its runs say so
			fmt.Fprintf(w, "path %s: not checked: %v\n", path.Name, err)
			continue
		}
		show(fmt.Sprintf("path %s (%d of %d)", path.Name, i+1, len(paths)))
		job := gaugeJob{
			Asked: path, Carry: path, Backend: string(b), Seed: p.Seed, Quick: true,
			Instruments: []instrument{packetsInstrument},
		}
		checks, err := with(ctx, job, func(string) {})
		clear()
		if err != nil {
			return pathError(path, err)
		}
		if failed := gauge.Failed(checks); len(failed) > 0 {
			printChecks(w, checks)
			return exit(exitMachine, fmt.Errorf("path %s is not what it claims on this machine now: %d of %s "+
				"(samewire link check --path measures it in full; --no-check carries out the study all the same)",
				path.Name, len(failed), plural(len(failed)+gauge.Count(checks, gauge.Holds), "check fails", "checks fail")))
		}
		held += gauge.Count(checks, gauge.Holds)
		checked++
		if why := uncheckedParts(checks); why != "" {
			fmt.Fprintf(w, "path %s: not checked: %s\n", path.Name, why)
		}
	}
	fmt.Fprintf(w, "kernel site: delay, rate and MTU of %s checked, %s\n",
		plural(checked, "path", "paths"), plural(held, "check holds", "checks hold"))
	return nil
}

// pathError keeps an error's exit status and says which path it was.
func pathError(path lab.Path, err error) error {
	var e *exitError
	if errors.As(err, &e) {
		return exit(e.status, fmt.Errorf("check path %s: %w", path.Name, e.err))
	}
	return fmt.Errorf("check path %s: %w", path.Name, err)
}

// kernelPaths lists the paths of the kernel site's runs that are not done, in
// the plan's order.
func kernelPaths(p lab.Plan, done map[string]bool) (paths []lab.Path) {
	for _, r := range p.Runs {
		if r.Cell.Site == lab.Kernel && !done[r.ID] && !slices.Contains(paths, r.Cell.Path) {
			paths = append(paths, r.Cell.Path)
		}
	}
	slices.SortStableFunc(paths, func(a, b lab.Path) int { return strings.Compare(a.Name, b.Name) })
	return paths
}

// uncheckedParts says in one line which checks could not be made, and why.
func uncheckedParts(checks []gauge.Check) string {
	var reasons []string
	parts := map[string][]string{}
	for _, c := range checks {
		if c.State != gauge.Unchecked {
			continue
		}
		if parts[c.Note] == nil {
			reasons = append(reasons, c.Note)
		}
		parts[c.Note] = append(parts[c.Note], c.Name+" "+c.Direction)
	}
	var all []string
	for _, why := range reasons {
		all = append(all, strings.Join(parts[why], ", ")+" ("+why+")")
	}
	return strings.Join(all, "; ")
}
