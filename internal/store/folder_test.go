package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
)

const studyText = "name: t\n# as written\n"

func testPlan(reps int) lab.Plan {
	way := lab.Way{Delay: 20 * time.Millisecond, Rate: 100e6, Loss: lab.Loss{Share: 0.013}, Queue: lab.Queue{BDP: 1.5}}
	c := lab.Cell{
		Path: lab.Path{Name: "p", Up: way, Down: way}, Load: lab.Load{Name: "l", Objects: 1, Size: 100},
		Stack: lab.DefaultStack, Site: lab.Virtual, Protocol: lab.H3,
	}
	p := lab.Plan{Format: lab.FormatVersion, Samewire: lab.Version, Study: "t", Seed: 1<<64 - 1, Reps: reps}
	for rep := 1; rep <= reps; rep++ {
		p.Runs = append(p.Runs, lab.Run{
			ID: lab.RunID(c, rep), Cell: c, Rep: rep, Order: rep, Seed: lab.DeriveSeed(1, fmt.Sprint(rep)), Timeout: time.Minute,
		})
	}
	return p
}

func testRecord(p lab.Plan, i int) lab.Record {
	v := 0.1 + float64(i)
	return lab.Record{
		Format: lab.FormatVersion, Run: p.Runs[i], Attempt: 1, Outcome: lab.OK,
		Samples: []lab.Sample{{Metric: lab.Duration, Unit: "s", Value: &v}},
		Wire:    lab.Wire{Up: lab.WireWay{Drops: map[string]int{"loss": i}}},
		Started: "2026-11-30T11:00:00Z",
	}
}

func create(t *testing.T, dir string, p lab.Plan) *Folder {
	t.Helper()
	f, err := Create(dir, []byte(studyText), p, ReadEnvironment())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func put(t *testing.T, f *Folder, records ...lab.Record) {
	t.Helper()
	for _, r := range records {
		if err := f.Put(r); err != nil {
			t.Fatal(err)
		}
	}
}

func records(t *testing.T, f *Folder) ([]lab.Record, []string) {
	t.Helper()
	got, warnings, err := f.Records()
	if err != nil {
		t.Fatal(err)
	}
	return got, warnings
}

func TestFolderRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	p := testPlan(3)
	f := create(t, dir, p)
	want := []lab.Record{testRecord(p, 2), testRecord(p, 0)}
	put(t, f, want...)
	// Another process reads while this one writes.
	reader, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, warnings := records(t, reader)
	if diff := cmp.Diff(want, got); diff != "" || warnings != nil {
		t.Errorf("records (-want +got):\n%s\nwarnings %q", diff, warnings)
	}
	if diff := cmp.Diff(p, reader.Plan()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if study, err := reader.Study(); err != nil || string(study) != studyText {
		t.Errorf("study %q, %v", study, err)
	}
	env, err := reader.Environment()
	if diff := cmp.Diff(ReadEnvironment(), env); diff != "" || err != nil {
		t.Errorf("environment (-want +got):\n%s\n%v", diff, err)
	}
	if err := reader.Put(testRecord(p, 1)); err == nil || !strings.Contains(err.Error(), "opened for reading") {
		t.Errorf("put into a folder opened for reading: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !cmp.Equal(names, []string{EnvironmentFile, PlanFile, RecordsFile, StudyFile}) {
		t.Errorf("the folder holds %v", names)
	}
}

func TestEnvironment(t *testing.T) {
	env := ReadEnvironment()
	if env.Samewire != lab.Version || env.Go == "" || env.Kernel == "" || env.Cores < 1 || env.Memory < 1<<20 {
		t.Errorf("%+v", env)
	}
}

func TestCreateRefuses(t *testing.T) {
	p := testPlan(1)
	t.Run("a record folder", func(t *testing.T) {
		dir := t.TempDir()
		f := create(t, dir, p)
		put(t, f, testRecord(p, 0))
		if _, err := Create(dir, nil, p, Environment{}); !errors.Is(err, ErrExists) {
			t.Errorf("got %v", err)
		}
		if got, _ := records(t, f); len(got) != 1 {
			t.Error("the records are gone")
		}
	})
	for name, file := range map[string]string{"a folder of another kind": "thesis.tex", "a study beside which it would write": StudyFile} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, file), "mine")
			if _, err := Create(dir, nil, p, Environment{}); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("got %v", err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(b) != "mine" {
				t.Errorf("the file became %q, %v", b, err)
			}
		})
	}
	t.Run("records without a plan", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, RecordsFile), "{}\n")
		if _, err := Create(dir, nil, p, Environment{}); err == nil || !strings.Contains(err.Error(), "has records but no plan.json") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a file", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "file")
		write(t, name, "mine")
		if _, err := Create(name, nil, p, Environment{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a folder that can't be written", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may write everywhere")
		}
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(filepath.Join(dir, "out"), nil, p, Environment{}); !errors.Is(err, os.ErrPermission) {
			t.Errorf("got %v", err)
		}
	})
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// An interrupted Create leaves an empty records.jsonl, and perhaps more, but
// no plan: it can be done again.
func TestCreateAgainAfterACrash(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, RecordsFile), "")
	write(t, filepath.Join(dir, StudyFile), "half")
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "no record folder") {
		t.Errorf("half a folder was opened: %v", err)
	}
	f := create(t, dir, testPlan(1))
	if study, err := f.Study(); err != nil || string(study) != studyText {
		t.Errorf("study %q, %v", study, err)
	}
}

