package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// qlogPatience is how long a closed connection's qlog may take to end: quic-go
// writes and closes it in a goroutine of its own.
const qlogPatience = time.Second

// qlogFiles makes the files of a program's qlogs, one for each QUIC connection.
type qlogFiles struct {
	dir  string
	said io.Writer

	mu    sync.Mutex
	files []*qlogFile
}

// qlogFile is a qlog that is written in large pieces: quic-go writes word by word.
type qlogFile struct {
	ended chan struct{} // closed with the file

	mu     sync.Mutex
	buffer *bufio.Writer
	file   *os.File // nil once closed
}

// create makes the file of one connection's qlog, and the folder if need be. It
// returns nil where it cannot.
func (q *qlogFiles) create(name string) io.WriteCloser {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := os.MkdirAll(q.dir, 0o755)
	var f *os.File
	if err == nil {
		f, err = os.Create(filepath.Join(q.dir, filepath.Base(name)))
	}
	if err != nil {
		fmt.Fprintf(q.said, "warning: %s: no qlog is written: %v\n", qlogVariable, err)
		return nil
	}
	file := &qlogFile{buffer: bufio.NewWriterSize(f, 64<<10), file: f, ended: make(chan struct{})}
	q.files = append(q.files, file)
	return file
}

// close waits a little for the qlogs to end, and ends those that do not.
func (q *qlogFiles) close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	timer := time.NewTimer(qlogPatience)
	defer timer.Stop()
	var errs []error
	for _, f := range q.files {
		select {
		case <-f.ended:
			continue
		default:
		}
		select {
		case <-f.ended:
		case <-timer.C:
			timer.Reset(0) // nor for the others
		}
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Write implements io.Writer.
func (f *qlogFile) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return 0, os.ErrClosed
	}
	return f.buffer.Write(b)
}

// Close implements io.Closer. Only the first call does something.
func (f *qlogFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.buffer.Flush(), f.file.Close())
	f.file = nil
	close(f.ended)
	return err
}
