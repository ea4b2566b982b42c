package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// writeWhole writes a file in one step: where that fails, as on a full disk,
// what was there before stays, and nothing half written. A symbolic link goes on
// pointing to its file; a device or pipe is written to.
func writeWhole(name string, b []byte) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, b, 0o644)
	}
	mode := fs.FileMode(0o644)
	if err == nil {
		mode = info.Mode().Perm()
	}
	temp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(b)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
