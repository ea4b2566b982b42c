package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/samewire/samewire/internal/lab"
	"golang.org/x/sys/unix"
)

// The names of a folder's files.
const (
	StudyFile       = "study.yaml"
	PlanFile        = "plan.json"
	EnvironmentFile = "environment.json"
	RecordsFile     = "records.jsonl"
)

// ErrExists says that there is a record folder already: Resume goes on with it.
var ErrExists = errors.New("a record folder is there already")

// ErrOtherStudy says that a folder holds another study than the one to go on
// with.
var ErrOtherStudy = errors.New("it is of another study")

// Folder is an open record folder. It is safe for concurrent use.
type Folder struct {
	dir      string
	plan     lab.Plan
	records  *appender // nil when the folder was opened for reading
	warnings []string
}

// Create makes the folder of a new study, and its parents. The error wraps
// ErrExists where there is one already. Any other folder with something in it is
// refused, unless it is what an interrupted Create left.
func Create(dir string, study []byte, plan lab.Plan, env Environment) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create record folder: %w", err)
	}
	if err := checkFree(dir); err != nil {
		return nil, fmt.Errorf("create record folder %s: %w", dir, err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("create record folder %s: %w", dir, err)
	}
	// The records come first, for their lock keeps a second writer out.
	records, err := openAppender(filepath.Join(dir, RecordsFile), os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("create record folder %s: %w", dir, err)
	}
	if err := writeParts(dir, study, plan, env); err != nil {
		return nil, errors.Join(fmt.Errorf("create record folder %s: %w", dir, err), records.close())
	}
	return &Folder{dir: dir, plan: plan, records: records}, nil
}

func writeParts(dir string, study []byte, plan lab.Plan, env Environment) error {
	if _, err := os.Stat(filepath.Join(dir, PlanFile)); err == nil {
		return ErrExists // made by another writer while this one waited
	}
	if err := writeFile(filepath.Join(dir, StudyFile), study); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, EnvironmentFile), env); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, PlanFile), newPlanFile(plan))
}

// planFile is plan.json. It has the content of each trace once; runs and records
// only name it.
type planFile struct {
	lab.Plan
	Traces lab.Traces `json:"traces"`
}

func newPlanFile(plan lab.Plan) planFile {
	p := planFile{plan, lab.Traces{}}
	for _, r := range plan.Runs {
		p.Traces.Add(r.Cell.Path)
	}
	return p
}

// attach gives the plan's runs the contents of their traces.
func (p *planFile) attach() error {
	if err := p.Traces.Check(); err != nil {
		return err
	}
	for i := range p.Runs {
		if err := p.Traces.Attach(&p.Runs[i].Cell.Path); err != nil {
			return fmt.Errorf("run %s: %w", p.Runs[i].ID, err)
		}
	}
	return nil
}

// checkFree looks whether a new record folder may be made here. An empty
// records.jsonl without a plan is what an interrupted Create leaves.
func checkFree(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	begun := false
	for _, e := range entries {
		switch e.Name() {
		case PlanFile:
			return ErrExists
		case RecordsFile:
			info, err := e.Info()
			if err != nil {
				return err
			}
			if info.Size() > 0 {
				return fmt.Errorf("it has records but no %s", PlanFile)
			}
			begun = true
		}
	}
	if len(entries) > 0 && !begun {
		return fmt.Errorf("it is not empty, and no record folder: it holds %s", entries[0].Name())
	}
	return nil
}

// Open opens a folder for reading. It needs no lock, and works while another
// process writes.
func Open(dir string) (*Folder, error) {
	plan, err := readPlan(dir)
	if err != nil {
		return nil, fmt.Errorf("open record folder %s: %w", dir, err)
	}
	return &Folder{dir: dir, plan: plan}, nil
}

