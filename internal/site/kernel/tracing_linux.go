package kernel

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// maxSecrets bounds what is read of a program's key log, in bytes: the secrets of
// some 20,000 connections.
const maxSecrets = 16 << 20

// tracings is a private folder of the run in which its programs leave what makes
// their packets readable, as their environment tells them.
//
// Properties that an edit must keep: the folder is gone when the hosts are
// closed, whatever failed; nothing of it is taken over that its programs did not
// write as plain files.
type tracings struct {
	dir  string
	qlog bool
}

func newTracings(qlog bool) (*tracings, error) {
	dir, err := os.MkdirTemp("", "samewire-run-")
	if err != nil {
		return nil, fmt.Errorf("make folder for secrets: %w", err)
	}
	t := &tracings{dir, qlog}
	for _, side := range []string{clientSide, serverSide} {
		if err := os.MkdirAll(t.qlogs(side), 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make folder for qlogs: %w", err), t.close())
		}
	}
	return t, nil
}

// The names of the two sides.
const (
	clientSide = "client"
	serverSide = "server"
)

func (t *tracings) keys(side string) string  { return filepath.Join(t.dir, side+".keys") }
func (t *tracings) qlogs(side string) string { return filepath.Join(t.dir, side) }

// environment adds to env what the programs of a side are told. What is there
// already is taken out: it is of other programs than the run's.
func (t *tracings) environment(side string, env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "SSLKEYLOGFILE=") || strings.HasPrefix(v, "QLOGDIR=")
	})
	env = append(env, "SSLKEYLOGFILE="+t.keys(side))
	if t.qlog {
		env = append(env, "QLOGDIR="+t.qlogs(side))
	}
	return env
}

// secrets returns what both sides wrote so far. A side that wrote nothing has
// no file. What could not be read is told in a comment, as the format has it.
func (t *tracings) secrets() []byte {
	var logs [][]byte
	for _, side := range []string{clientSide, serverSide} {
		log, err := readPlain(t.keys(side), maxSecrets)
		if err != nil {
			log = fmt.Appendf(log, "# the %s's secrets could not be read: %q\n", side, err.Error())
		}
		logs = append(logs, log)
	}
	return keylog.Merge(logs...)
}

// readQLogs reads the qlogs that both sides left, those of one connection in the
// same place, as far as their names begin with the connection's ID.
func (t *tracings) readQLogs() (all []lab.QLog) {
	if !t.qlog {
		return nil
	}
	for _, side := range []string{clientSide, serverSide} {
		entries, err := os.ReadDir(t.qlogs(side)) // in the order of their names
		if err != nil {
			continue // the program took the folder away
		}
		for _, e := range entries {
			data, err := readPlain(filepath.Join(t.qlogs(side), e.Name()), lab.MaxQLog+1)
			if err != nil {
				continue // no plain file
			}
			cut := len(data) > lab.MaxQLog
			data = lab.WholeEvents(data[:min(len(data), lab.MaxQLog)], cut)
			all = append(all, lab.QLog{Side: side, Name: e.Name(), Data: data})
		}
	}
	return all
}

// readPlain reads at most limit bytes of a file, which must be a plain one: a
// pipe would never end. One that is not there is empty.
func readPlain(name string, limit int64) (b []byte, err error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file", filepath.Base(name))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, limit))
}

func (t *tracings) close() error {
	if err := os.RemoveAll(t.dir); err != nil {
		return fmt.Errorf("remove folder of secrets: %w", err)
	}
	return nil
}
