package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// disk is a file that can be full, broken or slow.
type disk struct {
	mu      sync.Mutex
	data    []byte
	synced  int
	syncs   int
	room    int // bytes that fit; below zero: any number
	syncErr error
	cutErr  error
	gate    chan struct{} // when not nil, a sync waits for it
}

func (d *disk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(p)
	if d.room >= 0 && len(d.data)+n > d.room {
		n = max(d.room-len(d.data), 0)
		d.data = append(d.data, p[:n]...)
		return n, syscall.ENOSPC
	}
	d.data = append(d.data, p...)
	return n, nil
}

func (d *disk) Sync() error {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncs++
	if d.syncErr == nil {
		d.synced = len(d.data)
	}
	return d.syncErr
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cutErr == nil {
		d.data = d.data[:size]
	}
	return d.cutErr
}

func (d *disk) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(d.data).ReadAt(p, off)
}
func (d *disk) Close() error { return nil }

func (d *disk) onDisk() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return string(d.data[:d.synced])
}

func TestFullDisk(t *testing.T) {
	d := &disk{room: 12}
	a := &appender{file: d, open: &batch{}}
	if err := a.append([]byte("first\n")); err != nil {
		t.Fatal(err)
	}
	if err := a.append([]byte("second, longer\n")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if string(d.data) != "first\n" {
		t.Errorf("the file holds %q", d.data)
	}
	d.room = -1
	if err := a.append([]byte("third\n")); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	if d.onDisk() != "first\nthird\n" {
		t.Errorf("the file holds %q", d.onDisk())
	}
}

// After a failed sync, or half a line that can't be taken away, nothing more is
// written: no later success may hide it.
func TestBrokenDisk(t *testing.T) {
	for name, d := range map[string]*disk{
		"sync":     {room: -1, syncErr: syscall.EIO},
		"truncate": {room: 3, cutErr: syscall.EIO},
	} {
		a := &appender{file: d, open: &batch{}}
		if err := a.append([]byte("first\n")); err == nil {
			t.Errorf("%s: no error", name)
		}
		d.syncErr, d.cutErr, d.room = nil, nil, -1
		before := string(d.data)
		if err := a.append([]byte("second\n")); !errors.Is(err, syscall.EIO) || string(d.data) != before {
			t.Errorf("%s: got %v, the file holds %q", name, err, d.data)
		}
	}
}

// Lines that come while a sync is under way share the next one, and none
// returns before its own is done.
func TestGroupCommit(t *testing.T) {
	const writers = 50
	d := &disk{room: -1, gate: make(chan struct{})}
	a := &appender{file: d, open: &batch{}}
	var all sync.WaitGroup
	write := func(i int) {
		defer all.Done()
		line := fmt.Sprintf("line %d\n", i)
		if err := a.append([]byte(line)); err != nil {
			t.Error(err)
		}
		if !strings.Contains(d.onDisk(), line) {
			t.Errorf("line %d was promised before it was on the disk", i)
		}
	}
	all.Add(1)
	go write(0)
	for { // until the first sync is under way
		d.mu.Lock()
		n := len(d.data)
		d.mu.Unlock()
		if n > 0 {
			break
		}
	}
	for i := 1; i < writers; i++ {
		all.Add(1)
		go write(i)
	}
	for { // until all others wait
		a.mu.Lock()
		n := bytes.Count(a.open.lines, []byte("\n"))
		a.mu.Unlock()
		if n == writers-1 {
			break
		}
	}
	close(d.gate)
	all.Wait()
	if d.syncs != 2 {
		t.Errorf("%d syncs for %d lines, want 2", d.syncs, writers)
	}
	if n := strings.Count(d.onDisk(), "\n"); n != writers {
		t.Errorf("%d lines", n)
	}
}

func TestConcurrentPuts(t *testing.T) {
	const writers, each = 8, 20
	p := testPlan(writers * each)
	f := create(t, filepath.Join(t.TempDir(), "out"), p)
	var all sync.WaitGroup
	for w := range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range each {
				if err := f.Put(testRecord(p, w*each+i)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	got, warnings := records(t, f)
	done, err := f.Done()
	if len(got) != len(p.Runs) || len(done) != len(p.Runs) || len(warnings) != 0 || err != nil {
		t.Errorf("%d records, %d done, warnings %q, %v", len(got), len(done), warnings, err)
	}
}

func TestWholeLines(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, tt := range []struct {
		data string
		want int64
	}{
		{"", 0}, {"a", 0}, {"a\n", 2}, {"a\nb", 2}, {"a\n" + long, 2}, {long + "\n" + long, 200_001}, {long, 0},
		{strings.Repeat("y", 64<<10-1) + "\n" + strings.Repeat("z", 64<<10), 64 << 10},
	} {
		got, err := wholeLines(strings.NewReader(tt.data), int64(len(tt.data)))
		if err != nil || got != tt.want {
			t.Errorf("%d bytes: got %d, want %d, %v", len(tt.data), got, tt.want, err)
		}
	}
}

// A file is replaced in one step or not at all.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	if err := writeFile(name, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(name, []byte("two")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
	if err := writeFile(filepath.Join(dir, "none", "f"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(filepath.Join(dir, "d"), []byte("x")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d entries are left, want 2 (no temporary file), %v", len(entries), err)
	}
}
