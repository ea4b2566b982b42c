package inproc

import (
	"sync"
	"sync/atomic"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
)

// clock is the clock of one stack. It starts at zero when the hosts are opened,
// so that what a stack rounds (timestamps are in milliseconds) does not depend
// on when in the process's life a run begins.
//
// Properties that an edit must keep:
//   - NowMonotonic is strictly increasing: it adds 1 ns when time stands still.
//     The packets of a burst leave at one instant, and RACK (RFC 8985, section
//     6.2) takes the one that was sent last for the one with the latest time;
//     with equal times it retransmits what was never lost;
//   - stop leaves no timer, so that in virtual time no timer of one run goes
//     off in the next one.
type clock struct {
	opened time.Time
	last   atomic.Int64

	mu     sync.Mutex
	timers []*time.Timer
	done   bool
}

func newClock(opened time.Time) *clock { return &clock{opened: opened} }

// Now implements tcpip.Clock.
func (c *clock) Now() time.Time { return time.Now() }

// NowMonotonic implements tcpip.Clock.
func (c *clock) NowMonotonic() tcpip.MonotonicTime {
	now := int64(time.Since(c.opened))
	for {
		last := c.last.Load()
		t := max(now, last+1)
		if c.last.CompareAndSwap(last, t) {
			return tcpip.MonotonicTime{}.Add(time.Duration(t))
		}
	}
}

// AfterFunc implements tcpip.Clock. Stacks make a few timers for each
// connection and set them again, so keeping all of them costs little.
func (c *clock) AfterFunc(d time.Duration, f func()) tcpip.Timer {
	t := time.AfterFunc(d, f)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		t.Stop()
	}
	c.timers = append(c.timers, t)
	return tcpip.NewStdTimer(t)
}

// stop ends all timers of a stack that has been destroyed.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.timers {
		t.Stop()
	}
	c.timers, c.done = nil, true
}
