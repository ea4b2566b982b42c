package link

import (
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

// departure is what a sender said of a packet.
type departure struct {
	at     time.Duration
	packet int
	fate   lab.Fate
}

// sending is a sender under test: packets are numbered as they are offered.
type sending struct {
	*sender[int]
	out     []departure
	offered int
}

func newSending(w lab.Way, rtt time.Duration) *sending {
	s := &sending{}
	s.sender = newSender(w, rtt, func(_, at time.Duration, e entry[int], later lab.Fate) {
		s.out = append(s.out, departure{at, e.hold, later})
	})
	return s
}

func (s *sending) give(now time.Duration, size int) lab.Reason {
	s.offered++
	return s.offer(now, &entry[int]{hold: s.offered - 1, size: size})
}

// goes offers a packet to a sender that decides at once, and returns when it
// leaves.
func (s *sending) goes(now time.Duration, size int) (time.Duration, lab.Reason) {
	why := s.give(now, size)
	if why != lab.NotDropped {
		return 0, why
	}
	return s.out[len(s.out)-1].at, ""
}

// A million packets leave exactly when they should: rounding never adds up, and
// a caller who comes late (but not so late that the link runs dry) changes
// nothing. A bucket moves everything ahead by the time that it is worth.
func TestSenderRateIsExact(t *testing.T) {
	const n = 1_000_000
	for _, rate := range []lab.Rate{7, 64e3, 12345678, 100e6, 999999937, 1e12} {
		for _, tt := range []struct{ size, overhead, burst int }{{41, 0, 0}, {1500, 0, 0}, {1500, 14, 0}, {1500, -20, 0}, {1400, 0, 3000}} {
			counted := tt.size + tt.overhead
			if exactly(n, counted, rate) > 100*365*24*time.Hour {
				continue
			}
			for _, late := range []bool{false, true} {
				s := newSending(lab.Way{Rate: rate, Overhead: tt.overhead, Burst: int64(tt.burst), Queue: lab.Queue{Bytes: lab.MaxSize}}, 0)
				r := rand.New(rand.NewPCG(1, 2))
				var now, last time.Duration
				for i := 1; i <= n; i++ {
					if late && last > now {
						now += time.Duration(r.Int64N(int64(last-now) + 1))
					}
					at, why := s.goes(now, tt.size)
					want := exactly(1, i*counted-tt.burst, rate)
					if why != "" || at != want {
						t.Fatalf("rate %s, %+v, late %v: packet %d leaves at %d (%q), want %d", rate, tt, late, i, at, why, want)
					}
					last, s.out = at, s.out[:0]
				}
			}
		}
	}
}

// exactly is the time in which n packets of a size are sent, rounded down.
func exactly(n, size int, rate lab.Rate) time.Duration {
	high, low := bits.Mul64(uint64(n)*uint64(max(size, 0)), 8*uint64(time.Second))
	ns, _ := bits.Div64(high, low, uint64(rate))
	return time.Duration(ns)
}

// Whatever a packet's size and the overhead, at least a byte is counted.
func TestSenderCountsAByte(t *testing.T) {
	s := newSending(lab.Way{Rate: 8e9, Overhead: -1000}, 0)
	for i, want := range []time.Duration{1, 2, 3} {
		if at, why := s.goes(0, 100); at != want || why != "" {
			t.Errorf("packet %d leaves at %d (%s), want %d", i, at, why, want)
		}
	}
}

func TestSenderThatWasIdleStartsAnew(t *testing.T) {
	const us = time.Microsecond
	for _, tt := range []struct {
		name  string
		burst int64
		steps [][2]time.Duration // offered at, leaves at
	}{
		// 1 byte a µs, packets of 1000 B.
		{"wire", 0, [][2]time.Duration{{0, 1000 * us}, {0, 2000 * us}, {2500 * us, 3500 * us}, {50000 * us, 51000 * us}, {50500 * us, 52000 * us}}},
		{"bucket of one", 1000, [][2]time.Duration{{0, 0}, {0, 1000 * us}, {0, 2000 * us}, {2500 * us, 3000 * us}, {5000 * us, 5000 * us}, {5000 * us, 6000 * us}}},
		{"bucket of two and a half", 2500, [][2]time.Duration{{0, 0}, {0, 0}, {0, 500 * us}, {1000 * us, 1500 * us}, {9000 * us, 9000 * us}, {9000 * us, 9000 * us}, {9000 * us, 9500 * us}}},
		{"bucket of less than one", 400, [][2]time.Duration{{0, 600 * us}, {0, 1600 * us}, {1700 * us, 2600 * us}, {9000 * us, 9600 * us}}},
	} {
		s := newSending(lab.Way{Rate: 8e6, Burst: tt.burst}, 0)
		for i, step := range tt.steps {
			if at, why := s.goes(step[0], 1000); at != step[1] || why != "" {
				t.Errorf("%s: packet %d, offered at %v, leaves at %v (%q), want %v", tt.name, i, step[0], at, why, step[1])
			}
		}
	}
}

// Without a rate nothing waits, whatever the queue.
func TestSenderWithoutRate(t *testing.T) {
	for _, w := range []lab.Way{{}, {Queue: lab.Queue{Packets: 1}}, {Burst: 1, Police: true}, {AQM: lab.AQM{Kind: lab.CoDel}}} {
		s := newSending(w, time.Second)
		for range 5000 {
			if at, why := s.goes(7, 1500); at != 7 || why != "" {
				t.Fatalf("%+v: a packet leaves at %v (%s)", w, at, why)
			}
		}
		if n := s.waits(7); n != 0 {
			t.Errorf("%+v: %d bytes wait", w, n)
		}
	}
}

func TestSenderQueueLimits(t *testing.T) {
	const rtt = 48 * time.Millisecond
	for _, tt := range []struct {
		name  string
		way   lab.Way
		size  int
		waits int // packets that may wait behind the one that is being sent
	}{
		{"packets", lab.Way{Rate: 1e6, Queue: lab.Queue{Packets: 3}}, 1500, 3},
		{"packets of any size", lab.Way{Rate: 1e6, Queue: lab.Queue{Packets: 3}}, 40, 3},
		{"bytes", lab.Way{Rate: 1e6, Queue: lab.Queue{Bytes: 4500}}, 1500, 3},
		{"bytes, not whole packets", lab.Way{Rate: 1e6, Queue: lab.Queue{Bytes: 5999}}, 1500, 3},
		{"bytes, small packets", lab.Way{Rate: 1e6, Queue: lab.Queue{Bytes: 4500}}, 100, 45},
		{"bytes, less than a packet", lab.Way{Rate: 1e6, Queue: lab.Queue{Bytes: 1499}}, 1500, 0},
		// 10 Mbit/s × 48 ms = 60 kB.
		{"one bdp", lab.Way{Rate: 10e6, Queue: lab.Queue{BDP: 1}}, 1500, 40},
		{"half a bdp", lab.Way{Rate: 10e6, Queue: lab.Queue{BDP: 0.5}}, 1500, 20},
		// A packet of 1250 B takes a millisecond: the tenth starts after 10 ms.
		{"time", lab.Way{Rate: 10e6, Queue: lab.Queue{Time: 10 * time.Millisecond}}, 1250, 10},
		{"time, small packets", lab.Way{Rate: 10e6, Queue: lab.Queue{Time: 10 * time.Millisecond}}, 125, 100},
		{"default", lab.Way{Rate: 10e6}, 1500, lab.DefaultQueue},
	} {
		s := newSending(tt.way, rtt)
		for i := range tt.waits + 1 {
			if why := s.give(0, tt.size); why != "" {
				t.Errorf("%s: packet %d was dropped: %s", tt.name, i, why)
			}
		}
		if got, want := s.waits(0), int64(tt.waits*tt.size); got != want {
			t.Errorf("%s: %d bytes wait, want %d", tt.name, got, want)
		}
		for range 3 {
			if why := s.give(0, tt.size); why != lab.DropQueue {
				t.Errorf("%s: a packet was let into a full queue", tt.name)
			}
		}
		// What was dropped takes no time: once the first has been sent, one place
		// is free, and no more.
		sent := exactly(1, tt.size, tt.way.Rate)
		if tt.waits > 0 {
			if why := s.give(sent-1, tt.size); why != lab.DropQueue {
				t.Errorf("%s: a place was free too early", tt.name)
			}
		}
		if at, why := s.goes(sent, tt.size); why != "" || at != exactly(tt.waits+2, tt.size, tt.way.Rate) {
			t.Errorf("%s: the packet after the first leaves at %v (%s)", tt.name, at, why)
		}
		if tt.waits > 0 {
			if why := s.give(sent, tt.size); why != lab.DropQueue {
				t.Errorf("%s: two places were free", tt.name)
			}
		}
	}
}

// A limit in time is one on a packet's own wait, to the nanosecond.
func TestSenderQueueLimitInTime(t *testing.T) {
	s := newSending(lab.Way{Rate: 8e6, Queue: lab.Queue{Time: 2500 * time.Microsecond}}, 0) // 1 byte a µs
	for i, step := range []struct {
		now  time.Duration
		want lab.Reason
	}{
		{0, ""}, {0, ""}, {0, ""}, {0, lab.DropQueue}, // it would wait 3 ms
		{500*time.Microsecond - 1, lab.DropQueue},
		{500 * time.Microsecond, ""}, // until 3 ms
		{500 * time.Microsecond, lab.DropQueue},
		{1500 * time.Microsecond, ""}, // until 4 ms
		{9000 * time.Microsecond, ""},
	} {
		if why := s.give(step.now, 1000); why != step.want {
			t.Errorf("packet %d: %q, want %q", i, why, step.want)
		}
	}
}

// Behind a bucket, as behind a wire, the packet that is next to leave does not
// wait: it is being sent.
func TestSenderQueueBehindABucket(t *testing.T) {
	s := newSending(lab.Way{Rate: 8e6, Burst: 2000, Queue: lab.Queue{Packets: 2}}, 0)
	for i, want := range []lab.Reason{"", "", "", "", "", lab.DropQueue} {
		if why := s.give(0, 1000); why != want {
			t.Errorf("packet %d: %q, want %q", i, why, want)
		}
	}
	if n := s.waits(0); n != 2000 {
		t.Errorf("%d bytes wait", n)
	}
}

// Packets leave in the order in which they were offered, none before its time,
// and the queue's limit holds.
func TestSenderIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := lab.Way{
			Rate: lab.Rate(rapid.Int64Range(1, 1e9).Draw(t, "rate")), Overhead: rapid.IntRange(-100, 100).Draw(t, "overhead"),
			Burst: rapid.Int64Range(0, 1e5).Draw(t, "burst"), Queue: lab.Queue{Bytes: rapid.Int64Range(1, 1e5).Draw(t, "queue")},
		}
		s := newSending(w, 0)
		var now, last time.Duration
		for i := range 200 {
			now += time.Duration(rapid.Int64Range(0, 1e8).Draw(t, "pause"))
			at, why := s.goes(now, rapid.IntRange(20, 1500).Draw(t, "size"))
			if why == "" && (at < now || at < last) {
				t.Fatalf("packet %d, offered at %d, leaves at %d, the one before at %d", i, now, at, last)
			}
			if why == "" {
				last = at
			}
			if n := s.waits(now); n < 0 || n > w.Queue.Bytes {
				t.Fatalf("%d bytes wait in a queue of %d", n, w.Queue.Bytes)
			}
		}
	})
}

