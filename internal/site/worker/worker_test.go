package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// The test binary is its own worker: started with this variable set it does
// what the variable says.
const role = "SAMEWIRE_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(role) == "" {
		os.Exit(m.Run())
	}
	hello := Hello{Samewire: lab.Version, Build: Build, Site: lab.Process}
	switch os.Getenv(role) {
	case "mute":
		time.Sleep(time.Minute)
	case "owner":
		ownFolder()
	case "problem":
		hello.Problem = "no such thing here"
	}
	err := Loop(os.Stdin, os.NewFile(3, "answers"), hello, nil, script{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// script carries out runs by their IDs.
type script struct{}

func (script) CarryOut(_ context.Context, order lab.Order) lab.Record {
	run := order.Run
	if _, err := os.MkdirTemp("", "secrets-"); err != nil {
		panic(err)
	}
	switch run.ID {
	case "panic":
		panic("a planted fault")
	case "exit":
		os.Exit(7)
	case "hang", "wait":
		time.Sleep(time.Hour)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "other":
		run.ID = "another"
	case "trace":
		return lab.Record{Run: run, Outcome: lab.OK, Reason: run.Cell.Path.Down.Trace.Data}
	}
	return lab.Record{Run: run, Outcome: lab.OK}
}

func command(t *testing.T, as string) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{Path: self, Env: []string{role + "=" + as}}
}

// pool is short of time only for the run that hangs: a slow processor needs some for
// the others.
func pool(t *testing.T, as string, size int) *Pool {
	p := NewPool(command(t, as), size,
		func(run lab.Run) time.Duration {
			if run.ID == "hang" {
				return 2 * time.Second
			}
			return time.Minute
		},
		func(r lab.Run) lab.Record { return lab.Record{Run: r} })
	t.Cleanup(p.Close)
	return p
}

func TestFailuresOfAWorkerAreRecordsAndTheNextRunGoesOn(t *testing.T) {
	p := pool(t, "work", 1)
	for id, word := range map[string]string{
		"panic": "a planted fault", "exit": "exit status 7", "kill": "signal: killed",
		"hang": "no answer within 2s", "other": "answered run another",
	} {
		r := p.Carry(t.Context(), lab.Run{ID: id})
		if r.Outcome != lab.Invalid || !strings.Contains(r.Reason, word) || r.Run.ID != id {
			t.Errorf("%s: got %s %q, want invalid with %q", id, r.Outcome, r.Reason, word)
		}
		if r := p.Carry(t.Context(), lab.Run{ID: "fine"}); r.Outcome != lab.OK || r.Started == "" || r.Took <= 0 {
			t.Errorf("after %s: got %s %q", id, r.Outcome, r.Reason)
		}
	}
}

func TestAWorkerIsUsedAgain(t *testing.T) {
	p := pool(t, "work", 1)
	p.Carry(t.Context(), lab.Run{ID: "a"})
	first := <-p.free
	p.free <- first
	p.Carry(t.Context(), lab.Run{ID: "b"})
	second := <-p.free
	p.free <- second
	if first == nil || first != second {
		t.Error("a worker that did well was replaced")
	}
}

func TestCancelKillsTheWorkerAtOnce(t *testing.T) {
	p := pool(t, "work", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	r := p.Carry(ctx, lab.Run{ID: "wait"})
	if r.Outcome != lab.Invalid || time.Since(began) > 30*time.Second { // its time limit is a minute
		t.Errorf("got %s %q after %s", r.Outcome, r.Reason, time.Since(began))
	}
	if w := <-p.free; w != nil {
		t.Error("the worker that hangs is still there")
	}
	p.free <- nil
}

func TestProblemsAreReasons(t *testing.T) {
	r := pool(t, "problem", 1).Carry(t.Context(), lab.Run{ID: "x"})
	if r.Outcome != lab.Invalid || !strings.Contains(r.Reason, "no such thing here") {
		t.Errorf("got %s %q", r.Outcome, r.Reason)
	}
	h, err := Ask(t.Context(), command(t, "problem"))
	if err != nil || h.Problem == "" {
		t.Errorf("asked: %+v, %v", h, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Ask(ctx, command(t, "mute")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a mute worker: %v", err)
	}
	if _, err := Ask(t.Context(), Command{Path: "/nonexistent"}); err == nil {
		t.Error("a worker that is not there said hello")
	}
}

func TestSeveralWorkersAtATime(t *testing.T) {
	p := pool(t, "work", 2)
	done := make(chan lab.Record)
	for i := range 20 {
		go func() { done <- p.Carry(t.Context(), lab.Run{ID: fmt.Sprint(i)}) }()
	}
	for range 20 {
		if r := <-done; r.Outcome != lab.OK {
			t.Errorf("%s: %s %q", r.Run.ID, r.Outcome, r.Reason)
		}
	}
}

func TestStripPlayback(t *testing.T) {
	header := func(n int) string {
		b := append([]byte("\x00\x00PB"), make([]byte, 12)...)
		binary.BigEndian.PutUint32(b[12:], uint32(n))
		return string(b)
	}
	for _, c := range []struct{ in, want string }{
		{"plain", "plain"},
		{header(5) + "hello", "hello"},
		{header(3) + "one" + header(3) + "two", "onetwo"},
		{header(100) + "cut", "cut"},
		{"\x00\x00PBshort", "\x00\x00PBshort"},
		{"", ""},
	} {
		if got := string(stripPlayback([]byte(c.in))); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

// A worker gets the content of a trace with the first run that names it, and
// has it for the later ones; records name it only, and their readers get it.
func TestTracesAreSentOnce(t *testing.T) {
	p := pool(t, "work", 1)
	for _, content := range []string{"5\n", "5\n", "7\n", "5\n"} {
		run := lab.Run{ID: "trace"}
		run.Cell.Path.Down.Trace = lab.NewTrace("x.trace", content)
		r := p.Carry(t.Context(), run)
		if r.Outcome != lab.OK || r.Reason != content || r.Run != run {
			t.Errorf("asked for %q: %+v", content, r)
		}
	}
}

type input struct{ strings.Builder }

func (*input) Close() error { return nil }

func TestOrders(t *testing.T) {
	in := &input{}
	p := &process{in: in, sent: map[string]bool{}}
	run := lab.Run{ID: "a"}
	run.Cell.Path.Down.Trace = lab.NewTrace("x.trace", "41017\n")
	for range 2 {
		traces := lab.Traces{}
		traces.Add(run.Cell.Path)
		if err := p.send(lab.Order{Run: run}, traces); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(in.String(), "41017"); n != 1 {
		t.Errorf("the trace was sent %d times", n)
	}
	traces := lab.Traces{}
	for line := range strings.Lines(in.String()) {
		if got, err := readOrder([]byte(line), traces); err != nil || got.Run != run {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
	first, _, _ := strings.Cut(in.String(), "\n")
	for _, bad := range []string{"{", strings.Replace(first, "41017", "41018", 1), strings.Replace(first, `"traces"`, `"t"`, 1)} {
		if _, err := readOrder([]byte(bad), lab.Traces{}); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}
