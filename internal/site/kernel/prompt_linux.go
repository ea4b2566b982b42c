package kernel

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// promptProcess makes this process move packets as promptly as the machine
// lets it, once.
//
// Where it is allowed (root) every thread of the process goes before all
// ordinary ones. On a busy machine with two cores that took the worst lateness
// from hundreds of milliseconds to a few. It must be every thread: a pump's
// thread alone, when it comes back from the kernel, waits in a busy loop for
// whichever thread of the Go runtime is just looking at it (sysmon, the
// collector), and if that one is ordinary and has lost its core to the pump it
// waits until the kernel's emergency brake for such cases lets it run: stalls
// of 50 to 1000 ms were seen. Among equals the loop's sched_yield lets it run at once.
//
// Priority by nice did not help: it counts within a session only, where the
// kernel groups tasks by session.
func promptProcess() {
	promptOnce.Do(func() {
		// A pump that wakes must not wait until another goroutine gives up its
		// place in the Go scheduler: two pumps, two places.
		runtime.GOMAXPROCS(runtime.NumCPU() + 2)
		debug.SetMemoryLimit(memoryLimit)
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return // without /proc the pumps do with ordinary priority
		}
		for _, t := range tasks {
			// The numbers of /proc may be those of an outer PID namespace.
			ids := namespacePIDs("self/task/" + t.Name())
			if len(ids) > 0 && !setFIFO(ids[len(ids)-1]) {
				return
			}
		}
	})
}

var promptOnce sync.Once

// memoryLimit is when the collector works although it is switched off.
const memoryLimit = 256 << 20

// withoutCollector keeps the collector out of a measurement. It returns the
// function that lets it in again.
func withoutCollector() (restore func()) {
	runtime.GC()
	percent := debug.SetGCPercent(-1)
	return func() { debug.SetGCPercent(percent) }
}

// prompt makes the calling thread, a pump's, wake as exactly as the kernel can.
func prompt() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	setFIFO(0)
}

// setFIFO makes a thread go before all ordinary ones; 0 is the calling one. It
// says whether that was allowed.
func setFIFO(tid int) bool {
	attr := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	return unix.SchedSetAttr(tid, attr, 0) == nil
}

// ordinary makes the calling thread an ordinary one again, and so all that is
// started on it: programs under test get no privilege.
func ordinary() {
	attr := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
	_ = unix.SchedSetAttr(0, attr, 0)
}
