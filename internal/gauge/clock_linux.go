package gauge

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// onThread carries out f on a locked thread that wakes as exactly as the kernel
// can. The thread ends with f, since it is not as others are.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
		done <- f()
	}()
	return <-done
}

// wallClock is the clock of the kernel's stamps, in ns since 1970.
func wallClock() int64 { return time.Now().UnixNano() }

// monotonic is the clock that senders pace by, in ns.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// sleepUntil sleeps until an instant of the monotonic clock.
func sleepUntil(at int64) {
	t := unix.NsecToTimespec(at)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &t, nil) == unix.EINTR {
	}
}
