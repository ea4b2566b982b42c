package inproc

import (
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
)

func TestClockNeverStands(t *testing.T) {
	// A clock that was opened in the future stands at a time before zero.
	c := newClock(time.Now().Add(time.Hour))
	last := c.NowMonotonic()
	for range 1000 {
		now := c.NowMonotonic()
		if now.Sub(last) != 1 {
			t.Fatalf("%v after %v", now.Sub(tcpip.MonotonicTime{}), last.Sub(tcpip.MonotonicTime{}))
		}
		last = now
	}
}

func TestClockStop(t *testing.T) {
	c := newClock(time.Now())
	fired := make(chan bool, 2)
	c.AfterFunc(10*time.Millisecond, func() { fired <- true })
	c.stop()
	c.AfterFunc(10*time.Millisecond, func() { fired <- true })
	select {
	case <-fired:
		t.Error("a timer went off after stop")
	case <-time.After(50 * time.Millisecond):
	}
}

func TestRandomFollowsFromSeedAndHost(t *testing.T) {
	draw := func(seed uint64, host string) (drawn struct {
		bytes  [8]byte
		number int64
	}) {
		r := newRandom(seed, host)
		r.Seed(7)
		if n, err := r.Read(drawn.bytes[:]); n != 8 || err != nil {
			t.Errorf("read %d bytes: %v", n, err)
		}
		drawn.number = r.Int63()
		return drawn
	}
	first := draw(1, "client")
	if again := draw(1, "client"); again != first {
		t.Error("one seed, two sequences")
	}
	if first == draw(2, "client") || first == draw(1, "server") {
		t.Error("two seeds or hosts, one sequence")
	}
}
