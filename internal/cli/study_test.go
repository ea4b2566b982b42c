package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A trace is a file: neither a pipe that nobody writes to nor a device without
// end, and a study that comes by a pipe has an end, too.
func TestFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "0,10mbit\n")
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero")); err != nil {
		t.Fatal(err)
	}
	read := filesIn(dir)
	for name, want := range map[string]string{
		"plain": "", "pipe": "not a regular file", "zero": "not a regular file", ".": "not a regular file", "none": "no such file",
	} {
		_, err := read(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, _, err := readStudy(filepath.Join(dir, "zero")); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a study without end: %v", err)
	}
	if _, _, err := readStudy(filepath.Join(dir, "pipe")); err == nil {
		t.Error("a pipe that nobody writes to is no study")
	}
}
