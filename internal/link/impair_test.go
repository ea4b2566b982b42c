package link

import (
	"fmt"
	"math"
	"math/bits"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// fates returns the fates of n packets, offered one a minute.
func fates(w lab.Way, seed uint64, n int) []lab.Fate {
	link := New[int](lab.Path{Down: w}, seed)
	list := make([]lab.Fate, n)
	for i := range list {
		now := time.Duration(i) * time.Minute
		for _, ok := link.Pop(lab.Down, now); ok; _, ok = link.Pop(lab.Down, now) {
		}
		list[i] = link.Offer(lab.Down, now, zeros[:1000], false, i)
	}
	return list
}

// Without a gap each packet has the chance; with a gap of g at least g-1 lie
// between two, so that a share of 1 in g-1+1/p passes.
func TestReorderShareAndGap(t *testing.T) {
	const n = 200_000
	for _, tt := range []struct {
		p   float64
		gap int
	}{{0.25, 0}, {0.25, 1}, {0.25, 5}, {0.02, 10}, {1, 4}, {1, 0}} {
		name := fmt.Sprintf("%v gap %d", tt.p, tt.gap)
		gaps, last, passed := map[int]int{}, -1, 0
		for i, fate := range fates(lab.Way{Delay: 10 * ms, Reorder: lab.Reorder{Share: tt.p, Gap: tt.gap}}, 2, n) {
			if fate.Reordered {
				gaps[i-last]++
				last = i
				passed++
			}
		}
		g := float64(max(tt.gap, 1))
		mean := g - 1 + 1/tt.p
		// A renewal process with geometric steps.
		near(t, name, passed, n/mean, math.Sqrt(n/mean*(1-tt.p))/tt.p/mean+1)
		for k := range 5 {
			share := tt.p * math.Pow(1-tt.p, float64(k))
			near(t, fmt.Sprintf("%s: %d packets on", name, int(g)+k), gaps[int(g)+k],
				float64(passed)*share, math.Sqrt(float64(passed)*share*(1-share)))
		}
		for k := range int(g) {
			if gaps[k] > 0 {
				t.Errorf("%s: %d passed %d packets after another", name, gaps[k], k)
			}
		}
	}
}

// A packet that is let pass has no delay and no jitter, but waits for the rate.
func TestReorderedPacketsOvertake(t *testing.T) {
	way := lab.Way{
		Delay: 10 * ms, Jitter: lab.Jitter{Spread: ms, InOrder: true}, Rate: 8e6, Reorder: lab.Reorder{Share: 1, Gap: 3},
	}
	link := New[int](lab.Path{Up: way}, 1)
	for i := range 6 {
		if fate := link.Offer(lab.Up, 0, zeros[:1000], false, i); fate.Reordered != (i == 2 || i == 5) {
			t.Errorf("packet %d: %+v", i, fate)
		}
	}
	var order []int
	for {
		out, ok := link.Pop(lab.Up, time.Hour)
		if !ok {
			break
		}
		order = append(order, out.Hold)
		if sent := time.Duration(out.Hold+1) * ms; out.Hold%3 == 2 && out.At != sent {
			t.Errorf("packet %d comes at %v, want %v", out.Hold, out.At, sent)
		} else if out.Hold%3 != 2 && out.At < sent+9*ms {
			t.Errorf("packet %d comes at %v", out.Hold, out.At)
		}
	}
	if fmt.Sprint(order) != "[2 5 0 1 3 4]" {
		t.Errorf("they come in the order %v", order)
	}
}

func TestDuplicateShare(t *testing.T) {
	const n, p = 200_000, 0.03
	twice := 0
	for _, fate := range fates(lab.Way{Duplicate: lab.Chance{Share: p}}, 1, n) {
		if fate.Duplicated {
			twice++
		}
	}
	near(t, "duplicated", twice, n*p, math.Sqrt(n*p*(1-p)))
}

// A duplicate comes right behind the packet, takes time and room like another,
// and does not count as offered; the last of the two says so.
func TestDuplicate(t *testing.T) {
	link := New[int](lab.Path{Up: lab.Way{
		Delay: 5 * ms, Rate: 8e6, Duplicate: lab.Chance{Share: 1}, Queue: lab.Queue{Packets: 4},
	}}, 1)
	// Of ten places in the queue and on the wire the third packet's copy takes
	// what would be the sixth.
	for i, want := range []lab.Fate{{Duplicated: true}, {Duplicated: true}, {}, {Drop: lab.DropQueue}} {
		if fate := link.Offer(lab.Up, 0, zeros[:1000], false, i); fate != want {
			t.Errorf("packet %d: %+v, want %+v", i, fate, want)
		}
	}
	for i, want := range []struct {
		hold int
		last bool
	}{{0, false}, {0, true}, {1, false}, {1, true}, {2, true}} {
		out, ok := link.Pop(lab.Up, time.Hour)
		if at := time.Duration(i+1)*ms + 5*ms; !ok || out.Hold != want.hold || out.Last != want.last || out.At != at {
			t.Errorf("delivery %d: %+v (%v), want %+v at %v", i, out, ok, want, at)
		}
	}
	if out, ok := link.Pop(lab.Up, time.Hour); ok || link.Offered(lab.Up) != 4 {
		t.Errorf("one more: %+v; %d offered", out, link.Offered(lab.Up))
	}
}

// One bit in so many packets is flipped, and it may be any; the copy is sound.
func TestCorrupt(t *testing.T) {
	const n, p, size = 100_000, 0.5, 25
	link := New[int](lab.Path{Up: lab.Way{Corrupt: lab.Chance{Share: p}, Duplicate: lab.Chance{Share: 0.1}}}, 1)
	flipped, hits := 0, [size * 8]int{}
	for i := range n {
		fate := link.Offer(lab.Up, 0, zeros[:size], false, i)
		out, _ := link.Pop(lab.Up, 0)
		b := make([]byte, size)
		out.Apply(b)
		ones := 0
		for at, x := range b {
			if ones += bits.OnesCount8(x); x != 0 {
				hits[at*8+bits.TrailingZeros8(x)]++
			}
		}
		if out.Changed() != fate.Corrupted || ones != map[bool]int{true: 1}[fate.Corrupted] {
			t.Fatalf("packet %d: %d bits were flipped, changed %v, fate %+v", i, ones, out.Changed(), fate)
		}
		flipped += ones
		if fate.Duplicated {
			if second, ok := link.Pop(lab.Up, 0); !ok || second.Changed() {
				t.Fatalf("the copy of packet %d: %v %v", i, second.Changed(), ok)
			}
		}
	}
	near(t, "corrupted", flipped, n*p, math.Sqrt(n*p*(1-p)))
	each := n * p / float64(size*8)
	for bit, got := range hits {
		near(t, fmt.Sprintf("bit %d", bit), got, each, math.Sqrt(each)*1.2)
	}
}

// netem's limit counts what waits and what is under way, by the times of the
// model: it does not matter when packets are taken out.
func TestLimit(t *testing.T) {
	way := lab.Way{Delay: 10 * ms, Rate: 8e6, Limit: 3} // a packet a ms
	for _, late := range []bool{false, true} {
		link := New[int](lab.Path{Up: way}, 1)
		for _, tt := range []struct {
			now  time.Duration
			want lab.Reason
		}{
			{0, ""}, {0, ""}, {0, ""}, {0, lab.DropLimit}, {11*ms - 1, lab.DropLimit},
			{11 * ms, ""}, {11 * ms, lab.DropLimit}, // the first was due at 11 ms
			{13 * ms, ""}, {13 * ms, ""}, {13 * ms, lab.DropLimit},
		} {
			for !late {
				if _, ok := link.Pop(lab.Up, tt.now); !ok {
					break
				}
			}
			if got := link.Offer(lab.Up, tt.now, zeros[:1000], false, 0).Drop; got != tt.want {
				t.Errorf("at %v, late %v: %q, want %q", tt.now, late, got, tt.want)
			}
		}
	}
}

// The condition of case F20: a limit in packets below rate × delay is what caps
// the rate.
func TestLimitBelowTheBDP(t *testing.T) {
	const packets = 1000
	link, sent := New[int](lab.Path{Up: lab.Way{Delay: 100 * ms, Rate: 1e9, Limit: packets}}, 1), 0
	for now := time.Duration(0); now < 10*time.Second; now += 12 * time.Microsecond { // 1 Gbit/s
		if link.Offer(lab.Up, now, zeros[:1500], false, 0).Drop == lab.NotDropped {
			sent++
		}
		for {
			if _, ok := link.Pop(lab.Up, now); !ok {
				break
			}
		}
	}
	// 1000 packets every 100 ms, which is 15 MB/s.
	if want := packets * 100; sent < want || sent > want*101/100 {
		t.Errorf("%d packets came through in 10 s, want %d", sent, want)
	}
}

// The copy of a packet counts against the limit, and is not made where there is
// no room for it.
func TestLimitCountsCopies(t *testing.T) {
	link := New[int](lab.Path{Up: lab.Way{Delay: ms, Limit: 3, Duplicate: lab.Chance{Share: 1}}}, 1)
	for i, want := range []lab.Fate{{Duplicated: true}, {}, {Drop: lab.DropLimit}} {
		if fate := link.Offer(lab.Up, 0, zeros[:100], false, i); fate != want {
			t.Errorf("packet %d: %+v, want %+v", i, fate, want)
		}
	}
	for i, last := range []bool{false, true, true} {
		if out, ok := link.Pop(lab.Up, ms); !ok || out.Last != last {
			t.Errorf("delivery %d: %+v (%v)", i, out, ok)
		}
	}
}

// Pairs that are done with, or did not come about, leave nothing behind.
func TestTwinsAreForgotten(t *testing.T) {
	for _, way := range []lab.Way{
		{Delay: ms}, // all get through
		{Rate: 8e6, Queue: lab.Queue{Packets: 2}},       // most find no room
		{Delay: ms, Limit: 3},                           // so too
		{Delay: ms, Jitter: lab.Jitter{Spread: 5 * ms}}, // they overtake
	} {
		way.Duplicate = lab.Chance{Share: 1}
		link := New[int](lab.Path{Up: way}, 1)
		for i := range 10_000 {
			now := time.Duration(i) * ms / 2
			link.Offer(lab.Up, now, zeros[:1000], false, i)
			for _, ok := link.Pop(lab.Up, now); ok; _, ok = link.Pop(lab.Up, now) {
			}
		}
		if n := len(link.ways[lab.Up].twins.left); n > 40 {
			t.Errorf("%+v: %d pairs are remembered", way, n)
		}
	}
}

func TestThrottleConcernsItsTransport(t *testing.T) {
	udp, tcp := build{transport: lab.UDP, size: 1000}.bytes(), build{transport: lab.TCP, size: 1000}.bytes()
	link := New[int](lab.Path{Up: lab.Way{Throttle: lab.Throttle{Transport: lab.UDP, Rate: 8e6, Burst: 3000}}}, 1)
	for i := range 6 {
		want := map[bool]lab.Reason{true: lab.DropThrottle}[i >= 3]
		if got := link.Offer(lab.Up, 0, udp, false, 0).Drop; got != want {
			t.Errorf("datagram %d: %q, want %q", i, got, want)
		}
		if got := link.Offer(lab.Up, 0, tcp, false, 0).Drop; got != lab.NotDropped {
			t.Errorf("segment %d: %q", i, got)
		}
	}
	if got := link.Offer(lab.Up, ms, udp, false, 0).Drop; got != lab.NotDropped {
		t.Errorf("a millisecond later: %q", got)
	}
}