// Of what is offered each packet is either refused, or comes out once; nothing
// else comes out, and it comes as it was given.
func TestSenderAccountsForEachPacket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom([]lab.Way{
			{}, {Rate: aqmRate}, {Rate: aqmRate, Burst: 5000, Police: true}, {Rate: aqmRate, Burst: 3000, Overhead: -50},
			mahimahi(0, 1, 2, 2, 7), rates("0,8mbit\n0.1,0bit\n0.2,10mbit"),
		}).Draw(t, "way")
		w.Queue = rapid.SampledFrom([]lab.Queue{{}, {Packets: 1}, {Packets: 20}, {Bytes: 4000}, {BDP: 1}, {Time: 20 * milli}}).Draw(t, "queue")
		w.AQM = lab.AQM{
			Kind: rapid.SampledFrom([]lab.AQMKind{"", lab.CoDel, lab.FQCoDel}).Draw(t, "aqm"), ECN: true,
			Target: milli, Interval: 10 * milli, Flows: 3,
		}
		packets, left := jam(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), 500, 5), map[int]entry[int]{}
		s := newSender(w, 40*milli, func(_, at time.Duration, e entry[int], later lab.Fate) {
			if want, ok := left[e.hold]; !ok || e != want || at < e.delay {
				t.Fatalf("%+v comes out at %d, want %+v", e, at, want)
			}
			if later.Marked && (!e.ect || later.Drop != "") {
				t.Fatalf("%+v is marked", e)
			}
			delete(left, e.hold)
		})
		for i, p := range packets {
			e := entry[int]{hold: i, size: p.size, offered: p.at, delay: p.at, last: i%2 == 0, ect: p.ect, flow: p.flow}
			left[i] = e
			why := s.offer(p.at, &e)
			if _, still := left[i]; why != "" && !still {
				t.Fatalf("packet %d was refused (%s), and came out", i, why)
			}
			if why != "" {
				delete(left, i)
			}
		}
		if s.advance(forever); len(left) > 0 || s.waits(forever) != 0 {
			t.Fatalf("%d packets never came out; %d bytes wait", len(left), s.waits(forever))
		}
		if _, ok := s.next(); ok {
			t.Fatal("something falls due, and nothing waits")
		}
	})
}

