package kernel

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// promptProcess gets this process ready to move packets, once.
func promptProcess() {
	promptOnce.Do(func() {
		// A pump that wakes must not wait until another goroutine gives up its
		// place in the Go scheduler: two pumps, two places.
		runtime.GOMAXPROCS(runtime.NumCPU() + 2)
	})
}

var promptOnce sync.Once

// urgently makes every thread of this process go before all ordinary ones,
// where that is allowed (root), until restore is called. On a busy machine with
// two cores it took the worst lateness from hundreds of milliseconds to a few.
//
// Properties that an edit must keep, since each was seen to go wrong:
//   - It is every thread or none. A pump's thread alone, when it comes back from
//     the kernel, waits in a busy loop for whichever thread of the Go runtime is
//     just looking at it; if that one is ordinary and has lost its core to the
//     pump, it waits for the kernel's emergency brake: stalls of 50 to 1000 ms.
//     Among equals the loop's sched_yield lets the other run at once.
//   - It lasts for the load only: no process is started and no garbage
//     collected meanwhile. The runtime waits busily for a thread that forks,
//     and the child, an ordinary one, never gets a core.
//
// Priority by nice did not help: it counts within a session only, where the
// kernel groups tasks by session.
func urgently() (restore func()) {
	if !setPriority(unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: 1}) {
		return func() {}
	}
	return func() { setPriority(unix.SchedAttr{Policy: unix.SCHED_NORMAL}) }
}

// setPriority sets the priority of every thread of this process, and says
// whether that was allowed.
func setPriority(attr unix.SchedAttr) bool {
	attr.Size = unix.SizeofSchedAttr
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false
	}
	for _, t := range tasks {
		// The numbers of /proc may be those of an outer PID namespace.
		ids := namespacePIDs("self/task/" + t.Name())
		if len(ids) == 0 {
			continue // it has just ended
		}
		if err := unix.SchedSetAttr(ids[len(ids)-1], &attr, 0); errors.Is(err, unix.EPERM) {
			return false
		}
	}
	return true
}

// memoryLimit is when the collector works although it is switched off: several
// times what the witness of a run may keep.
const memoryLimit = 1 << 30

// withoutCollector keeps the collector out of a measurement. It returns the
// function that lets it in again. The limit holds meanwhile only: reading the
// packets of a large run takes more, and under a limit the collector would do
// little else. What that left is given back first, since it counts.
func withoutCollector() (restore func()) {
	debug.FreeOSMemory() // collects, too
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(memoryLimit)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}

// prompt makes the calling thread, a pump's, wake as exactly as the kernel can.
func prompt() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }
