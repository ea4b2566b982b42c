package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

func TestKeptFilesAreWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	name := CaptureFile("abcdefgh-1", 2)
	if name != "wire/abcdefgh-1-2.pcapng" {
		t.Errorf("the capture is called %s", name)
	}
	write := func(text string, err error) error {
		return KeepFile(dir, name, func(w io.Writer) error {
			_, werr := io.WriteString(w, text)
			return errors.Join(werr, err)
		})
	}
	if err := write("half", errors.New("broken")); err == nil || !strings.Contains(err.Error(), "abcdefgh-1-2.pcapng") {
		t.Errorf("a capture that could not be written was kept: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, WireFolder)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for _, text := range []string{"first", "second"} { // an attempt that is carried out again takes the file's place
		if err := write(text, nil); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
			t.Errorf("have %q, %v", b, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestKeptFilesThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, WireFolder), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	called := func(io.Writer) error { t.Error("something was written"); return nil }
	for _, dir := range []string{dir, filepath.Join(dir, "no such folder")} {
		if err := KeepFile(dir, CaptureFile("x", 1), called); err == nil {
			t.Errorf("kept in %s", dir)
		}
	}
}

func TestQLogNames(t *testing.T) {
	for want, got := range map[string]string{
		"wire/a-1-1-client.sqlog":  QLogFile("a-1", 1, "client", 1, ".sqlog"),
		"wire/a-1-2-server-3.qlog": QLogFile("a-1", 2, "server", 3, ".qlog"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestResumeTakesHalvesAway holds that what a killed worker left half written
// does not stay, and that what is whole does.
func TestResumeTakesHalvesAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f, err := Create(dir, nil, lab.Plan{Format: lab.FormatVersion}, Environment{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), KeepFile(dir, CaptureFile("a-1", 1), func(io.Writer) error { return nil })); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, WireFolder, ".a-1-2.pcapng-123")
	if err := os.WriteFile(half, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Resume(dir, f.Plan())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	left, err := os.ReadDir(filepath.Join(dir, WireFolder))
	if err != nil || len(left) != 1 || left[0].Name() != "a-1-1.pcapng" {
		t.Errorf("left: %v, %v", left, err)
	}
}