// The queue's memory is bounded, however long the link is busy.
func TestSenderMemoryIsBounded(t *testing.T) {
	s := newSending(lab.Way{Rate: 8e6, Queue: lab.Queue{Packets: 10}}, 0)
	for i := range 1_000_000 {
		s.give(time.Duration(i)*900*time.Microsecond, 1000)
		s.out = s.out[:0]
	}
	if n := cap(s.backlog.items); n > 1000 {
		t.Errorf("a queue of 10 packets holds room for %d", n)
	}
}

// Times stop at forever, and do not overflow.
func TestSenderTimesDoNotOverflow(t *testing.T) {
	for _, w := range []lab.Way{
		{Rate: 1, Queue: lab.Queue{Bytes: lab.MaxSize}},
		{Rate: 1, Burst: lab.MaxSize, Queue: lab.Queue{Bytes: lab.MaxSize}},
		{Rate: 1, Burst: lab.MaxSize / 10000, Queue: lab.Queue{BDP: 1e300}},
	} {
		s := newSending(w, time.Hour)
		var last time.Duration
		for i := range 100_000 {
			at, why := s.goes(time.Duration(i), 65535)
			if why != "" || at < last || at > forever {
				t.Fatalf("%+v: packet %d leaves at %d (%s), the one before at %d", w, i, at, why, last)
			}
			last, s.out = at, s.out[:0]
		}
	}
}
