package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// WireFolder is the folder of what is kept of runs' packets, in a record folder.
const WireFolder = "wire"

// CaptureFile names the capture of an attempt of a run, from the record folder.
func CaptureFile(run string, attempt int) string { return wireFile(run, attempt, ".pcapng") }

// QLogFile names the qlog of a side's nth connection, from 1; ext is its kind,
// such as ".sqlog".
func QLogFile(run string, attempt int, side string, n int, ext string) string {
	end := "-" + side
	if n > 1 {
		end += "-" + strconv.Itoa(n)
	}
	return wireFile(run, attempt, end+ext)
}

func wireFile(run string, attempt int, end string) string {
	return filepath.Join(WireFolder, run+"-"+strconv.Itoa(attempt)+end)
}

// KeepFile has a file of the record folder dir written, in one step: after a
// crash there is the whole file or none of it. A file of that name is replaced.
// The folder need not be open, so that workers can keep files, too.
func KeepFile(dir, name string, write func(io.Writer) error) (err error) {
	name = filepath.Join(dir, name)
	if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("keep %s: %w", filepath.Base(name), err)
	}
	temp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("keep %s: %w", filepath.Base(name), err)
	}
	buffer := bufio.NewWriterSize(temp, 256<<10)
	if err := errors.Join(write(buffer), buffer.Flush()); err != nil {
		return errors.Join(fmt.Errorf("keep %s: %w", filepath.Base(name), err), temp.Close(), os.Remove(temp.Name()))
	}
	if err := fill(temp, nil, name, 0o644); err != nil {
		return errors.Join(fmt.Errorf("keep %s: %w", filepath.Base(name), err), os.Remove(temp.Name()))
	}
	return syncDir(filepath.Dir(name))
}

// removeHalves removes what killed workers left half written, as far as it can.
// Only the folder's writer may do so, before it starts workers.
func removeHalves(dir string) {
	dir = filepath.Join(dir, WireFolder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // nothing was kept, or it is no folder: those who keep something say so
	}
	for _, e := range entries {
		if e.Name()[0] == '.' {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
