package gauge

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
)

// overLink carries datagrams of an IP size over a way in virtual time, sent at the
// times given (ns).
func overLink(w lab.Way, size int, sent []int64) *series {
	return overLinkAs(w, make([]byte, size), sent)
}

// overLinkAs is overLink with copies of a packet.
func overLinkAs(w lab.Way, packet []byte, sent []int64) *series {
	s := &series{sent: sent}
	model := link.New[int](lab.Path{Up: w}, 1)
	for i, t := range sent {
		model.Offer(lab.Up, time.Duration(t), packet, false, i)
	}
	for {
		d, ok := model.Pop(lab.Up, math.MaxInt64)
		if !ok {
			return s
		}
		s.arrivals = append(s.arrivals, arrival{number: d.Hold, at: int64(d.At), bytes: len(packet)})
	}
}

// paced are n times, every so often, from 1 s on.
func paced(n int, every time.Duration) (sent []int64) {
	for i := range n {
		sent = append(sent, int64(time.Second)+int64(i)*int64(every))
	}
	return sent
}

// find is the check of a name: that of up, if there are two.
func find(t *testing.T, checks []Check, name string) Check {
	t.Helper()
	for _, d := range []string{"up", Both, "down"} {
		for _, c := range checks {
			if c.Name == name && c.Direction == d {
				return c
			}
		}
	}
	t.Fatalf("no check %s among %+v", name, checks)
	return Check{}
}

func wantState(t *testing.T, c Check, want State) {
	t.Helper()
	if c.State != want {
		t.Errorf("%s %s is %s, want %s: asked %v, measured %v ± %v (%s)",
			c.Name, c.Direction, c.State, want, value(c.Asked), value(c.Measured), value(c.Tolerance), c.Note)
	}
	if (c.OK != nil) != (want == Holds || want == Fails) || c.OK != nil && *c.OK != (want == Holds) {
		t.Errorf("%s is %s, and its ok does not say so", c.Name, c.State)
	}
}

func value(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func TestJudgeDelay(t *testing.T) {
	asked := lab.Way{Delay: 20 * msec, Rate: 10e6}
	for _, c := range []struct {
		name    string
		carried lab.Way
		want    State
	}{
		{"as asked", asked, Holds},
		{"half a millisecond late", lab.Way{Delay: 20*msec + msec/2, Rate: 10e6}, Holds},
		{"30 instead of 20 ms", lab.Way{Delay: 30 * msec, Rate: 10e6}, Fails},
		{"10 instead of 20 ms", lab.Way{Delay: 10 * msec, Rate: 10e6}, Fails},
		{"all lost", lab.Way{Delay: 20 * msec, Loss: lab.Loss{Share: 1}}, Fails},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := overLink(c.carried, 92, paced(100, 2*msec))
			wantState(t, find(t, judgeDelay(lab.Up, asked, 92, 100, s.delays()), Delay), c.want)
		})
	}
	// Where nothing can be expected to come through, nothing is judged.
	for _, w := range []lab.Way{{Loss: lab.Loss{Share: 1}}, {Rules: "drop udp"}, {Trace: lab.Trace{Name: "x"}}} {
		wantState(t, find(t, judgeDelay(lab.Up, w, 92, 100, nil), Delay), Unchecked)
	}
	trace := lab.Way{Trace: lab.Trace{Name: "x"}}
	wantState(t, find(t, judgeDelay(lab.Up, trace, 92, 100, make([]float64, 100)), Delay), Unchecked)
}

