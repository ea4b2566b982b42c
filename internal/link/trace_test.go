package link

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

const milli = time.Millisecond

// mahimahi makes a way of a trace with opportunities at these times.
func mahimahi(ms ...uint32) lab.Way {
	var text strings.Builder
	for _, v := range ms {
		fmt.Fprintln(&text, v)
	}
	return lab.Way{Trace: lab.Trace{Name: "test", Kind: lab.Mahimahi, Data: text.String()}}
}

func rates(text string) lab.Way {
	return lab.Way{Trace: lab.Trace{Name: "test", Kind: lab.RateCSV, Data: text}}
}

func TestMahimahi(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ms    []uint32
		steps []given
		want  []time.Duration // in ms
	}{
		{"a packet an opportunity", []uint32{1, 2, 4}, []given{{0, 1500}, {0, 1500}, {0, 1500}, {0, 1500}}, []time.Duration{1, 2, 4, 5}},
		{"small packets share one", []uint32{5}, []given{{0, 700}, {0, 800}, {0, 1}}, []time.Duration{5, 5, 10}},
		{"a packet goes on in the next", []uint32{1, 3, 10}, []given{{0, 1000}, {0, 1000}, {0, 1000}}, []time.Duration{1, 3, 3}},
		{"a large packet takes several", []uint32{1, 3, 10}, []given{{0, 4501}, {0, 1499}, {0, 1}}, []time.Duration{11, 11, 13}},
		{"several at one time", []uint32{2, 2, 2, 9}, []given{{0, 3000}, {0, 1500}, {0, 1}}, []time.Duration{2, 2, 9}},
		{"what nothing waits for is lost", []uint32{1, 2, 3, 4, 5}, []given{{2500 * time.Microsecond, 1500}, {2600 * time.Microsecond, 10}}, []time.Duration{3, 4}},
		{"too late for this one", []uint32{1, 2, 3}, []given{{milli, 1500}, {2 * milli, 10}, {3 * milli, 10}, {3 * milli, 10}}, []time.Duration{2, 3, 4, 4}},
		{"its rest is for those that wait", []uint32{5, 7, 9}, []given{{0, 100}, {4 * milli, 100}, {5 * milli, 100}}, []time.Duration{5, 5, 7}},
		{"the last and the first are at one time", []uint32{0, 10}, []given{{0, 1500}, {0, 1500}, {0, 1500}}, []time.Duration{10, 10, 20}},
		{"after a long pause", []uint32{0, 3, 10}, []given{{1e9 * milli, 1500}, {2e9*milli + 3*milli, 1500}}, []time.Duration{1e9 + 3, 2e9 + 10}},
	} {
		s := newSending(mahimahi(tt.ms...), 0)
		for i, p := range tt.steps {
			at, why := s.goes(p.at, p.size)
			if why != "" || at != tt.want[i]*milli {
				t.Errorf("%s: packet %d leaves at %v (%q), want %v", tt.name, i, at, why, tt.want[i]*milli)
			}
		}
	}
}

// served sends packets as mm-link does: opportunity by opportunity, from a
// queue of those that were there before it.
func served(ms []uint32, packets []given) []time.Duration {
	var leaves []time.Duration
	need := packets[0].size
	for round := time.Duration(0); ; round += time.Duration(ms[len(ms)-1]) * milli {
		for _, v := range ms {
			at, left := round+time.Duration(v)*milli, 1500
			for left > 0 && packets[len(leaves)].at < at {
				used := min(left, need)
				left, need = left-used, need-used
				if need > 0 {
					break
				}
				leaves = append(leaves, at)
				if len(leaves) == len(packets) {
					return leaves
				}
				need = packets[len(leaves)].size
			}
		}
	}
}

func TestMahimahiAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ms []uint32
		var last uint32
		for range rapid.IntRange(1, 12).Draw(t, "lines") {
			last += rapid.SampledFrom([]uint32{0, 0, 1, 2, 7}).Draw(t, "step")
			ms = append(ms, last)
		}
		ms[len(ms)-1] = max(last, 1)
		packets := traffic(t, 30, 100*milli, 5000)
		for i := range packets { // meet the opportunities
			if rapid.Bool().Draw(t, "at an opportunity") {
				packets[i].at = packets[i].at.Truncate(milli)
			}
			if i > 0 {
				packets[i].at = max(packets[i].at, packets[i-1].at)
			}
		}
		s := newSending(mahimahi(ms...), 0)
		for i, want := range served(ms, packets) {
			if at, why := s.goes(packets[i].at, packets[i].size); at != want || why != "" {
				t.Fatalf("%v: packet %d of %v leaves at %v (%q), want %v", ms, i, packets, at, why, want)
			}
		}
	})
}

