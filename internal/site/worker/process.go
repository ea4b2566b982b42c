package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// helloLimit is how long a worker may take to say hello.
const helloLimit = 20 * time.Second

// Command says how a worker is started.
type Command struct {
	Path string
	Args []string
	Env  []string             // added to samewire's own
	Attr *syscall.SysProcAttr // nil: a process group of its own, dying with samewire
}

// quietQUIC keeps quic-go from writing to a worker's standard error that it
// could not have a larger receive buffer: records say how large it is. What a
// worker starts inherits it.
const quietQUIC = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING=1"

// process is one living worker.
type process struct {
	Hello  Hello
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	lines  *bufio.Reader
	errors *tail
	ended  chan struct{}   // closed when the process has ended
	status error           // how it ended; valid after ended
	sent   map[string]bool // digests of the traces that the worker has
	temp   *Folder         // of its temporary files; it goes when the process has ended
}

// start starts a worker and waits for its hello.
func start(ctx context.Context, c Command) (*process, error) {
	answers, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe to worker: %w", err)
	}
	defer func() { _ = theirs.Close() }()
	p := &process{out: answers, lines: bufio.NewReaderSize(answers, 1<<16), errors: &tail{}, ended: make(chan struct{}), sent: map[string]bool{}}
	if p.temp, err = NewFolder("worker"); err != nil {
		_ = answers.Close()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	p.cmd = exec.Command(c.Path, c.Args...)
	p.cmd.Env = append(append(os.Environ(), quietQUIC, "TMPDIR="+p.temp.Path), c.Env...)
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.cmd.Stderr = p.errors
	p.cmd.WaitDelay = time.Second
	p.cmd.SysProcAttr = c.Attr
	if c.Attr == nil {
		p.cmd.SysProcAttr = ownGroup()
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		_ = answers.Close()
		_ = p.temp.Remove()
		return nil, fmt.Errorf("make pipe to worker: %w", err)
	}
	if err := p.run(); err != nil {
		_ = answers.Close()
		_ = p.temp.Remove()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	_ = theirs.Close()
	line, err := p.line(ctx, helloLimit)
	if err == nil {
		err = json.Unmarshal(line, &p.Hello)
	}
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("hear worker's hello: %w", err)
	}
	return p, nil
}

// run starts the process from a thread that lives until it has ended: the
// kernel sends the parent-death signal when the thread that forked ends, not
// the process.
func (p *process) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.status = p.cmd.Wait()
		_ = p.temp.Remove() // secrets of a run in which it was killed
		close(p.ended)
	}()
	return <-started
}

// line waits for the worker's next line. An error says how the worker failed;
// after one the worker must be killed.
func (p *process) line(ctx context.Context, limit time.Duration) ([]byte, error) {
	type answer struct {
		line []byte
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		line, err := p.lines.ReadBytes('\n')
		got <- answer{line, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-got:
		if a.err != nil {
			return nil, p.death(a.err)
		}
		return a.line, nil
	case <-timer.C:
		return nil, fmt.Errorf("the worker gave no answer within %s of real time", limit)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// death says how the worker ended, as far as can be told.
func (p *process) death(read error) error {
	if !errors.Is(read, io.EOF) {
		return fmt.Errorf("read worker's answer: %w", read)
	}
	select {
	case <-p.ended:
	case <-time.After(2 * time.Second):
		return errors.New("the worker closed its answers")
	}
	how := "it ended"
	if p.status != nil {
		how = p.status.Error()
	}
	if said := p.errors.String(); said != "" {
		how += "; its last words: " + said
	}
	return errors.New("the worker died: " + how)
}

// ask sends a run and waits for its record.
func (p *process) ask(ctx context.Context, order lab.Order, limit time.Duration) (lab.Record, error) {
	var r lab.Record
	traces := lab.Traces{}
	run := order.Run
	traces.Add(run.Cell.Path)
	if err := p.send(order, traces); err != nil {
		return r, err
	}
	line, err := p.line(ctx, limit)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("decode record: %w", err)
	}
	if r.Run.ID != run.ID {
		return r, fmt.Errorf("the worker answered run %s when asked for %s", r.Run.ID, run.ID)
	}
	err = traces.Attach(&r.Run.Cell.Path)
	return r, err
}

// send orders a run, with those of its traces that the worker has not got yet.
func (p *process) send(asked lab.Order, traces lab.Traces) error {
	o := order{Order: asked, Traces: lab.Traces{}}
	for digest, data := range traces {
		if !p.sent[digest] {
			o.Traces[digest], p.sent[digest] = data, true
		}
	}
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode run: %w", err)
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return p.death(io.EOF)
	}
	return nil
}

// close lets the worker end by itself, and kills it if it does not.
func (p *process) close() {
	_ = p.in.Close()
	select {
	case <-p.ended:
		_ = p.out.Close()
	case <-time.After(2 * time.Second):
		p.kill()
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
	_ = p.in.Close()
	_ = p.out.Close()
}