func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	p := testPlan(1)
	f := create(t, dir, p)
	if _, err := Resume(dir, p); err == nil || !strings.Contains(err.Error(), "another samewire is writing") {
		t.Errorf("a second writer got in: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Put(testRecord(p, 0)); err == nil {
		t.Error("a closed folder took a record")
	}
	again, err := Resume(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestResume(t *testing.T) {
	dir := t.TempDir()
	p := testPlan(4)
	f := create(t, dir, p)
	invalid, twice := testRecord(p, 1), testRecord(p, 2)
	invalid.Outcome, twice.Outcome, twice.Attempt = lab.Invalid, lab.Invalid, 2
	put(t, f, testRecord(p, 0), invalid, twice)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Resume(dir, testPlan(4))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	done, err := f.Done()
	want := map[string]bool{p.Runs[0].ID: true, p.Runs[2].ID: true}
	if err != nil || !cmp.Equal(done, want) {
		t.Errorf("done %v, want %v, %v", done, want, err)
	}
	put(t, f, testRecord(p, 3))
	if got, _ := records(t, f); len(got) != 4 {
		t.Errorf("%d records", len(got))
	}
}

func TestResumeRefusesAnotherStudy(t *testing.T) {
	dir := t.TempDir()
	if err := create(t, dir, testPlan(2)).Close(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*lab.Plan){
		`seed: "18446744073709551615" there, "5" here`: func(p *lab.Plan) { p.Seed = 5 },
		`study: "t" there, "u" here`:                   func(p *lab.Plan) { p.Study = "u" },
		`number of runs: "2" there, "1" here`:          func(p *lab.Plan) { p.Runs = p.Runs[:1] },
		`samewire's version: "0.1.0" there`:            func(p *lab.Plan) { p.Samewire = "9" },
		`run 2: path: {"name":`:                        func(p *lab.Plan) { p.Runs[1].Cell.Path.Up.Delay++ },
	} {
		p := testPlan(2)
		change(&p)
		if _, err := Resume(dir, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to contain %s", err, want)
		}
	}
}

func TestTornLastLine(t *testing.T) {
	p := testPlan(3)
	for name, tail := range map[string]string{
		"half a record": `{"format":1,"run":{"id":"`, "zeros": strings.Repeat("\x00", 100_000), "a record without its newline": `{"format":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f := create(t, dir, p)
			put(t, f, testRecord(p, 0))
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, RecordsFile)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			write(t, file, string(b)+tail)
			reader, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			got, warnings := records(t, reader)
			if len(got) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], fmt.Sprintf("last %d bytes are half a record", len(tail))) {
				t.Errorf("%d records, warnings %q", len(got), warnings)
			}
			f, err = Resume(dir, p)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Warnings()) != 1 {
				t.Errorf("warnings %q", f.Warnings())
			}
			put(t, f, testRecord(p, 1))
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			got, warnings = records(t, reader)
			if len(got) != 2 || len(warnings) != 0 {
				t.Errorf("after resuming: %d records, warnings %q", len(got), warnings)
			}
		})
	}
}

func TestBrokenLines(t *testing.T) {
	p := testPlan(2)
	for name, tt := range map[string]struct{ line, want string }{
		"not JSON":       {"{\n", "records.jsonl:2: not a record"},
		"another format": {`{"format":99}` + "\n", "records.jsonl:2: format 99 is newer"},
		"no format":      {`{}` + "\n", "records.jsonl:2: format 0"},
	} {
		dir := t.TempDir()
		f := create(t, dir, p)
		put(t, f, testRecord(p, 0))
		if err := f.records.append([]byte(tt.line)); err != nil {
			t.Fatal(err)
		}
		put(t, f, testRecord(p, 1))
		if _, _, err := f.Records(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want it to contain %s", name, err, tt.want)
		}
		if _, err := f.Done(); err == nil {
			t.Errorf("%s: Done hid it", name)
		}
	}
}

func TestForeignRecordsAreNamed(t *testing.T) {
	dir := t.TempDir()
	p := testPlan(1)
	f := create(t, dir, p)
	other := testRecord(p, 0)
	other.Run.ID = "other-1"
	put(t, f, other, testRecord(p, 0))
	got, warnings := records(t, f)
	if len(got) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "run other-1 is not in the plan") {
		t.Errorf("%d records, warnings %q", len(got), warnings)
	}
}

func TestNewerFoldersAreRefused(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, testPlan(1))
	write(t, filepath.Join(dir, PlanFile), fmt.Sprintf(`{"format": %d, "runs": "something else"}`, lab.FormatVersion+1))
	for name, err := range map[string]error{
		"open":   func() error { _, err := Open(dir); return err }(),
		"resume": func() error { _, err := Resume(dir, testPlan(1)); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("format %d is newer", lab.FormatVersion+1)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKilled kills a writer: all that Put had promised is there, and the folder
// can be written again at once.
func TestKilled(t *testing.T) {
	const reps = 3000
	if dir := os.Getenv("SAMEWIRE_TEST_WRITER"); dir != "" {
		p := testPlan(reps)
		f, err := Create(dir, []byte(studyText), p, Environment{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Runs {
			if err := f.Put(testRecord(p, i)); err != nil {
				t.Fatal(err)
			}
			fmt.Println("put", p.Runs[i].ID)
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), "SAMEWIRE_TEST_WRITER="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var promised []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "put "); ok {
			promised = append(promised, id)
		}
		if len(promised) == 50 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(promised) < 50 {
		t.Fatalf("the writer was not killed: %d records", len(promised))
	}
	f, err := Resume(dir, testPlan(reps))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	done, err := f.Done()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range promised {
		if !done[id] {
			t.Errorf("record %s is lost", id)
		}
	}
}

// A folder that is taken away or changed while it is written to is noticed at
// the next record, not at the end.
func TestRecordsTakenAway(t *testing.T) {
	for name, harm := range map[string]func(string) error{
		"removed":   os.Remove,
		"truncated": func(file string) error { return os.Truncate(file, 3) },
		"replaced":  func(file string) error { return errors.Join(os.Remove(file), os.WriteFile(file, nil, 0o644)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := testPlan(2)
			f := create(t, dir, p)
			if err := f.Put(lab.Record{Format: lab.FormatVersion, Run: p.Runs[0], Outcome: lab.OK}); err != nil {
				t.Fatal(err)
			}
			if err := harm(filepath.Join(dir, RecordsFile)); err != nil {
				t.Fatal(err)
			}
			if err := f.Put(lab.Record{Format: lab.FormatVersion, Run: p.Runs[1], Outcome: lab.OK}); err == nil {
				t.Error("a record was put into a file that is not there any more")
			}
			_ = f.Close()
		})
	}
}

// What carries out a block of the plan again belongs to the folder, though the plan
// has it not; what only says so does not.
func TestRunsThatRepeatABlock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	p := testPlan(3)
	f := create(t, dir, p)
	repeat := func(block int, change func(*lab.Run)) lab.Record {
		r := testRecord(p, 0)
		r.Run.Rep, r.Run.Repeats, r.Run.Order = p.Reps+block, block, 99
		r.Run.ID = lab.RunID(r.Run.Cell, r.Run.Rep)
		change(&r.Run)
		return r
	}
	good := repeat(2, func(*lab.Run) {})
	put(t, f, testRecord(p, 1), good,
		repeat(4, func(*lab.Run) {}),                                                            // of a block that is not in the plan
		repeat(2, func(r *lab.Run) { r.ID = "other-5" }),                                        // of another name
		repeat(2, func(r *lab.Run) { r.Rep = 3 }),                                               // of the plan's own number
		repeat(2, func(r *lab.Run) { r.Repeats = 0 }),                                           // that repeats nothing
		repeat(2, func(r *lab.Run) { r.Cell.Path.Name = "q"; r.ID = lab.RunID(r.Cell, r.Rep) })) // of another cell
	got, warnings := records(t, f)
	if diff := cmp.Diff([]lab.Record{testRecord(p, 1), good}, got); diff != "" || len(warnings) != 5 {
		t.Errorf("-want +got:\n%s\n%q", diff, warnings)
	}
	done, err := f.Done()
	if err != nil || len(done) != 2 || !done[good.Run.ID] {
		t.Errorf("done: %v, %v", done, err)
	}
}
