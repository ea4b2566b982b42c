package link

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

// oneWay is one direction of a link, and takes out at once what it is offered.
type oneWay struct {
	link *Link[int]
	d    lab.Direction
}

// outcome is what became of a packet.
type outcome struct {
	At   time.Duration
	Drop lab.Reason
}

// zeros are the bytes of packets that are nothing but long.
var zeros = make([]byte, 1<<16)

func (w *oneWay) Offer(now time.Duration, size int) outcome {
	fate := w.link.Offer(w.d, now, zeros[:size], false, 0)
	if fate.Drop != lab.NotDropped {
		return outcome{Drop: fate.Drop}
	}
	due, ok := w.link.Pop(w.d, math.MaxInt64)
	if !ok {
		panic("a packet that was not dropped is not on its way")
	}
	return outcome{At: due.At}
}

func (w *oneWay) Offered() uint64 { return w.link.Offered(w.d) }

func (w *oneWay) Waiting(now time.Duration) int64 { return w.link.Waiting(w.d, now) }

func newOne(p lab.Path, d lab.Direction, seed uint64) *oneWay { return &oneWay{New[int](p, seed), d} }

// one makes direction down of a path that is the same both ways.
func one(w lab.Way, seed uint64) *oneWay {
	return newOne(lab.Path{Up: w, Down: w}, lab.Down, seed)
}

// unlimited is a queue that is never full.
var unlimited = lab.Queue{Bytes: lab.MaxSize}

// leaves is when n packets of a size have left at a rate, rounded down.
func leaves(n, size int, rate lab.Rate) time.Duration {
	high, low := bits.Mul64(uint64(n)*uint64(size)*8, uint64(time.Second))
	ns, _ := bits.Div64(high, low, uint64(rate))
	return time.Duration(ns)
}

// A million packets leave exactly when they should: rounding never adds up,
// and a caller who is late (but not so late that the link runs dry) changes
// nothing.
func TestRateIsExact(t *testing.T) {
	const n = 1_000_000
	for _, rate := range []lab.Rate{7, 64e3, 12345678, 100e6, 999999937, 1e12} {
		for _, size := range []int{41, 1500} {
			if leaves(n, size, rate) > 100*365*24*time.Hour {
				continue
			}
			for _, late := range []bool{false, true} {
				w := one(lab.Way{Rate: rate, Delay: 3 * ms, Queue: unlimited}, 1)
				r := rand.New(rand.NewPCG(1, 2))
				var now time.Duration
				for i := 1; i <= n; i++ {
					if free := leaves(i-1, size, rate); late && free > now {
						now += time.Duration(r.Int64N(int64(free-now) + 1))
					}
					f := w.Offer(now, size)
					if f.Drop != lab.NotDropped || f.At != leaves(i, size, rate)+3*ms {
						t.Fatalf("rate %s, size %d, late %v: packet %d leaves at %d (%q), want %d",
							rate, size, late, i, f.At, f.Drop, leaves(i, size, rate)+3*ms)
					}
				}
			}
		}
	}
}

func TestLinkThatWasIdleStartsAnew(t *testing.T) {
	w := one(lab.Way{Rate: 8e6, Delay: 10 * ms}, 1) // 1 byte a µs
	for _, tt := range []struct{ now, want time.Duration }{
		{0, 11 * ms}, {0, 12 * ms}, {1500 * time.Microsecond, 13 * ms}, {50 * ms, 61 * ms}, {51 * ms, 62 * ms},
	} {
		if f := w.Offer(tt.now, 1000); f.At != tt.want || f.Drop != lab.NotDropped {
			t.Errorf("offered at %v: %v (%q), want %v", tt.now, f.At, f.Drop, tt.want)
		}
	}
	if w.Offered() != 5 {
		t.Errorf("%d packets were offered", w.Offered())
	}
}

func TestDelayWithoutRate(t *testing.T) {
	w := newOne(lab.Path{Up: lab.Way{Delay: 5 * ms}, Down: lab.Way{Delay: 7 * ms}}, lab.Up, 1)
	for range 5000 { // more than any queue would hold
		if f := w.Offer(ms, 1500); f != (outcome{At: 6 * ms}) {
			t.Fatalf("%+v", f)
		}
	}
}