// Delays drawn from a distribution are found to be of it, and of no other.
func TestJudgeJitter(t *testing.T) {
	asked := lab.Way{Delay: 50 * msec, Jitter: lab.Jitter{Spread: 10 * msec, Distribution: lab.Normal}}
	for _, c := range []struct {
		name    string
		carried lab.Jitter
		fails   []string
	}{
		{"normal", asked.Jitter, nil},
		{"twice as wide", lab.Jitter{Spread: 20 * msec, Distribution: lab.Normal}, []string{JitterSD, JitterLow, JitterHigh}},
		{"none", lab.Jitter{}, []string{JitterSD, JitterLow, JitterHigh}},
		{"uniform with the same sd", lab.Jitter{Spread: 17321 * time.Microsecond}, []string{JitterTail}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 1))
			g := delayGrid(lab.Way{Delay: 50 * msec, Jitter: c.carried})
			delays := make([]float64, 20_000)
			for i := range delays {
				delays[i] = g.quantile(r.Float64())
			}
			checks := judgeDelay(lab.Up, asked, 92, len(delays), delays)
			if failed := Failed(checks); c.fails == nil && len(failed) > 0 {
				t.Errorf("fails: %+v", failed)
			}
			for _, name := range c.fails {
				wantState(t, find(t, checks, name), Fails)
			}
			wantState(t, find(t, checks, JitterMean), Holds)
		})
	}
}

func TestJudgeRTT(t *testing.T) {
	p := lab.Path{Up: lab.Way{Delay: 5 * msec, Rate: 1e6}, Down: lab.Way{Delay: 15 * msec}}
	trips := func(s float64) []float64 {
		all := make([]float64, 50)
		for i := range all {
			all[i] = s
		}
		return all
	}
	wantState(t, judgeRTT(p, 125, 50, trips(0.021)), Holds) // 1 ms is the rate's
	wantState(t, judgeRTT(p, 125, 50, trips(0.025)), Fails)
	wantState(t, judgeRTT(p, 125, 50, nil), Fails)
}

// lossSeries is a series of which some are lost.
func lossSeries(lost []bool) *series {
	s := &series{}
	for i, l := range lost {
		s.sent = append(s.sent, int64(i+1))
		if !l {
			s.arrivals = append(s.arrivals, arrival{number: i, at: int64(i + 2)})
		}
	}
	return s
}

func TestJudgeLoss(t *testing.T) {
	gilbert := lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.1, Bad: 1}}
	for _, c := range []struct {
		name           string
		asked, carried lab.Loss
		share, run     State // run "": no such check
	}{
		{"5 %", lab.Loss{Share: 0.05, Burst: 1}, lab.Loss{Share: 0.05, Burst: 1}, Holds, Holds},
		{"5 % asked, 7 % carried", lab.Loss{Share: 0.05, Burst: 1}, lab.Loss{Share: 0.07, Burst: 1}, Fails, Fails},
		{"none asked, 0.1 % carried", lab.Loss{}, lab.Loss{Share: 0.001, Burst: 1}, Fails, ""},
		{"5 % asked, none carried", lab.Loss{Share: 0.05, Burst: 1}, lab.Loss{Burst: 1}, Fails, ""},
		{"Gilbert", gilbert, gilbert, Holds, Holds},
		{"the same share, but bursts of 8", lab.Loss{Share: 0.05, Burst: 1}, lab.Loss{Share: 0.05, Burst: 8}, "", Fails},
		{"all", lab.Loss{Share: 1}, lab.Loss{Share: 1, Burst: 1}, Holds, ""},
		{"too few runs", lab.Loss{Share: 0.0001, Burst: 1}, lab.Loss{Share: 0.0001, Burst: 1}, Holds, Unchecked},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lab.Way{Loss: c.asked}
			s := lossSeries(simulate(c.carried, 30_000, rand.New(rand.NewPCG(5, 1))))
			checks := judgeLoss(lab.Up, w, lossOf(w, lab.IPv4, 92, 1), LossShare, LossRun, s)
			if c.share != "" {
				wantState(t, find(t, checks, LossShare), c.share)
			}
			if c.run == "" && len(checks) > 1 {
				t.Errorf("runs were judged: %+v", checks[1])
			}
			if c.run != "" {
				wantState(t, find(t, checks, LossRun), c.run)
			}
		})
	}
}

// What a path's own limits drop counts apart, and only of limits that it is asked
// to have: a queue that nobody asked for is a fault.
func TestOverflowIsOfAskedLimits(t *testing.T) {
	all := map[lab.Reason]int{}
	for i, r := range lab.Reasons() {
		all[r] = 1 << i
	}
	l := Lab{Drops: func(lab.Direction) map[lab.Reason]int { return all }}
	for _, c := range []struct {
		way  lab.Way
		want int
	}{
		{lab.Way{}, 0},
		{lab.Way{Rate: 1e6}, all[lab.DropQueue]},
		{lab.Way{Rate: 1e6, Burst: 3000, Police: true}, all[lab.DropPolice]},
		{lab.Way{Rate: 1e6, AQM: lab.AQM{Kind: lab.CoDel}}, all[lab.DropQueue] + all[lab.DropAQM]},
		{lab.Way{Limit: 10}, all[lab.DropLimit]},
		{lab.Way{Throttle: lab.Throttle{Rate: 1e6}}, all[lab.DropThrottle]},
		{lab.Way{Throttle: lab.Throttle{Rate: 1e6, Transport: lab.TCP}}, 0},
		{lab.Way{Loss: lab.Loss{Share: 0.5}}, 0},
	} {
		if got := l.overflowed(lab.Up, c.way); got != c.want {
			t.Errorf("%+v: %b, want %b", c.way, got, c.want)
		}
	}
	if got := (Lab{}).overflowed(lab.Up, lab.Way{Rate: 1}); got != 0 {
		t.Errorf("a lab that does not know says %d", got)
	}
}

// A train may be held up for a while without overflowing a small queue.
func TestUnhurried(t *testing.T) {
	for _, c := range []struct {
		room, count int
		want        time.Duration
	}{{10, 1, 2 * msec}, {10, 5, 10 * msec}, {1000, 1, 20 * time.Microsecond}, {0, 1, 20 * msec}, {math.MaxInt, 1, 0}} {
		if got := unhurried(c.room, c.count); got != c.want {
			t.Errorf("room for %d, %d at once: %v, want %v", c.room, c.count, got, c.want)
		}
	}
}

// Arrivals that are late together make the rate less certain, and ones that
// scatter over everything say nothing.
func TestRateTolerance(t *testing.T) {
	asked := lab.Way{Rate: 10e6, Queue: lab.Queue{Packets: 50}}
	const size = 1250
	late := func(every, by time.Duration) Check {
		f := flood{series: overLink(asked, size, paced(1000, 800*time.Microsecond)), size: size}
		for i := range f.arrivals {
			f.arrivals[i].at += int64(by) * int64(i/int(every/msec)%2)
		}
		return judgeRate(lab.Up, asked, f)
	}
	quiet, busy, hopeless := late(100*msec, 0), late(100*msec, 5*msec), late(300*msec, 300*msec)
	wantState(t, quiet, Holds)
	wantState(t, busy, Holds)
	if *busy.Tolerance < 2**quiet.Tolerance || *quiet.Tolerance > 0.0025*10e6 {
		t.Errorf("tolerance %g when quiet, %g when busy", *quiet.Tolerance, *busy.Tolerance)
	}
	if hopeless.State == Holds {
		t.Errorf("arrivals within 300 ms: %+v", hopeless)
	}
}

// A series that the lab or the receiver spoilt is no evidence, whatever it shows.
func TestDisturbedSeriesAreUnchecked(t *testing.T) {
	w := lab.Way{Loss: lab.Loss{Share: 0.5}}
	for _, spoil := range []func(*series){
		func(s *series) { s.unseen = 1 }, func(s *series) { s.spoilt = 1 }, func(s *series) { s.overflow = 1 },
	} {
		s := lossSeries(make([]bool, 100))
		spoil(s)
		checks := judgeLoss(lab.Up, w, lossOf(w, lab.IPv4, 92, 1), LossShare, LossRun, s)
		wantState(t, find(t, checks, LossShare), Unchecked)
	}
	rules := lab.Way{Rules: "drop every 3"}
	wantState(t, find(t, judgeLoss(lab.Up, rules, lossOf(rules, lab.IPv4, 92, 1), LossShare, LossRun, lossSeries(make([]bool, 9))), LossShare), Unchecked)
}

func TestJudgeOrderAndCopies(t *testing.T) {
	inOrder := lab.Way{Delay: 20 * msec}
	reordering := lab.Way{Delay: 20 * msec, Reorder: lab.Reorder{Share: 0.05}}
	sent := paced(10_000, msec)
	carry := func(w lab.Way) *series {
		d := drawer{way: w, grid: delayGrid(lab.Way{Delay: w.Delay}), random: rand.New(rand.NewPCG(9, 9))}
		at := make([]int64, len(sent))
		d.draw(sent, at)
		s := &series{sent: sent}
		for i := range at {
			s.arrivals = append(s.arrivals, arrival{number: i, at: at[i]})
		}
		slices.SortStableFunc(s.arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
		return s
	}
	random := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	wantState(t, judgeOrder(lab.Up, inOrder, 92, carry(inOrder), random()), Holds)
	wantState(t, judgeOrder(lab.Up, inOrder, 92, carry(reordering), random()), Fails)
	wantState(t, judgeOrder(lab.Up, reordering, 92, carry(reordering), random()), Holds)
	wantState(t, judgeOrder(lab.Up, reordering, 92, carry(inOrder), random()), Fails)
	wantState(t, judgeOrder(lab.Up, reordering, 92, arrived(5), random()), Fails) // nothing arrived

	copies := lab.Way{Duplicate: lab.Chance{Share: 0.02}}
	s := carry(inOrder)
	wantState(t, judgeCopies(lab.Up, lab.Way{}, lossModel{}, s), Holds)
	wantState(t, judgeCopies(lab.Up, copies, lossModel{}, s), Fails)
	for i := 0; i < 10_000; i += 50 {
		s.arrivals = append(s.arrivals, arrival{number: i, at: s.sent[i]})
	}
	wantState(t, judgeCopies(lab.Up, copies, lossModel{}, s), Holds)
	wantState(t, judgeCopies(lab.Up, lab.Way{}, lossModel{}, s), Fails)
}

func TestJudgeAltered(t *testing.T) {
	w := lab.Way{Corrupt: lab.Chance{Share: 0.1}}
	open := lossSeries(make([]bool, 10_000))
	open.altered = 980 // 28 of 1400 bytes are headers
	checks := judgeAltered(lab.Up, w, 1400, 28, open, 0, 500)
	wantState(t, find(t, checks, Corrupted), Holds)
	wantState(t, find(t, checks, CorruptAccepted), Holds)
	open.altered = 300
	wantState(t, find(t, judgeAltered(lab.Up, w, 1400, 28, open, 0, 500), Corrupted), Fails)
	wantState(t, find(t, judgeAltered(lab.Up, w, 1400, 28, open, 1, 500), CorruptAccepted), Fails)
}

func TestJudgeRateAndQueue(t *testing.T) {
	asked := lab.Way{Delay: 10 * msec, Rate: 10e6, Queue: lab.Queue{Packets: 50}}
	const size = 1250 // 1 ms each
	sent := make([]int64, 60, 2000)
	for i := range sent {
		sent[i] = int64(time.Second) // the burst
	}
	sent = append(sent, paced(1900, 800*time.Microsecond)...)
	for _, c := range []struct {
		name              string
		carried           lab.Way
		rate, wait, queue State
	}{
		{"as asked", asked, Holds, Holds, Holds},
		{"9.8 instead of 10 Mbit/s", lab.Way{Delay: 10 * msec, Rate: 98e5, Queue: lab.Queue{Packets: 50}}, Fails, Holds, Holds},
		{"10.2 instead of 10 Mbit/s", lab.Way{Delay: 10 * msec, Rate: 102e5, Queue: lab.Queue{Packets: 50}}, Fails, Holds, Holds},
		{"14 bytes of overhead", lab.Way{Delay: 10 * msec, Rate: 10e6, Overhead: 14, Queue: lab.Queue{Packets: 50}}, Fails, Holds, Holds},
		{"a queue of 40 instead of 50", lab.Way{Delay: 10 * msec, Rate: 10e6, Queue: lab.Queue{Packets: 40}}, Holds, Fails, Fails},
		{"a queue in bytes that is as large", lab.Way{Delay: 10 * msec, Rate: 10e6, Queue: lab.Queue{Bytes: 62_500}}, Holds, Holds, Holds},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := flood{series: overLink(c.carried, size, sent), size: size, burst: 60}
			wantState(t, judgeRate(lab.Up, asked, f), c.rate)
			checks := judgeQueue(lab.Path{Up: asked}, lab.Up, f)
			wantState(t, find(t, checks, QueueWait), c.wait)
			wantState(t, find(t, checks, Queue), c.queue)
		})
	}
	// A sender that did not offer enough says nothing about the rate.
	slow := flood{series: overLink(asked, size, paced(1000, msec)), size: size}
	wantState(t, judgeRate(lab.Up, asked, slow), Unchecked)
	// What the receiver had no room for was on the wire.
	f := flood{series: overLink(asked, size, sent), size: size, burst: 60}
	var kept []arrival
	for i, a := range f.arrivals {
		if i%4 != 0 {
			a.before = i/4 + 1
			kept = append(kept, a)
		}
	}
	f.arrivals, f.unseen = kept, len(f.arrivals)-len(kept)
	wantState(t, judgeRate(lab.Up, asked, f), Holds)
	managed := asked
	managed.AQM.Kind = lab.CoDel
	wantState(t, find(t, judgeQueue(lab.Path{Up: managed}, lab.Up, f), QueueWait), Unchecked)
}

