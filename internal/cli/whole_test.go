package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/store"
)

// A diagram takes the place of the file that was there as a whole: who has that
// open, or another name for it, keeps what it had.
func TestDiagramsAreWrittenWhole(t *testing.T) {
	dir := t.TempDir()
	name, other, link := filepath.Join(dir, "x.svg"), filepath.Join(dir, "other.svg"), filepath.Join(dir, "link.svg")
	err := errors.Join(os.WriteFile(name, []byte("before"), 0o600), os.Link(name, other), os.Symlink("x.svg", link))
	if err != nil {
		t.Fatal(err)
	}
	var out, said strings.Builder
	if got := run([]string{"show", "testdata/show/cold-h1.pcapng", "--svg", link}, streams{nil, &out, &said}); got != exitOK {
		t.Fatalf("status %d: %s", got, said.String())
	}
	now, err := os.ReadFile(name)
	before, err2 := os.ReadFile(other)
	if err := errors.Join(err, err2); err != nil || len(now) < 1000 || string(before) != "before" {
		t.Errorf("%v: %d bytes; the file that was there before has %q", err, len(now), before)
	}
	info, err := os.Stat(name)
	entries, err2 := os.ReadDir(dir)
	if err := errors.Join(err, err2); err != nil || info.Mode().Perm() != 0o600 || len(entries) != 3 {
		t.Errorf("%v: mode %v, %d files", err, info.Mode(), len(entries))
	}
	if target, err := os.Readlink(link); err != nil || target != "x.svg" {
		t.Errorf("the link: %q, %v", target, err)
	}
	// What cannot be put in place leaves nothing.
	if err := writeWhole(filepath.Join(dir, "absent", "x.svg"), nil); err == nil {
		t.Error("written to a folder that is not there")
	}
	if err := writeWhole(os.DevNull, []byte("x")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is %v now, %v", os.DevNull, info, err)
	}
}

// What a record folder is made of is not written over, whatever it is called by.
func TestRecordsAreNotWrittenOver(t *testing.T) {
	dir := t.TempDir()
	wire := filepath.Join(dir, store.WireFolder)
	if err := os.Mkdir(wire, 0o755); err != nil {
		t.Fatal(err)
	}
	own := []string{store.PlanFile, store.RecordsFile, store.StudyFile, store.EnvironmentFile, filepath.Join(store.WireFolder, "x.pcapng")}
	for _, name := range own {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(dir, store.RecordsFile), link); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(own, link) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := writeWhole(name, []byte("x")); err == nil || !strings.Contains(err.Error(), "part of a record folder") {
			t.Errorf("%s: %v", name, err)
		}
		if b, err := os.ReadFile(name); err != nil || string(b) != "kept" {
			t.Errorf("%s has %q, %v", name, b, err)
		}
	}
	if err := writeWhole(filepath.Join(dir, "report.html"), []byte("x")); err != nil {
		t.Error(err)
	}
	if err := writeWhole(filepath.Join(t.TempDir(), store.PlanFile), []byte("x")); err != nil {
		t.Errorf("elsewhere: %v", err)
	}
}
