package inproc

import (
	"math/rand/v2"
	"testing"
	"testing/quick"
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

func TestLateness(t *testing.T) {
	var l lateness
	if s := l.summary(); s.P50 != 0 || s.P99 != 0 || s.Max != 0 {
		t.Errorf("of nothing: %+v", s)
	}
	for i := 1; i <= 1000; i++ {
		l.add(time.Duration(i) * time.Microsecond)
	}
	l.add(-time.Second)
	s := l.summary()
	if !within(s.P50, 500e-6) || !within(s.P99, 990e-6) || s.Max != 1000e-6 {
		t.Errorf("of 1 to 1000 µs: %+v", s)
	}
}

// within says whether a quantile is want or up to an eighth more.
func within(got, want float64) bool { return got >= want && got <= want*1.125 }

func TestLatenessBuckets(t *testing.T) {
	property := func(x uint64) bool {
		d := time.Duration(x >> 1 >> rand.IntN(63))
		i := bucket(d)
		return i < len(lateness{}.buckets) && highest(i) >= d && (i == 0 || highest(i-1) < d) &&
			float64(highest(i)) <= 1.125*float64(d)
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 10000}); err != nil {
		t.Error(err)
	}
}