// What becomes of a queue's row: it never vanishes.
func TestJudgeHeld(t *testing.T) {
	asked := lab.Way{Delay: 10 * msec, Rate: 10e6, Queue: lab.Queue{Packets: 50}}
	const size = 1250
	sent := make([]int64, 80, 2000)
	for i := range sent {
		sent[i] = int64(time.Second) // the burst
	}
	sent = append(sent, paced(1900, 800*time.Microsecond)...)
	carried := func(w lab.Way) flood { return flood{series: overLink(w, size, sent), size: size, burst: 80} }

	// A burst that never overflowed is more than the queue should take in.
	roomy := asked
	roomy.Burst = 60_000
	c := find(t, judgeQueue(lab.Path{Up: asked}, lab.Up, carried(roomy)), Queue)
	wantState(t, c, Fails)
	if c.Measured == nil || *c.Measured != 79*size {
		t.Errorf("it took in %v B, want 79 packets at least", value(c.Measured))
	}
	// Jitter that keeps the order delays most packets, and is no queue.
	steady := asked
	steady.Jitter = lab.Jitter{Spread: 5 * msec, Distribution: lab.Normal, InOrder: true}
	wantState(t, find(t, judgeQueue(lab.Path{Up: steady}, lab.Up, carried(steady)), QueueWait), Holds)
	for name, spoil := range map[string]func(*lab.Way, *flood){
		"loss":       func(w *lab.Way, _ *flood) { w.Loss.Share = 0.01 },
		"corruption": func(w *lab.Way, _ *flood) { w.Corrupt.Share = 0.01 },
		"duplicates": func(w *lab.Way, _ *flood) { w.Duplicate.Share = 0.01 },
		"limit":      func(w *lab.Way, _ *flood) { w.Limit = 1000 },
		"disturbed":  func(_ *lab.Way, f *flood) { f.unseen = 1 },
		"held back":  func(_ *lab.Way, f *flood) { f.sent = slices.Clone(f.sent); f.sent[7] = 0 },
		"managed":    func(w *lab.Way, _ *flood) { w.AQM.Kind = lab.CoDel },
		"no burst":   func(_ *lab.Way, f *flood) { f.burst = 0 },
		"too slow":   func(_ *lab.Way, f *flood) { f.burst = 20 },
	} {
		w, f := asked, carried(asked)
		spoil(&w, &f)
		if c := find(t, judgeQueue(lab.Path{Up: w}, lab.Up, f), Queue); c.State != Unchecked || c.Note == "" {
			t.Errorf("%s: %s is %s: %q", name, c.Name, c.State, c.Note)
		}
	}
}

