package kernel

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSpinnerHasIdlePriorityAndEnds(t *testing.T) {
	requireKernel(t)
	s, err := startSpinner()
	if err != nil {
		t.Fatal(err)
	}
	want := min(2, runtime.NumCPU())
	var idle int
	for range 500 {
		if idle = idleThreads(s.cmd.PID()); idle >= want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if idle < want {
		t.Errorf("%d threads of idle priority, want one for each core", idle)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if idle := idleThreads(s.cmd.PID()); idle > 0 {
		t.Errorf("%d threads still spin", idle)
	}
}

func TestSpinnerThatCannotSpinIsAnError(t *testing.T) {
	requireKernel(t)
	s, err := startSpinner()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-s.cmd.ended
	if err := s.close(); err == nil {
		t.Error("nobody noticed that the spinner had gone")
	}
}

// idleThreads counts the threads of a process that run when nothing else does.
func idleThreads(pid int) int {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	n := 0
	for _, task := range tasks {
		tid, _ := strconv.Atoi(task.Name())
		if attr, err := unix.SchedGetAttr(tid, 0); err == nil && attr.Policy == unix.SCHED_IDLE {
			n++
		}
	}
	return n
}