func TestQueueLimits(t *testing.T) {
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
		{"one bdp", lab.Way{Rate: 10e6, Delay: 24 * ms, Queue: lab.Queue{BDP: 1}}, 1500, 40},
		{"half a bdp", lab.Way{Rate: 10e6, Delay: 24 * ms, Queue: lab.Queue{BDP: 0.5}}, 1500, 20},
		{"default", lab.Way{Rate: 10e6}, 1500, lab.DefaultQueue},
	} {
		w := one(tt.way, 1)
		for i := range tt.waits + 1 {
			if f := w.Offer(0, tt.size); f.Drop != lab.NotDropped {
				t.Errorf("%s: packet %d was dropped: %s", tt.name, i, f.Drop)
			}
		}
		if got, want := w.Waiting(0), int64(tt.waits*tt.size); got != want {
			t.Errorf("%s: %d bytes wait, want %d", tt.name, got, want)
		}
		for range 3 {
			if f := w.Offer(0, tt.size); f.Drop != lab.DropQueue {
				t.Errorf("%s: a packet was let into a full queue", tt.name)
			}
		}
		// What was dropped takes no time: once the first has been sent, one place
		// is free, and no more.
		sent := leaves(1, tt.size, tt.way.Rate)
		if tt.waits > 0 {
			if f := w.Offer(sent-1, tt.size); f.Drop != lab.DropQueue {
				t.Errorf("%s: a place was free too early", tt.name)
			}
		}
		if f := w.Offer(sent, tt.size); f.Drop != lab.NotDropped || f.At != leaves(tt.waits+2, tt.size, tt.way.Rate)+tt.way.Delay {
			t.Errorf("%s: the packet after the first: %+v", tt.name, f)
		}
		if tt.waits > 0 {
			if f := w.Offer(sent, tt.size); f.Drop != lab.DropQueue {
				t.Errorf("%s: two places were free", tt.name)
			}
		}
	}
}

func TestMTU(t *testing.T) {
	for _, tt := range []struct{ mtu, size int }{{0, lab.DefaultMTU}, {1400, 1400}, {9000, 9000}} {
		w := one(lab.Way{MTU: tt.mtu}, 1)
		if f := w.Offer(0, tt.size); f.Drop != lab.NotDropped {
			t.Errorf("MTU %d: %d bytes were dropped", tt.mtu, tt.size)
		}
		if f := w.Offer(0, tt.size+1); f.Drop != lab.DropMTU {
			t.Errorf("MTU %d: %d bytes passed", tt.mtu, tt.size+1)
		}
	}
}

// lostOf returns which of n packets are lost by chance.
func lostOf(w *oneWay, n int) []bool {
	lost := make([]bool, n)
	for i := range lost {
		lost[i] = w.Offer(0, 1500).Drop == lab.DropLoss
	}
	return lost
}

func count(lost []bool) (n int) {
	for _, l := range lost {
		if l {
			n++
		}
	}
	return n
}

// The share is within three standard deviations of what was asked for, for
// each of several seeds and both directions.
func TestLossShare(t *testing.T) {
	const n = 200_000
	for _, p := range []float64{0.0001, 0.01, 0.05, 0.5} {
		for seed := range uint64(4) {
			for _, d := range []lab.Direction{lab.Up, lab.Down} {
				w := lab.Way{Loss: lab.Loss{Share: p}}
				got := count(lostOf(newOne(lab.Path{Up: w, Down: w}, d, seed), n))
				sigma := math.Sqrt(n * p * (1 - p))
				if math.Abs(float64(got)-n*p) > 3*sigma {
					t.Errorf("loss %v, seed %d, %s: %d of %d lost, want %.0f ± %.0f", p, seed, d, got, n, n*p, 3*sigma)
				}
			}
		}
	}
	for p, want := range map[float64]int{0: 0, 1: n} {
		if got := count(lostOf(one(lab.Way{Loss: lab.Loss{Share: p}}, 1), n)); got != want {
			t.Errorf("loss %v: %d of %d lost", p, got, n)
		}
	}
}

