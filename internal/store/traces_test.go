package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
)

// traceText is unlike anything else in a folder.
var traceText = strings.Repeat("41017\n41018\n", 500)

func tracePlan(reps int) lab.Plan {
	p := testPlan(reps)
	for i := range p.Runs {
		r := &p.Runs[i]
		r.Cell.Path.Down = lab.Way{Trace: lab.NewTrace("cell.trace", traceText)}
		r.ID = lab.RunID(r.Cell, r.Rep)
	}
	return p
}

// A trace's content is in the folder once, whatever the number of runs and
// records; and whoever reads them gets it.
func TestTracesAreKeptOnce(t *testing.T) {
	dir := t.TempDir()
	p := tracePlan(4)
	f := create(t, dir, p)
	put(t, f, testRecord(p, 0), testRecord(p, 1))
	for file, want := range map[string]int{PlanFile: 1, RecordsFile: 0} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), `41018\n41017`); n != want*499 {
			t.Errorf("%s has %d lines of the trace, want %d", file, n, want*499)
		}
	}
	reader, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Runs, reader.Plan().Runs); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	got, _ := records(t, reader)
	if len(got) != 2 || got[1].Run != p.Runs[1] {
		t.Errorf("%d records; the second's run is %+v", len(got), got[1].Run)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(dir, p); err != nil {
		t.Error(err)
	}
	other := tracePlan(4)
	for i := range other.Runs {
		other.Runs[i].Cell.Path.Down.Trace = lab.NewTrace("cell.trace", "1\n")
	}
	if _, err := Resume(dir, other); err == nil || !strings.Contains(err.Error(), "path: ") {
		t.Errorf("a study with another trace was gone on with: %v", err)
	}
}

func TestSpoiltTracesAreRefused(t *testing.T) {
	p := tracePlan(1)
	for name, tt := range map[string]struct{ old, new, want string }{
		"changed": {`41017\n41018`, `41017\n41019`, "the content of the trace with SHA-256"},
		"missing": {`"traces"`, `"races"`, "path p: the content of trace cell.trace is not there"},
	} {
		dir := t.TempDir()
		create(t, dir, p)
		file := filepath.Join(dir, PlanFile)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(b), tt.old, tt.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder that samewire 0.1.0 wrote in format 1 is read as it was meant.
func TestFormat1IsRead(t *testing.T) {
	f, err := Open("testdata/format-1")
	if err != nil {
		t.Fatal(err)
	}
	p := f.Plan()
	got, warnings := records(t, f)
	if p.Format != 1 || len(p.Runs) != 8 || len(got) != 8 || len(warnings) != 0 {
		t.Fatalf("format %d, %d runs, %d records, warnings %q", p.Format, len(p.Runs), len(got), warnings)
	}
	way := lab.Way{Delay: 20e6, Rate: 100e6, Queue: lab.Queue{Bytes: 4e6}}
	lossy := way
	lossy.Loss.Share = 0.01
	want := map[string]lab.Path{
		"wired":  {Name: "wired", Up: way, Down: way},
		"loss-1": {Name: "loss-1", Up: lossy, Down: lossy},
	}
	for _, r := range got {
		if path := r.Run.Cell.Path; path != want[path.Name] {
			t.Errorf("%+v", path)
		}
		if r.Outcome != lab.OK || r.Value(lab.Duration) == nil || r.Wire.Down.Packets == 0 {
			t.Errorf("%+v", r)
		}
	}
	// It can be reported, but not gone on with: runs have other names now.
	p.Format = lab.FormatVersion
	if _, err := Resume("testdata/format-1", p); err == nil || !strings.Contains(err.Error(), `format: "1" there`) {
		t.Errorf("a folder of format 1 was gone on with: %v", err)
	}
}
