package kernel

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// promptly makes the calling thread wake as exactly as the kernel can: timers
// without slack and, where it is allowed (root), before every ordinary thread.
// On a busy machine with two cores the latter took the worst lateness from
// hundreds of milliseconds to a few. Priority by nice did not help: it counts
// within a session only, where the kernel groups tasks by session.
func promptly() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{
		Size:   unix.SizeofSchedAttr,
		Policy: unix.SCHED_FIFO, Priority: 1,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}, 0)
}

// moreProcessors lets n more goroutines run at once: a pump that wakes must not
// wait until another goroutine gives up its place in the Go scheduler.
func moreProcessors(n int) {
	processors.Lock()
	defer processors.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}

var processors sync.Mutex // around reading and setting GOMAXPROCS