// Losses are independent: the lengths of runs of lost packets are geometric,
// so that of all runs a share of (1-p)·p^(k-1) has length k.
func TestLossRunsAreGeometric(t *testing.T) {
	const n, p = 500_000, 0.1
	runs, all := map[int]int{}, 0
	length := 0
	for _, lost := range lostOf(one(lab.Way{Loss: lab.Loss{Share: p}}, 5), n) {
		switch {
		case lost:
			length++
		case length > 0:
			runs[length]++
			all++
			length = 0
		}
	}
	for k := 1; k <= 4; k++ {
		share := (1 - p) * math.Pow(p, float64(k-1))
		want, sigma := float64(all)*share, math.Sqrt(float64(all)*share*(1-share))
		if math.Abs(float64(runs[k])-want) > 3*sigma {
			t.Errorf("%d runs of length %d, want %.0f ± %.0f", runs[k], k, want, 3*sigma)
		}
	}
}

// The fate of loss of the nth packet depends on seed, direction and n alone:
// not on when, how large, how fast, or what became of others.
func TestLossDependsOnTheNumberAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		d := rapid.SampledFrom([]lab.Direction{lab.Up, lab.Down}).Draw(t, "direction")
		loss := rapid.Float64Range(0, 1).Draw(t, "loss")
		plain := lab.Way{Loss: lab.Loss{Share: loss}}
		want := lostOf(newOne(lab.Path{Up: plain, Down: plain}, d, seed), 300)

		other := lab.Way{
			Loss: lab.Loss{Share: loss}, Delay: time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "delay")),
			Rate: lab.Rate(rapid.Int64Range(0, 1e9).Draw(t, "rate")), Queue: lab.Queue{Packets: rapid.IntRange(1, 20).Draw(t, "queue")},
		}
		w := newOne(lab.Path{Up: other, Down: other}, d, seed)
		var now time.Duration
		for i, lost := range want {
			now += time.Duration(rapid.Int64Range(0, 1e7).Draw(t, "wait"))
			size := rapid.IntRange(20, 1600).Draw(t, "size")
			got := w.Offer(now, size)
			if size > lab.DefaultMTU {
				if got.Drop != lab.DropMTU {
					t.Fatalf("packet %d of %d bytes: %q", i, size, got.Drop)
				}
				continue
			}
			if (got.Drop == lab.DropLoss) != lost {
				t.Fatalf("packet %d: %q, but lost by chance is %v", i, got.Drop, lost)
			}
		}
	})
}

// Directions and seeds have nothing to do with each other: the packets lost in
// both are as many as chance has it.
func TestDirectionsAndSeedsDiffer(t *testing.T) {
	const n, p = 200_000, 0.1
	w := lab.Way{Loss: lab.Loss{Share: p}}
	path := lab.Path{Up: w, Down: w}
	sets := map[string][]bool{}
	for _, seed := range []uint64{0, 1, 2, 1 << 40, math.MaxUint64} {
		for _, d := range []lab.Direction{lab.Up, lab.Down} {
			sets[fmt.Sprint(seed, d)] = lostOf(newOne(path, d, seed), n)
		}
	}
	sigma := math.Sqrt(n * p * p * (1 - p*p))
	for a, one := range sets {
		for b, two := range sets {
			if a >= b {
				continue
			}
			both := 0
			for i := range one {
				if one[i] && two[i] {
					both++
				}
			}
			if math.Abs(float64(both)-n*p*p) > 4*sigma {
				t.Errorf("%s and %s lose %d packets together, want %.0f ± %.0f", a, b, both, n*p*p, 4*sigma)
			}
		}
	}
}

// Packets are delivered in the order in which they were offered, never before
// the delay is over, and never faster than the rate.
func TestDeliveryIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		way := lab.Way{
			Delay: time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "delay")), Rate: lab.Rate(rapid.Int64Range(0, 1e8).Draw(t, "rate")),
			Loss: lab.Loss{Share: rapid.Float64Range(0, 0.5).Draw(t, "loss")}, Queue: lab.Queue{Bytes: rapid.Int64Range(1, 1e5).Draw(t, "queue")},
		}
		w := one(way, rapid.Uint64().Draw(t, "seed"))
		var now, last time.Duration
		for i := range 200 {
			now += time.Duration(rapid.Int64Range(0, 1e8).Draw(t, "wait"))
			size := rapid.IntRange(20, 1500).Draw(t, "size")
			f := w.Offer(now, size)
			if f.Drop != lab.NotDropped {
				continue
			}
			soonest := now + way.Delay
			if way.Rate > 0 {
				soonest = max(now+way.Delay, last) + leaves(1, size, way.Rate)
			}
			if f.At < soonest || f.At < last {
				t.Fatalf("packet %d, offered at %d: delivered at %d, the one before at %d, soonest %d", i, now, f.At, last, soonest)
			}
			if way.Rate > 0 && w.Waiting(now) > max(way.Queue.Bytes, 0) {
				t.Fatalf("%d bytes wait in a queue of %d", w.Waiting(now), way.Queue.Bytes)
			}
			last = f.At
		}
	})
}

// First is the direction of what is due first; among equals of what was offered
// first.
func TestFirst(t *testing.T) {
	link := New[int](lab.Path{Up: lab.Way{Delay: 3 * ms}, Down: lab.Way{Delay: 2 * ms}}, 1)
	if _, ok := link.First(); ok {
		t.Error("something is first of nothing")
	}
	const up, down = lab.Up, lab.Down
	for i, d := range []lab.Direction{up, down, up, down, down, up} { // due at 3, 3, 5, 5, 6, 8
		link.Offer(d, []time.Duration{0, ms, 2 * ms, 3 * ms, 4 * ms, 5 * ms}[i], zeros[:100], false, i)
	}
	link.Offer(down, 6*ms, zeros[:100], false, 6) // due at 8
	link.Offer(down, 10*ms, zeros[:100], false, 7)
	link.Offer(up, 9*ms, zeros[:100], false, 8)
	for _, want := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8} { // 7 and 8 are due at 12
		d, ok := link.First()
		out, popped := link.Pop(d, time.Hour)
		if !ok || !popped || out.Hold != want {
			t.Errorf("packet %d is first (%v, %v), want %d", out.Hold, ok, popped, want)
		}
	}
}

// The queue's memory is bounded, however long the link is busy.
func TestMemoryIsBounded(t *testing.T) {
	w := one(lab.Way{Rate: 8e6, Delay: 20 * ms, Queue: lab.Queue{Packets: 10}}, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 1_000_000 {
		w.Offer(time.Duration(i)*900*time.Microsecond, 1000)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1e5 {
		t.Errorf("a queue of 10 packets took %d bytes of memory for a million", n)
	}
}

func FuzzOffer(f *testing.F) {
	f.Add(int64(1e6), int64(2e7), 0.1, 5, int64(0), 0.0, uint64(1), []byte{1, 2, 3, 255, 0})
	f.Add(int64(1), int64(0), 1.0, 0, int64(1), 0.0, uint64(0), []byte{255, 255, 255, 255})
	f.Add(int64(1e12), int64(3.6e12), -1.0, 0, int64(0), 1000.0, uint64(1<<63), []byte{})
	f.Fuzz(func(t *testing.T, rate, delay int64, loss float64, packets int, bytes int64, bdp float64, seed uint64, offers []byte) {
		if rate < 0 || rate > int64(lab.MaxRate) || delay < 0 || delay > int64(lab.MaxDelay) {
			return
		}
		w := one(lab.Way{
			Rate: lab.Rate(rate), Delay: time.Duration(delay), Loss: lab.Loss{Share: loss}, Queue: lab.Queue{Packets: packets, Bytes: bytes, BDP: bdp},
		}, seed)
		var now, last time.Duration
		for i, b := range offers {
			now += time.Duration(b) << (b % 30)
			fate := w.Offer(now, int(b)*256+i%256)
			if fate.Drop == lab.NotDropped && (fate.At < now+time.Duration(delay) || fate.At < last) {
				t.Fatalf("packet %d, offered at %d, is delivered at %d", i, now, fate.At)
			}
			if fate.Drop == lab.NotDropped {
				last = fate.At
			}
		}
		if w.Offered() != uint64(len(offers)) {
			t.Fatalf("%d of %d packets were counted", w.Offered(), len(offers))
		}
	})
}