// Resume opens a folder for writing, to go on with its study. The plan must be
// the one of the folder; the error says what differs. Half a line that a crash
// left at the end of the records is taken away, and named in Warnings.
func Resume(dir string, plan lab.Plan) (*Folder, error) {
	have, err := readPlan(dir)
	if err != nil {
		return nil, fmt.Errorf("resume record folder %s: %w", dir, err)
	}
	if d := difference(have, plan); d != "" {
		return nil, fmt.Errorf("resume record folder %s: %w: %s", dir, ErrOtherStudy, d)
	}
	records, err := openAppender(filepath.Join(dir, RecordsFile), 0)
	if err != nil {
		return nil, fmt.Errorf("resume record folder %s: %w", dir, err)
	}
	f := &Folder{dir: dir, plan: plan, records: records}
	torn, err := records.mend()
	removeHalves(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("resume record folder %s: %w", dir, err), records.close())
	}
	if torn > 0 {
		f.warnings = append(f.warnings, tornWarning(torn)+"; they were taken away, and the run will be carried out again")
	}
	return f, nil
}

// Dir is the folder's path.
func (f *Folder) Dir() string { return f.dir }

// Plan returns the folder's plan.
func (f *Folder) Plan() lab.Plan { return f.plan }

// Study returns the study as its author wrote it.
func (f *Folder) Study() ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(f.dir, StudyFile))
	if err != nil {
		return nil, fmt.Errorf("read study: %w", err)
	}
	return b, nil
}

// Environment returns what is recorded of the machine that measured.
func (f *Folder) Environment() (Environment, error) {
	var env Environment
	if err := readJSON(filepath.Join(f.dir, EnvironmentFile), &env); err != nil {
		return Environment{}, fmt.Errorf("read environment: %w", err)
	}
	return env, nil
}

// Warnings says what was mended when the folder was opened.
func (f *Folder) Warnings() []string { return f.warnings }

// Put appends a record, and returns when it is on the disk. Records that are
// put while the disk is busy are written together. The error of a full disk
// leaves the folder whole: what was put before can be read.
func (f *Folder) Put(r lab.Record) error {
	if f.records == nil {
		return fmt.Errorf("put record %s: the folder was opened for reading", r.Run.ID)
	}
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("put record %s: %w", r.Run.ID, err)
	}
	if err := f.records.append(append(b, '\n')); err != nil {
		return fmt.Errorf("put record %s: %w", r.Run.ID, err)
	}
	return nil
}

// Close ends writing, and frees the folder for another writer.
func (f *Folder) Close() error {
	if f.records == nil {
		return nil
	}
	if err := f.records.close(); err != nil {
		return fmt.Errorf("close record folder %s: %w", f.dir, err)
	}
	return nil
}

func readPlan(dir string) (lab.Plan, error) {
	var format struct {
		Format int `json:"format"`
	}
	file := filepath.Join(dir, PlanFile)
	err := readJSON(file, &format)
	if errors.Is(err, fs.ErrNotExist) {
		return lab.Plan{}, fmt.Errorf("it is no record folder: %w", err)
	}
	if err != nil {
		return lab.Plan{}, err
	}
	if err := checkFormat(format.Format); err != nil {
		return lab.Plan{}, err
	}
	var plan planFile
	if err := readJSON(file, &plan); err != nil {
		return lab.Plan{}, err
	}
	if err := plan.attach(); err != nil {
		return lab.Plan{}, fmt.Errorf("%s: %w", PlanFile, err)
	}
	return plan.Plan, nil
}

// checkFormat refuses what a newer samewire wrote: fields may mean other things
// there.
func checkFormat(format int) error {
	if format > lab.FormatVersion {
		return fmt.Errorf("format %d is newer than this samewire %s reads (%d): use a newer one",
			format, lab.Version, lab.FormatVersion)
	}
	if format < 1 {
		return fmt.Errorf("format %d is not one of samewire's: the lowest is 1", format)
	}
	return nil
}

// lock makes this process the file's only writer.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errors.New("another samewire is writing to it")
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return nil
}
