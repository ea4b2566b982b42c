package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
	"github.com/samewire/samewire/internal/store"
	"github.com/samewire/samewire/internal/story"
	"github.com/samewire/samewire/internal/wire"
)

// noCapture tells why there is no timeline.
const noCapture = "No capture of this run was kept, so that its packets cannot be shown: samewire run ... --keep all keeps captures."

// listRuns lists the records of a folder, in the study's order.
func listRuns(s streams, o showOptions, folder *store.Folder, records []lab.Record) error {
	records = slices.SortedStableFunc(slices.Values(records), func(a, b lab.Record) int {
		return cmp.Or(a.Run.Order-b.Run.Order, a.Attempt-b.Attempt)
	})
	entries := make([]story.Entry, len(records))
	for i, r := range records {
		_, err := os.Stat(captureFile(folder, r))
		entries[i] = story.Entry{Record: r, Kept: err == nil}
	}
	return story.List(s.out, entries, folder.Dir(), o.story(s.out))
}

// findRecord finds the record that a person means by a run's name, the start of
// it, or its number. Attempt 0 is the attempt that counts: the first that was
// not invalid, or the last.
func findRecord(p lab.Plan, records []lab.Record, name string, attempt int) (lab.Record, error) {
	run, err := findRun(withRepeats(p, records), name)
	if err != nil {
		return lab.Record{}, err
	}
	var of []lab.Record
	for _, r := range records {
		if r.Run.ID == run.ID {
			of = append(of, r)
		}
	}
	if len(of) == 0 {
		return lab.Record{}, fmt.Errorf("run %s is planned, but has not been carried out yet", run.ID)
	}
	var have []string
	for _, r := range of {
		if r.Attempt == attempt || attempt == 0 && r.Outcome != lab.Invalid {
			return r, nil
		}
		have = append(have, strconv.Itoa(r.Attempt))
	}
	if attempt == 0 {
		return of[len(of)-1], nil
	}
	return lab.Record{}, fmt.Errorf("run %s has no attempt %d: there is %s", run.ID, attempt, strings.Join(have, ", "))
}

// withRepeats is the plan with the runs that were carried out again, which were
// not planned.
func withRepeats(p lab.Plan, records []lab.Record) lab.Plan {
	p.Runs = slices.Clone(p.Runs)
	for _, r := range records {
		if r.Run.Repeats > 0 && r.Attempt == 1 {
			p.Runs = append(p.Runs, r.Run)
		}
	}
	return p
}

// findRun finds a run of the plan. A number is taken as the run's place in the
// study where there is such a place, else as the start of a name.
func findRun(p lab.Plan, name string) (lab.Run, error) {
	number, notNumber := strconv.Atoi(name)
	var begin []lab.Run
	for _, r := range p.Runs {
		if r.ID == name || notNumber == nil && r.Order == number {
			return r, nil
		}
		if name != "" && strings.HasPrefix(r.ID, name) {
			begin = append(begin, r)
		}
	}
	switch len(begin) {
	case 0:
		return lab.Run{}, fmt.Errorf("no run %q: want the name of one, the start of it, or a number from 1 to %d: %s", name, len(p.Runs), names(p.Runs))
	case 1:
		return begin[0], nil
	}
	return lab.Run{}, fmt.Errorf("%d runs begin with %q: %s", len(begin), name, names(begin))
}

// names lists runs for an error.
func names(runs []lab.Run) string {
	const most = 12
	var list []string
	for i, r := range runs {
		if i == most {
			list = append(list, fmt.Sprintf("… and %d more", len(runs)-most))
			break
		}
		c := r.Cell
		list = append(list, fmt.Sprintf("%s (%s, %s, %s, %s)", r.ID, c.Path.Name, c.Load.Name, c.Protocol, c.Site))
	}
	return strings.Join(list, ", ")
}

func captureFile(folder *store.Folder, r lab.Record) string {
	return filepath.Join(folder.Dir(), store.CaptureFile(r.Run.ID, r.Attempt))
}

// storyOf puts together what the folder has of a record. A capture that cannot
// be read is an error, and the story is without it.
func storyOf(folder *store.Folder, r lab.Record) (story.Story, error) {
	st := story.Story{Record: &r, Facts: &r.Wire, Path: plan.FormatPath(r.Run.Cell.Path)}
	reading, err := readingOf(captureFile(folder, r))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		st.Notes = append(st.Notes, noCapture)
		if r.Kept != nil && r.Kept.Error != "" {
			st.Notes = append(st.Notes, "What was to be kept could not be: "+r.Kept.Error+".")
		}
		return st, nil
	case err != nil:
		st.Notes = append(st.Notes, "The capture of this run cannot be read: "+oneLine(err)+".")
		return st, err
	}
	st.Reading = reading
	if note := missing(reading.Capture, r.Wire); note != "" {
		st.Notes = append(st.Notes, note)
	}
	return st, nil
}

// missing tells where a capture has fewer packets than its run: a file that was
// cut reads as one that ended.
func missing(c *wire.Capture, facts lab.Wire) string {
	have, counted := len(c.Packets)+c.Skipped, facts.Up.Packets+facts.Down.Packets
	if have >= counted {
		return ""
	}
	return fmt.Sprintf("The capture has %d of the %d packets that were counted in this run: the file was cut or changed.", have, counted)
}
