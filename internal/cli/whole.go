package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/samewire/samewire/internal/store"
)

// writeWhole writes a file in one step: where that fails, as on a full disk,
// what was there before stays, and nothing half written. A symbolic link goes on
// pointing to its file; a device or pipe is written to. What a record folder is made
// of is not written over: measurements cannot be made again.
func writeWhole(name string, b []byte) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	if partOfRecords(name) {
		return fmt.Errorf("%s is part of a record folder: want another file", name)
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, b, 0o644)
	}
	mode := fs.FileMode(0o644)
	if err == nil {
		mode = info.Mode().Perm()
	}
	return store.WriteFile(name, b, mode)
}

// partOfRecords says that a record folder has its own file of that name.
func partOfRecords(name string) bool {
	dir, base := filepath.Dir(name), filepath.Base(name)
	if abs, err := filepath.Abs(dir); err == nil && filepath.Base(abs) == store.WireFolder {
		dir = filepath.Dir(abs)
	} else if !slices.Contains([]string{store.StudyFile, store.PlanFile, store.EnvironmentFile, store.RecordsFile}, base) {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, store.PlanFile))
	return err == nil
}