// A trace whose opportunities are all used carries exactly 1500 B for each.
func TestMahimahiIsExact(t *testing.T) {
	s := newSending(mahimahi(1, 1, 2, 5), 0)
	s.room = room{}
	sent := 0
	for at := time.Duration(0); at < 1000*milli; {
		size := 100 + sent%1400
		at, _ = s.goes(0, size)
		sent += size
		if carried := (int(at/(5*milli)) + 1) * 4 * 1500; sent > carried {
			t.Fatalf("%d bytes were sent by %v, of %d at most", sent, at, carried)
		}
	}
	if want := 200 * 4 * 1500; sent < want-1500 {
		t.Errorf("%d bytes were sent in a second of %d", sent, want)
	}
}

func TestRateCSV(t *testing.T) {
	const us = time.Microsecond
	for _, tt := range []struct {
		name  string
		text  string
		steps []given
		want  []time.Duration
	}{
		// 8mbit is a byte a µs.
		{"one rate", "0,8mbit", []given{{0, 1000}, {0, 1000}, {5 * milli, 1000}}, []time.Duration{1 * milli, 2 * milli, 6 * milli}},
		{"faster within a packet", "0,8mbit\n0.0005,80mbit", []given{{0, 1000}, {0, 1000}}, []time.Duration{550 * us, 650 * us}},
		{"slower within a packet", "0,80mbit\n0.0001,8mbit", []given{{0, 1500}, {0, 100}}, []time.Duration{600 * us, 700 * us}},
		{"an outage within a packet", "0,8mbit\n0.0005,0bit\n2,8mbit", []given{{0, 1000}, {0, 1000}}, []time.Duration{2*time.Second + 500*us, 2*time.Second + 1500*us}},
		{"in an outage", "0,8mbit\n1,0bit\n2,0bit\n3,8mbit", []given{{1500 * milli, 1000}, {2500 * milli, 1000}}, []time.Duration{3001 * milli, 3002 * milli}},
		{"sent at the end of a step", "0,8mbit\n0.001,0bit\n2,8mbit", []given{{0, 1000}, {0, 1000}}, []time.Duration{1 * milli, 2001 * milli}},
		{"after a long pause", "0,1bit\n1,0bit\n3,8mbit", []given{{1000 * time.Hour, 1000}}, []time.Duration{1000*time.Hour + milli}},
		{"through many steps", "0,8bit\n0.000001,0\n0.000002,8mbit\n0.000003,0\n0.000004,16mbit", []given{{0, 101}}, []time.Duration{4*us + 49999}},
	} {
		s := newSending(rates(tt.text), 0)
		for i, p := range tt.steps {
			if at, why := s.goes(p.at, p.size); at != tt.want[i] || why != "" {
				t.Errorf("%s: packet %d leaves at %v (%q), want %v", tt.name, i, at, why, tt.want[i])
			}
		}
	}
}

// What is dropped leaves no trace in the schedule's arithmetic.
func TestRateCSVQueue(t *testing.T) {
	w := rates("0,8mbit\n0.01,0bit\n0.02,8mbit")
	w.Queue = lab.Queue{Time: 5 * milli}
	s := newSending(w, 0)
	for i, step := range []struct {
		now, want time.Duration
		drop      lab.Reason
	}{
		{9500 * time.Microsecond, 20500 * time.Microsecond, ""}, // is being sent
		{9600 * time.Microsecond, 0, lab.DropQueue},             // would start after the outage
		{14 * milli, 0, lab.DropQueue},
		{15500 * time.Microsecond, 21500 * time.Microsecond, ""},
		{20 * milli, 22500 * time.Microsecond, ""},
	} {
		if at, why := s.goes(step.now, 1000); at != step.want || why != step.drop {
			t.Errorf("packet %d leaves at %v (%q), want %v (%q)", i, at, why, step.want, step.drop)
		}
	}
	// In an outage a packet waits, though none is before it.
	w.Queue = lab.Queue{Packets: 1}
	s = newSending(w, 0)
	for i, want := range []lab.Reason{"", lab.DropQueue} {
		if why := s.give(12*milli, 1000); why != want {
			t.Errorf("packet %d in an outage: %q, want %q", i, why, want)
		}
	}
	if n := s.waits(20*milli - 1); n != 1000 {
		t.Errorf("%d bytes wait in an outage", n)
	}
	if n := s.waits(20 * milli); n != 0 {
		t.Errorf("%d bytes wait after it", n)
	}
}

func TestRateCSVAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var steps []lab.RateStep
		var from time.Duration
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			rate := lab.Rate(rapid.Int64Range(1e8, 2e10).Draw(t, "rate"))
			if rapid.IntRange(0, 2).Draw(t, "outage") == 0 {
				rate = 0
			}
			steps = append(steps, lab.RateStep{From: from, Rate: rate})
			from += time.Duration(rapid.IntRange(1, 5000).Draw(t, "lasts"))
		}
		steps[len(steps)-1].Rate = max(steps[len(steps)-1].Rate, 1e8)
		rate := func(now time.Duration) (r lab.Rate) {
			for _, step := range steps {
				if step.From <= now {
					r = step.Rate
				}
			}
			return r
		}
		packets := traffic(t, 20, 5*time.Microsecond, 1500)
		s := &schedule{steps: steps}
		for i, want := range drained(rate, 0, packets) {
			start := s.ready(packets[i].at)
			if rate(start) == 0 || start < packets[i].at {
				t.Fatalf("packet %d, at %d, is taken at %d", i, packets[i].at, start)
			}
			if got := s.take(start, packets[i].size); got != want {
				t.Fatalf("%v: packet %d of %v leaves at %d, want %d", steps, i, packets, got, want)
			}
		}
	})
}

// One rate, written as a trace of many steps, is that rate: nothing is lost at
// the steps.
func TestRateCSVIsExact(t *testing.T) {
	const n, size, rate = 100_000, 1499, lab.Rate(98765431)
	var text strings.Builder
	r := rand.New(rand.NewPCG(5, 6))
	var at time.Duration
	for at < 15*time.Second {
		fmt.Fprintf(&text, "%d.%09d,%dbit\n", at/time.Second, at%time.Second, rate)
		at += time.Duration(1 + r.Int64N(int64(5*milli)))
	}
	s := newSending(rates(text.String()), 0)
	s.room = room{}
	for i := 1; i <= n; i++ {
		got, why := s.goes(0, size)
		want := exactly(i, size, rate)
		if why != "" || got != want {
			t.Fatalf("packet %d leaves at %d (%s), want %d", i, got, why, want)
		}
		s.out = s.out[:0]
	}
}

func TestTraceQueueLimits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		way   lab.Way
		queue lab.Queue
		holds int // packets of 1000 B, with an RTT of 48 ms
	}{
		{"opportunities, packets", mahimahi(2), lab.Queue{Packets: 7}, 7},
		{"opportunities, bdp", mahimahi(2), lab.Queue{BDP: 1}, 36}, // 6 Mbit/s
		{"opportunities, time", mahimahi(2), lab.Queue{Time: 10 * milli}, 8},
		{"rates, bdp", rates("0,4mbit\n1,0bit\n2,12mbit\n3,1bit"), lab.Queue{BDP: 1}, 33}, // 16/3 Mbit/s: 32 wait, one is sent
		{"rates, an outage first", rates("0,0bit\n1,8mbit"), lab.Queue{BDP: 1}, 48},
		{"default", mahimahi(2), lab.Queue{}, lab.DefaultQueue},
	} {
		tt.way.Queue = tt.queue
		s := newSending(tt.way, 48*milli)
		held := 0
		for s.give(0, 1000) == "" {
			held++
		}
		if held != tt.holds {
			t.Errorf("%s: %d packets are held, want %d", tt.name, held, tt.holds)
		}
	}
}

// A flood does not make a trace hold more than its limit, and a pause of years
// costs no more than one of milliseconds.
func TestTraceFloodAndPause(t *testing.T) {
	for _, w := range []lab.Way{mahimahi(1, 2, 3), rates("0,10mbit\n1,1mbit")} {
		w.Queue = lab.Queue{Packets: 10}
		s := newSending(w, 0)
		var now time.Duration
		for i := range 1_000_000 {
			now += 100 * time.Microsecond
			if i%1000 == 0 {
				now += 24 * time.Hour
			}
			s.give(now, 1500)
			s.out = s.out[:0]
		}
		if n := cap(s.backlog.items); n > 1000 {
			t.Errorf("a queue of 10 packets holds room for %d", n)
		}
	}
}

func TestTraceTimesDoNotOverflow(t *testing.T) {
	for _, w := range []lab.Way{mahimahi(4294967295), rates("0,1gbit\n1,1bit")} {
		s := newSending(w, 0)
		s.room = room{}
		var last time.Duration
		for i := range 100_000 {
			at, why := s.goes(time.Duration(i), 65535)
			if why != "" || at < last || at > forever {
				t.Fatalf("packet %d leaves at %d (%s), the one before at %d", i, at, why, last)
			}
			last, s.out = at, s.out[:0]
		}
		if last != forever {
			t.Errorf("the last packet leaves at %d", last)
		}
	}
}

func TestTraceThatWasNotChecked(t *testing.T) {
	for _, w := range []lab.Way{rates("0,0bit"), mahimahi(2, 1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken", w.Trace.Data)
				}
			}()
			newSending(w, 0)
		}()
	}
}
