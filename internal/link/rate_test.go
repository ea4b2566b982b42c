package link

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

// given is one packet of a test's traffic.
type given struct {
	at   time.Duration
	size int
}

// traffic draws packets with pauses up to so long.
func traffic(t *rapid.T, n int, pause time.Duration, size int) []given {
	packets := make([]given, rapid.IntRange(1, n).Draw(t, "packets"))
	var now time.Duration
	for i := range packets {
		if rapid.Bool().Draw(t, "paused") {
			now += time.Duration(rapid.Int64Range(0, int64(pause)).Draw(t, "pause"))
		}
		packets[i] = given{now, rapid.IntRange(1, size).Draw(t, "size")}
	}
	return packets
}

// drained sends packets through a bucket that is filled nanosecond by
// nanosecond and emptied by the packet that is at the head of the queue, and
// returns when each had got all it needs. It is counted in 1e-9 bit.
func drained(rate func(time.Duration) lab.Rate, burst int64, packets []given) []time.Duration {
	most := burst * 8e9
	held, leaves := most, make([]time.Duration, 0, len(packets))
	need := int64(packets[0].size) * 8e9
	var last time.Duration
	for now := time.Duration(0); len(leaves) < len(packets); now++ {
		for len(leaves) < len(packets) && packets[len(leaves)].at <= now {
			used := min(held, need)
			held, need = held-used, need-used
			if need > 0 {
				break
			}
			left := now
			if held > 0 {
				left-- // some time before: the rest has come since
			}
			last = max(last, packets[len(leaves)].at, left)
			leaves = append(leaves, last)
			if len(leaves) < len(packets) {
				need = int64(packets[len(leaves)].size) * 8e9
				if packets[len(leaves)].at == now { // nothing waited for what came before
					held = min(held, most)
				}
			}
		}
		// What waits takes what comes, though the bucket may hold nothing.
		held += int64(rate(now))
		if len(leaves) == len(packets) || packets[len(leaves)].at > now {
			held = min(held, most)
		}
	}
	return leaves
}

func TestBucketAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := lab.Rate(rapid.Int64Range(1e8, 2e10).Draw(t, "rate"))
		burst := rapid.SampledFrom([]int64{0, 1, 100, 1000, 1500, 3777}).Draw(t, "burst")
		packets := traffic(t, 20, 20*time.Microsecond, 1500)
		w := &wire{tokens: newTokens(rate, burst)}
		for i, want := range drained(func(time.Duration) lab.Rate { return rate }, burst, packets) {
			got := w.take(w.ready(packets[i].at), packets[i].size)
			if got != want {
				t.Fatalf("packet %d of %+v leaves at %d, want %d", i, packets, got, want)
			}
		}
	})
}

// What a policer lets pass is what a bucket holds that is filled nanosecond by
// nanosecond.
func TestPolicerAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := lab.Rate(rapid.Int64Range(1e8, 2e10).Draw(t, "rate"))
		burst := rapid.SampledFrom([]int64{1, 100, 1500, 3777}).Draw(t, "burst")
		overhead := rapid.SampledFrom([]int{0, 14, -10}).Draw(t, "overhead")
		s := newSending(lab.Way{Rate: rate, Burst: burst, Overhead: overhead, Police: true}, 0)
		held := burst * 8e9
		var last time.Duration
		for i, p := range traffic(t, 40, 3*time.Microsecond, 1500) {
			for ; last < p.at; last++ {
				held = min(held+int64(rate), burst*8e9)
			}
			need, want := int64(max(p.size+overhead, 1))*8e9, lab.DropPolice
			if need <= held {
				held, want = held-need, lab.NotDropped
			}
			at, why := s.goes(p.at, p.size)
			if why != want || why == "" && at != p.at {
				t.Fatalf("packet %d (%+v): %q at %d, want %q", i, p, why, at, want)
			}
		}
	})
}

// In the long run a policer passes its rate, and its burst once.
func TestPolicerPassesItsRate(t *testing.T) {
	const size, seconds = 1500, 10
	for _, rate := range []lab.Rate{1e6, 12345678, 250e6} {
		s := newSending(lab.Way{Rate: rate, Burst: 48 * size, Police: true}, 0)
		r := rand.New(rand.NewPCG(3, 4))
		passed, step := 0, int64(exactly(1, size, 2*rate))
		for now := time.Duration(0); now < seconds*time.Second; now += time.Duration(r.Int64N(step)) {
			if s.give(now, size) == "" {
				passed++
			}
			s.out = s.out[:0]
		}
		want := int(rate)/8*seconds/size + 48
		if passed > want || passed < want-1 {
			t.Errorf("rate %s: %d packets passed, want %d", rate, passed, want)
		}
	}
}

func TestThrottle(t *testing.T) {
	const icmp = lab.Transport("icmp")
	for _, tt := range []struct {
		name      string
		throttle  lab.Throttle
		transport lab.Transport
		passes    int // packets of 1500 B of 100 at once
	}{
		{"none", lab.Throttle{}, lab.UDP, 100},
		{"UDP", lab.Throttle{Transport: lab.UDP, Rate: 1e6, Burst: 4500}, lab.UDP, 3},
		{"UDP, and a TCP packet", lab.Throttle{Transport: lab.UDP, Rate: 1e6, Burst: 4500}, lab.TCP, 100},
		{"TCP", lab.Throttle{Transport: lab.TCP, Rate: 1e6, Burst: 4500}, lab.TCP, 3},
		{"both", lab.Throttle{Rate: 1e6, Burst: 4500}, lab.TCP, 3},
		{"both, and something else", lab.Throttle{Rate: 1e6, Burst: 4500}, icmp, 100},
		{"least burst", lab.Throttle{Rate: 1e6}, lab.UDP, 10},
		{"burst of 10 ms", lab.Throttle{Rate: 24e6}, lab.UDP, 20},
	} {
		th, passed := newThrottle(tt.throttle), 0
		for range 100 {
			if th.takes(0, tt.transport, 1500) {
				passed++
			}
		}
		if passed != tt.passes {
			t.Errorf("%s: %d packets passed, want %d", tt.name, passed, tt.passes)
		}
	}
	var none throttle
	if !none.takes(0, lab.UDP, 1500) {
		t.Error("the zero throttle drops")
	}
}

// UDP and TCP share the bucket of a throttle that names neither.
func TestThrottleIsShared(t *testing.T) {
	th := newThrottle(lab.Throttle{Rate: 8e6, Burst: 3000}) // 1 byte a µs
	for i, step := range []struct {
		now       time.Duration
		transport lab.Transport
		want      bool
	}{
		{0, lab.UDP, true},
		{0, lab.TCP, true},
		{0, lab.UDP, false},
		{1500*time.Microsecond - 1, lab.TCP, false},
		{1500 * time.Microsecond, lab.TCP, true},
		{1500 * time.Microsecond, lab.UDP, false},
	} {
		if got := th.takes(step.now, step.transport, 1500); got != step.want {
			t.Errorf("packet %d: %v", i, got)
		}
	}
}
