package kernel

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// spinner is the process that keeps the cores awake. It is a process of its
// own, because a thread that hardly ever runs would hold up the whole of a Go
// program whenever the runtime wants all threads to stop.
type spinner struct {
	thread *thread // that the process dies with
	cmd    *Cmd
	said   bytes.Buffer // to standard error
}

func startSpinner() (*spinner, error) {
	s := &spinner{thread: newThread()}
	s.cmd = newCmd(exec.CommandContext(context.Background(), "/proc/self/exe", SpinCommand), func(c *Cmd) error {
		return s.thread.do(c.Cmd.Start)
	})
	s.cmd.Stderr = &s.said
	if err := s.cmd.Start(); err != nil {
		s.thread.close()
		return nil, fmt.Errorf("start spinner: %w", err)
	}
	go func() { _ = s.cmd.Wait() }()
	return s, nil
}

// close ends the process. That it had ended before is an error: the run was not
// what it says it was.
func (s *spinner) close() error {
	defer s.thread.close()
	select {
	case <-s.cmd.ended:
		return fmt.Errorf("the spinner ended early (%v): %s", s.cmd.ProcessState, bytes.TrimSpace(s.said.Bytes()))
	default:
		return s.cmd.Stop(0)
	}
}

// Spin keeps every core that this process may use awake, with a thread of idle
// priority on each, until ctx ends. It is what the executable does when its
// first argument is SpinCommand.
func Spin(ctx context.Context) error {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return fmt.Errorf("spin: read affinity: %w", err)
	}
	n := allowed.Count()
	// One more, so that the end of ctx is noticed.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n + 1))

	var stop atomic.Bool
	context.AfterFunc(ctx, func() { stop.Store(true) })
	errs := make(chan error, n)
	var all sync.WaitGroup
	for cpu := 0; n > 0; cpu++ {
		if !allowed.IsSet(cpu) {
			continue
		}
		n--
		all.Go(func() { errs <- spin(cpu, &stop) })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// spin runs on one core whenever nothing else wants to.
func spin(cpu int, stop *atomic.Bool) error {
	runtime.LockOSThread() // and the thread ends with us
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return fmt.Errorf("spin: set idle priority: %w", err)
	}
	var one unix.CPUSet
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("spin: stay on core %d: %w", cpu, err)
	}
	for !stop.Load() {
	}
	return nil
}
