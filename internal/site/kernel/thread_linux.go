package kernel

import (
	"errors"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// errClosed says that a host was used after it was closed.
var errClosed = errors.New("the host is closed")

// thread is an OS thread on which functions are carried out one after the
// other. It may be changed for good (its namespace, its priority), since it
// ends when it is closed and never goes back to the scheduler's pool. Processes
// started on it may rely on it to live until then (see prctl(2),
// PR_SET_PDEATHSIG: "parent" there is the thread that forked).
type thread struct {
	work  chan func()
	quit  chan struct{}
	close func()
}

func newThread() *thread {
	t := &thread{work: make(chan func()), quit: make(chan struct{})}
	t.close = sync.OnceFunc(func() { close(t.quit) })
	started := make(chan struct{})
	go t.run(started)
	<-started
	return t
}

// run serves the thread. It returns with the thread locked, which ends it. The
// process's first thread is passed over: the runtime cannot end that one.
func (t *thread) run(started chan struct{}) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		go t.run(started)
		<-started
		runtime.UnlockOSThread()
		return
	}
	close(started)
	for {
		select {
		case f := <-t.work:
			f()
		case <-t.quit:
			return
		}
	}
}

// do carries out f on the thread and returns its error.
func (t *thread) do(f func() error) error {
	done := make(chan error, 1)
	select {
	case t.work <- func() { done <- f() }:
		return <-done
	case <-t.quit:
		return errClosed
	}
}
