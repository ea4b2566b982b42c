package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// appender adds lines to a file and syncs it. Lines that come while a sync is
// under way share the next one (group commit), so that many writers don't wait
// for each other's disk.
type appender struct {
	commit sync.Mutex // held while the file is written: one batch at a time

	mu   sync.Mutex // guards open
	open *batch     // takes what comes in

	// Guarded by commit:
	file file
	size int64 // of the file's whole lines
	dead error // why nothing can be written any more

	// intact says why the file is not the folder's any more; nil: not asked.
	intact func(size int64) error
}

// file is what the appender needs of an os.File.
type file interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// batch is what is written and synced together. done and err are guarded by
// the appender's commit.
type batch struct {
	lines []byte
	done  bool
	err   error
}

var errClosed = errors.New("the folder is closed")

func openAppender(name string, flags int) (*appender, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|flags, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &appender{file: f, size: info.Size(), open: &batch{}, intact: intact(name, f)}, nil
}

// intact tells whether the file is still the one that goes by its name, and as
// long as it was left: else what is written would be lost without a word.
func intact(name string, f *os.File) func(int64) error {
	return func(size int64) error {
		there, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("the file has gone: %w", err)
		}
		mine, err := f.Stat()
		switch {
		case err != nil:
			return err
		case !os.SameFile(there, mine):
			return fmt.Errorf("%s was replaced by another file", name)
		case mine.Size() != size:
			return fmt.Errorf("%s was changed by another program", name)
		}
		return nil
	}
}

// append returns when the line is on the disk, or can't be.
func (a *appender) append(line []byte) error {
	a.mu.Lock()
	b := a.open
	b.lines = append(b.lines, line...)
	a.mu.Unlock()

	a.commit.Lock()
	defer a.commit.Unlock()
	if b.done {
		return b.err
	}
	// Batches are committed one after another, so that b is still the open one.
	a.mu.Lock()
	a.open = &batch{}
	a.mu.Unlock()
	b.err = a.write(b.lines)
	b.done, b.lines = true, nil
	return b.err
}

// write writes whole lines, or nothing that a reader would see.
func (a *appender) write(lines []byte) error {
	if a.dead != nil {
		return a.dead
	}
	if a.intact != nil {
		if err := a.intact(a.size); err != nil {
			return err
		}
	}
	if _, err := a.file.Write(lines); err != nil {
		// Half a line would spoil the next one.
		if cut := a.file.Truncate(a.size); cut != nil {
			a.dead = errors.Join(err, cut)
			return a.dead
		}
		return err
	}
	if err := a.file.Sync(); err != nil {
		// What a failed sync leaves on the disk is not known, and a second one
		// would not say (fsync reports an error once).
		a.dead = err
		return err
	}
	a.size += int64(len(lines))
	return nil
}

// mend takes away what stands after the last newline, and returns how much.
func (a *appender) mend() (torn int64, err error) {
	a.commit.Lock()
	defer a.commit.Unlock()
	whole, err := wholeLines(a.file, a.size)
	if err != nil {
		return 0, fmt.Errorf("find the last record: %w", err)
	}
	torn = a.size - whole
	if torn == 0 {
		return 0, nil
	}
	if err := errors.Join(a.file.Truncate(whole), a.file.Sync()); err != nil {
		return 0, fmt.Errorf("take away a torn record: %w", err)
	}
	a.size = whole
	return torn, nil
}

// wholeLines returns the offset after the last newline, searching backwards.
func wholeLines(r io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		start := max(end-int64(len(buf)), 0)
		part := buf[:end-start]
		if _, err := r.ReadAt(part, start); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

func (a *appender) close() error {
	a.commit.Lock()
	defer a.commit.Unlock()
	if errors.Is(a.dead, errClosed) {
		return nil
	}
	a.dead = errClosed
	return a.file.Close()
}
