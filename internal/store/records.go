package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// Records reads all records, in the order in which they were put. Half a line
// at the end, which a crash leaves or a writer has just begun, is left out with
// a warning, and so is the record of a run that is neither in the plan nor repeats
// a block of it. A broken line anywhere else is an error that names it.
func (f *Folder) Records() (records []lab.Record, warnings []string, err error) {
	file, err := os.Open(filepath.Join(f.dir, RecordsFile))
	if err != nil {
		return nil, nil, fmt.Errorf("read records: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	planned := make(map[string]bool, len(f.plan.Runs))
	for _, r := range f.plan.Runs {
		planned[r.ID] = true
	}
	traces := newPlanFile(f.plan).Traces
	in := bufio.NewReaderSize(file, 256<<10)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if len(line) > 0 {
				warnings = append(warnings, tornWarning(int64(len(line))))
			}
			return records, warnings, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read records: %w", err)
		}
		r, err := parseRecord(line)
		known := planned[r.Run.ID] || repeats(r.Run, f.plan, planned)
		if err == nil && known {
			err = traces.Attach(&r.Run.Cell.Path)
		}
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("read records: %s:%d: %w", file.Name(), n, err)
		case !known:
			warnings = append(warnings, fmt.Sprintf("%s:%d: run %s is not in the plan, and left out", RecordsFile, n, r.Run.ID))
		default:
			records = append(records, r)
		}
	}
}

// repeats says whether a run is one that carries out another, of the plan, again.
// The plan cannot have it: it was written before that one was found to be spoilt.
func repeats(r lab.Run, p lab.Plan, planned map[string]bool) bool {
	return r.Repeats > 0 && r.Rep > p.Reps && r.ID == lab.RunID(r.Cell, r.Rep) && planned[lab.RunID(r.Cell, r.Repeats)]
}

func tornWarning(n int64) string {
	return fmt.Sprintf("%s: the last %d bytes are half a record, as an interrupted write leaves them", RecordsFile, n)
}

func parseRecord(line []byte) (lab.Record, error) {
	var r lab.Record
	if err := json.Unmarshal(line, &r); err != nil {
		return lab.Record{}, fmt.Errorf("not a record: %w", err)
	}
	if err := checkFormat(r.Format); err != nil {
		return lab.Record{}, err
	}
	if !slices.Contains(lab.Outcomes(), r.Outcome) {
		return lab.Record{}, fmt.Errorf("unknown outcome %q; want one of %v", r.Outcome, lab.Outcomes())
	}
	return r, nil
}

// MaxAttempts is how often a run is tried: one that was invalid is repeated
// once.
const MaxAttempts = 2

// Done returns the IDs of the runs that need not be carried out any more: those
// with a record that is not invalid, or with the last attempt's.
func (f *Folder) Done() (map[string]bool, error) {
	records, _, err := f.Records()
	if err != nil {
		return nil, err
	}
	done := map[string]bool{}
	for _, r := range records {
		if r.Outcome != lab.Invalid || r.Attempt >= MaxAttempts {
			done[r.Run.ID] = true
		}
	}
	return done, nil
}
