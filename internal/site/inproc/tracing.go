package inproc

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/samewire/samewire/internal/lab"
)

// tracings keeps in memory what a host's program leaves so that its packets can
// be read: in virtual time no file may be written while a run is under way.
type tracings struct {
	mu    sync.Mutex
	keys  bytes.Buffer
	qlogs []*qlog // in the order in which they were opened
}

// qlog is the qlog of one connection, under the lock of its host's.
type qlog struct {
	all  *tracings
	name string
	data bytes.Buffer
	full bool // it was longer
}

// Tracing is where the host's program leaves its secrets and, if the site was
// asked for them, qlogs.
func (h *Host) Tracing() lab.Tracing {
	t := lab.Tracing{Keys: &h.tracings}
	if h.qlog {
		t.QLog = h.tracings.open
	}
	return t
}

// Write implements io.Writer for the secrets.
func (t *tracings) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys.Write(line)
}

func (t *tracings) open(name string) io.WriteCloser {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := &qlog{all: t, name: name}
	t.qlogs = append(t.qlogs, q)
	return q
}

// Write implements io.Writer.
func (q *qlog) Write(b []byte) (int, error) {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	if q.full = q.full || q.data.Len()+len(b) > lab.MaxQLog; q.full {
		return len(b), nil
	}
	return q.data.Write(b)
}

// Close implements io.Closer. What was written stays.
func (q *qlog) Close() error { return nil }

// secrets returns the lines that were written so far.
func (t *tracings) secrets() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.keys.Bytes())
}

// read returns the qlogs that were written so far, those of one connection in
// the same place on both sides: their names begin with the connection's ID.
func (t *tracings) read(side string) (all []lab.QLog) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range t.qlogs {
		all = append(all, lab.QLog{Side: side, Name: q.name, Data: lab.WholeEvents(q.data.Bytes(), q.full)})
	}
	slices.SortFunc(all, func(a, b lab.QLog) int { return strings.Compare(a.Name, b.Name) })
	return all
}
