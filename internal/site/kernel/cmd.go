package kernel

import (
	"bytes"
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Cmd is a process of a host. It is an exec.Cmd that is started on the host's
// own thread, and so in its network namespace; it leads a process group, and
// dies with this process. Set its fields before Start, as with an exec.Cmd.
type Cmd struct {
	*exec.Cmd
	start func(*Cmd) error // on the thread that outlives the process

	wait  sync.Once
	ended chan struct{} // closed when wait is over
	err   error
}

func newCmd(c *exec.Cmd, start func(*Cmd) error) *Cmd {
	c.SysProcAttr = childAttr()
	// Programs that inherit our pipes must not hold Wait up for ever.
	c.WaitDelay = time.Second
	cmd := &Cmd{Cmd: c, start: start, ended: make(chan struct{})}
	c.Cancel = func() error { return cmd.signal(syscall.SIGKILL) }
	return cmd
}

// Start starts the process in its host.
func (c *Cmd) Start() error { return children.start(c) }

// Wait waits for the process to end. It may be called more than once, and by
// several goroutines: all get the same answer.
func (c *Cmd) Wait() error {
	c.wait.Do(func() {
		c.err = c.Cmd.Wait()
		children.remove(c)
		close(c.ended)
	})
	return c.err
}

// Run starts the process and waits for it to end.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Output runs the process and returns what it wrote to its standard output.
func (c *Cmd) Output() ([]byte, error) {
	var out bytes.Buffer
	c.Stdout = &out
	err := c.Run()
	return out.Bytes(), err
}

// CombinedOutput runs the process and returns all that it wrote.
func (c *Cmd) CombinedOutput() ([]byte, error) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.Bytes(), err
}

// PID is the process's number as this process sees it; 0 before Start.
func (c *Cmd) PID() int {
	if c.Process == nil {
		return 0
	}
	return c.Process.Pid
}

// Stop asks the process and its group to end (SIGTERM), ends them by force
// after grace, and returns when the process has gone. How it ended is no error.
func (c *Cmd) Stop(grace time.Duration) error {
	if c.Process == nil {
		return nil
	}
	_ = c.signal(syscall.SIGTERM)
	timer := time.AfterFunc(grace, func() { _ = c.signal(syscall.SIGKILL) })
	defer timer.Stop()
	err := c.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// signal sends s to the process's group, unless the process has been waited
// for: its number may then be another's.
func (c *Cmd) signal(s syscall.Signal) error {
	select {
	case <-c.ended:
		return nil
	default:
		return killGroup(c.PID(), s)
	}
}

// children are the processes that this package has started and nobody has
// waited for yet. It tells them from orphans that are this process's to reap.
var children = registry{pids: map[int]bool{}}

type registry struct {
	mu   sync.Mutex
	pids map[int]bool
}

// start starts c under the lock, so that no process of ours is ever unknown.
func (r *registry) start(c *Cmd) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := c.start(c); err != nil {
		return err
	}
	r.pids[c.PID()] = true
	return nil
}

func (r *registry) remove(c *Cmd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pids, c.PID())
}
