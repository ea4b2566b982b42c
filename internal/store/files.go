package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile writes a file in one step: after a crash there is the whole file or
// none of it.
func writeFile(name string, b []byte) error { return WriteFile(name, b, 0o644) }

// WriteFile writes a file that may belong to no folder, such as a report, in one
// step: after a crash there is the whole file or none of it.
func WriteFile(name string, b []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(name), err)
	}
	if err := fill(temp, b, name, mode); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", filepath.Base(name), err), os.Remove(temp.Name()))
	}
	return syncDir(filepath.Dir(name))
}

func fill(temp *os.File, b []byte, name string, mode fs.FileMode) error {
	_, err := temp.Write(b)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), name)
}

// syncDir makes the names in a folder survive a crash.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}

func writeJSON[T any](name string, v T) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(name), err)
	}
	return writeFile(name, append(b, '\n'))
}

func readJSON[T any](name string, v *T) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}