func TestJudgeMTU(t *testing.T) {
	silent, answered := lab.Way{MTU: 1400}, lab.Way{MTU: 1400, TooBig: true}
	for _, c := range []struct {
		name        string
		way         lab.Way
		found       mtuFinding
		mtu, tooBig State // tooBig "": no such check
	}{
		{"whole device", lab.Way{}, mtuFinding{mtu: 1500, device: true}, Holds, ""},
		{"black hole", silent, mtuFinding{mtu: 1400, dropped: true}, Holds, Holds},
		{"black hole that answers", silent, mtuFinding{mtu: 1400, dropped: true, tooBig: true, named: 1400}, Holds, Fails},
		{"answers", answered, mtuFinding{mtu: 1400, dropped: true, tooBig: true, named: 1400}, Holds, Holds},
		{"answers with another MTU", answered, mtuFinding{mtu: 1400, dropped: true, tooBig: true, named: 1300}, Holds, Fails},
		{"does not answer", answered, mtuFinding{mtu: 1400, dropped: true}, Holds, Fails},
		{"larger", silent, mtuFinding{mtu: 1500, device: true}, Fails, Unchecked},
		{"smaller", silent, mtuFinding{mtu: 1300, dropped: true}, Fails, Holds},
		{"nothing arrives", silent, mtuFinding{}, Fails, Unchecked},
	} {
		t.Run(c.name, func(t *testing.T) {
			checks := judgeMTU(lab.Down, lab.IPv4, c.way, mtu(c.way), c.found)
			wantState(t, find(t, checks, MTU), c.mtu)
			if c.tooBig == "" && len(checks) > 1 {
				t.Errorf("%+v", checks)
			}
			if c.tooBig != "" {
				wantState(t, find(t, checks, TooBig), c.tooBig)
			}
		})
	}
	for mtu, want := range map[int]bool{1227: true, 1228: false} {
		c := judgeMTU(lab.Up, lab.IPv4, lab.Way{MTU: mtu}, mtu, mtuFinding{mtu: mtu, dropped: true})[0]
		if got := strings.Contains(c.Note, "QUIC is impossible"); got != want {
			t.Errorf("an MTU of %d: %q", mtu, c.Note)
		}
	}
	for _, w := range []lab.Way{{Rules: "drop above 1400"}, {Loss: lab.Loss{Share: 1}}, {Delay: time.Minute}} {
		if mtuObstacle(w) == "" {
			t.Errorf("the MTU of %+v can be found", w)
		}
	}
}

func TestJudgeGoodput(t *testing.T) {
	p := lab.Path{Up: lab.Way{Rate: 10e6}}
	wantState(t, judgeGoodput(lab.Up, p, bulk{bytes: 9e6, took: 8 * time.Second}), Told)
	wantState(t, judgeGoodput(lab.Up, p, bulk{bytes: 15e6, took: 8 * time.Second}), Fails)
	wantState(t, judgeGoodput(lab.Down, p, bulk{bytes: 15e9, took: 8 * time.Second}), Told)
}

func TestChecksAreJSON(t *testing.T) {
	inf := judge("x", "up", "s", math.Inf(1), math.NaN(), 0, 0, "")
	wantState(t, inf, Fails)
	b, err := json.Marshal([]Check{inf, unchecked("y", "up", "1", 0, math.NaN(), 0, "why")})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"asked":null`, `"ok":false`, `"state":"unchecked","ok":null`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}
