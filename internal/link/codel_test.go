package link

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

// arrival is a packet of a simulation. Its number is its place.
type arrival struct {
	at   time.Duration
	size int
	ect  bool
	flow uint32
}

// happening is what was decided of a packet, in the order of decisions.
type happening struct {
	Packet int
	At     time.Duration
	Drop   lab.Reason
	Marked bool
}

// aqmRate is the rate of these tests: a byte takes a microsecond.
const aqmRate = lab.Rate(8e6)

// perPacket is the time that a packet of 1500 B takes at it.
const perPacket = 1500 * time.Microsecond

// managedBy is what a sender does with packets. late, if any, is when it is
// told the time besides.
func managedBy(w lab.Way, packets []arrival, late func(next time.Duration) []time.Duration) []happening {
	var got []happening
	s := newSender(w, 0, func(_, at time.Duration, e entry[int], later lab.Fate) {
		got = append(got, happening{e.hold, at, later.Drop, later.Marked})
	})
	for i, p := range packets {
		if why := s.offer(p.at, &entry[int]{hold: i, size: p.size, ect: p.ect, flow: p.flow}); why != "" {
			got = append(got, happening{i, p.at, why, false})
		}
		next := forever
		if i+1 < len(packets) {
			next = packets[i+1].at
		}
		if late != nil {
			for _, at := range late(next) {
				s.advance(at)
			}
		}
	}
	s.advance(forever)
	return got
}

// reference is a queue of a simulation that follows an RFC to the letter.
type reference interface {
	enqueue(now time.Duration, packet int, log func(happening))
	// dequeue returns -1 where the RFC's returns NULL.
	dequeue(now time.Duration, log func(happening)) (packet int, marked bool)
	empty() bool
	full() bool
}

// simulated sends packets through a reference, event by event, at aqmRate.
func simulated(q reference, packets []arrival) []happening {
	var events []happening
	log := func(h happening) { events = append(events, h) }
	var free time.Duration
	for i := 0; i < len(packets) || !q.empty(); {
		if !q.empty() && (i == len(packets) || free <= packets[i].at) {
			if p, marked := q.dequeue(free, log); p >= 0 {
				free += time.Duration(packets[p].size) * time.Microsecond
				log(happening{p, free, "", marked})
			}
			continue
		}
		now := packets[i].at
		if _, single := q.(*rfc8289); single && q.full() && free > now {
			log(happening{i, now, lab.DropQueue, false})
		} else {
			q.enqueue(now, i, log)
		}
		free = max(free, now)
		i++
	}
	return events
}

// rfc8289 is the pseudocode of RFC 8289, section 5, with marks as in Linux.
type rfc8289 struct {
	packets []arrival
	queue   []int
	limit   int

	target, interval time.Duration
	ecn              bool

	firstAboveTime, dropNext time.Duration
	count, lastcount         uint32
	dropping                 bool
}

func (q *rfc8289) empty() bool { return len(q.queue) == 0 }
func (q *rfc8289) full() bool  { return q.limit > 0 && len(q.queue) >= q.limit }

func (q *rfc8289) bytes() (n int) {
	for _, p := range q.queue {
		n += q.packets[p].size
	}
	return n
}

func (q *rfc8289) enqueue(_ time.Duration, packet int, _ func(happening)) {
	q.queue = append(q.queue, packet)
}

func (q *rfc8289) law(t time.Duration, count uint32) time.Duration {
	return t + time.Duration(float64(q.interval)/math.Sqrt(float64(count)))
}

func (q *rfc8289) dodequeue(now time.Duration) (packet int, okToDrop bool) {
	if len(q.queue) == 0 {
		q.firstAboveTime = 0
		return -1, false
	}
	packet = q.queue[0]
	q.queue = q.queue[1:]
	sojourn := now - q.packets[packet].at
	switch {
	case sojourn < q.target || q.bytes() <= 1500:
		q.firstAboveTime = 0
	case q.firstAboveTime == 0:
		q.firstAboveTime = now + q.interval
	case now >= q.firstAboveTime:
		okToDrop = true
	}
	return packet, okToDrop
}

func (q *rfc8289) dequeue(now time.Duration, log func(happening)) (int, bool) {
	packet, okToDrop := q.dodequeue(now)
	mark := func() bool { return q.ecn && q.packets[packet].ect }
	drop := func() { log(happening{packet, now, lab.DropAQM, false}) }
	if q.dropping {
		if !okToDrop {
			q.dropping = false
		}
		for now >= q.dropNext && q.dropping {
			if mark() {
				q.count++
				q.dropNext = q.law(q.dropNext, q.count)
				return packet, true
			}
			drop()
			q.count++
			packet, okToDrop = q.dodequeue(now)
			if !okToDrop {
				q.dropping = false
			} else {
				q.dropNext = q.law(q.dropNext, q.count)
			}
		}
		return packet, false
	}
	if !okToDrop {
		return packet, false
	}
	marked := mark()
	if !marked {
		drop()
		packet, _ = q.dodequeue(now)
	}
	q.dropping = true
	delta := q.count - q.lastcount
	q.count = 1
	if delta > 1 && now-q.dropNext < 16*q.interval {
		q.count = delta
	}
	q.dropNext = q.law(now, q.count)
	q.lastcount = q.count
	return packet, marked
}

// jam makes packets that come in phases, too many and too few for aqmRate.
func jam(r *rand.Rand, n, flows int) []arrival {
	packets := make([]arrival, n)
	var now, mean time.Duration
	for i := range packets {
		if i%64 == 0 {
			mean = time.Duration(r.Int64N(int64(2 * perPacket)))
		}
		if r.IntN(4) > 0 {
			now += time.Duration(r.Int64N(int64(mean) + 1))
		}
		if r.IntN(3) == 0 {
			now = now.Truncate(time.Microsecond) // meet the ends of packets
		}
		size := 1500
		if r.IntN(3) == 0 {
			size = 40 + r.IntN(1461)
		}
		packets[i] = arrival{now, size, r.IntN(2) == 0, uint32(r.IntN(flows))}
		if i > 0 {
			packets[i].at = max(packets[i].at, packets[i-1].at)
		}
	}
	return packets
}

func TestCoDelAgainstTheRFC(t *testing.T) {
	resumed, drops, marks := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		w := lab.Way{Rate: aqmRate, AQM: lab.AQM{
			Kind: lab.CoDel, ECN: rapid.Bool().Draw(t, "ecn"),
			Target:   time.Duration(rapid.IntRange(1, 20).Draw(t, "target")) * milli,
			Interval: time.Duration(rapid.IntRange(5, 100).Draw(t, "interval")) * milli,
		}}
		w.Queue.Packets = rapid.SampledFrom([]int{1, 20, 1000}).Draw(t, "limit")
		packets := jam(r, 2000, 1)
		q := &rfc8289{packets: packets, limit: w.Queue.Packets, target: w.AQM.Target, interval: w.AQM.Interval, ecn: w.AQM.ECN}
		want := simulated(q, packets)
		if diff := cmp.Diff(want, managedBy(w, packets, nil)); diff != "" {
			t.Fatal(diff)
		}
		if q.lastcount > 1 {
			resumed++
		}
		for _, h := range want {
			if h.Drop == lab.DropAQM {
				drops++
			}
			if h.Marked {
				marks++
			}
		}
	})
	// Were the traffic tame, the comparison would say nothing.
	if resumed == 0 || drops < 1000 || marks < 100 {
		t.Errorf("only %d drops and %d marks; %d runs resumed a drop rate", drops, marks, resumed)
	}
}

// standing is a queue of n packets at once, that is then kept up by packets that
// come as fast as they are sent.
func standing(n, more int) []arrival {
	packets := make([]arrival, n, n+more)
	for i := range packets {
		packets[i] = arrival{size: 1500}
	}
	for i := range more {
		packets = append(packets, arrival{at: time.Duration(i+1) * perPacket, size: 1500})
	}
	return packets
}

// chosen are the times and places at which packets were dropped, or marked.
func chosen(events []happening, marked bool) (at []time.Duration) {
	for _, h := range events {
		if h.Drop == lab.DropAQM && !marked || h.Marked && marked {
			at = append(at, h.At)
		}
	}
	return at
}

// A queue that persists is brought back to target, and then left alone.
func TestCoDelBringsAQueueToTarget(t *testing.T) {
	w := lab.Way{Rate: aqmRate, AQM: lab.AQM{Kind: lab.CoDel}}
	packets := standing(80, 8000) // 120 ms
	events := managedBy(w, packets, nil)
	drops := chosen(events, false)
	if len(drops) == 0 {
		t.Fatal("nothing was dropped")
	}
	end := drops[len(drops)-1]
	if end > 3*time.Second {
		t.Errorf("packets are dropped until %v", end)
	}
	for _, h := range events {
		wait := h.At - perPacket - packets[h.Packet].at
		if h.Drop == "" && h.At > end+2*perPacket && wait > codelTarget {
			t.Fatalf("packet %d waits %v, after the last drop at %v", h.Packet, wait, end)
		}
	}
	// With a tail drop queue it stays.
	w.AQM = lab.AQM{}
	last := managedBy(w, packets, nil)
	if h := last[len(last)-1]; h.Drop != "" || h.At-packets[h.Packet].at < 115*milli {
		t.Errorf("without CoDel, the last packet waits %v", h.At-packets[h.Packet].at)
	}
}

// A burst that drains within an interval loses nothing; a longer one does.
func TestCoDelLetsBurstsPass(t *testing.T) {
	w := lab.Way{Rate: aqmRate, AQM: lab.AQM{Kind: lab.CoDel}}
	for _, tt := range []struct{ packets, drops int }{
		{66, 0}, // 99 ms
		{75, 1}, // 112.5 ms, and in target after 5 ms more than an interval
	} {
		if drops := chosen(managedBy(w, standing(tt.packets, 0), nil), false); len(drops) != tt.drops {
			t.Errorf("of a burst of %d packets %d are dropped, want %d", tt.packets, len(drops), tt.drops)
		}
	}
	// Bursts that come again and again, and drain in between.
	var packets []arrival
	for at := time.Duration(0); at < 10*time.Second; at += 100 * milli {
		for range 60 {
			packets = append(packets, arrival{at: at, size: 1500})
		}
	}
	if drops := chosen(managedBy(w, packets, nil), false); len(drops) != 0 {
		t.Errorf("%d packets of short bursts are dropped", len(drops))
	}
}

// The nth drop follows the one before after interval / sqrt(n), at the next
// packet that is taken then.
func TestCoDelDropSpacing(t *testing.T) {
	for _, ecn := range []bool{false, true} {
		w := lab.Way{Rate: aqmRate, Queue: lab.Queue{Packets: 5000}, AQM: lab.AQM{Kind: lab.CoDel, ECN: ecn}}
		packets := standing(3000, 3000)
		for i := range packets {
			packets[i].ect = true
		}
		at := chosen(managedBy(w, packets, nil), ecn)
		if len(at) < 400 {
			t.Fatalf("ECN %v: only %d drops", ecn, len(at))
		}
		if ecn { // a marked packet is sent
			for i := range at {
				at[i] -= perPacket
			}
		}
		// Above target from the fourth packet on, at 6 ms.
		due := 6*milli + codelInterval
		for n, got := range at[:400] {
			if got < due || got >= due+perPacket {
				t.Fatalf("ECN %v: drop %d at %v, want one within a packet of %v", ecn, n, got, due)
			}
			if n == 0 {
				due = got
			}
			due += time.Duration(float64(codelInterval) / math.Sqrt(float64(n+1)))
		}
	}
}

// Where a packet takes longer than the target, one that waits is no reason.
func TestCoDelLeavesAnMTU(t *testing.T) {
	w := lab.Way{Rate: 64e3, AQM: lab.AQM{Kind: lab.CoDel}} // 187.5 ms a packet
	var packets []arrival
	for i := range 200 {
		packets = append(packets, arrival{at: time.Duration(i/2) * 375 * milli, size: 1500})
	}
	if drops := chosen(managedBy(w, packets, nil), false); len(drops) != 0 {
		t.Errorf("%d of two packets at a time are dropped", len(drops))
	}
	for i := range 20 {
		packets = append(packets, arrival{at: time.Minute + time.Duration(i), size: 1500})
	}
	if drops := chosen(managedBy(w, packets, nil), false); len(drops) == 0 {
		t.Error("of twenty packets at a time none is dropped")
	}
}

// Packets that understand ECN are marked and arrive; others are dropped.
func TestCoDelMarks(t *testing.T) {
	w := lab.Way{Rate: aqmRate, AQM: lab.AQM{Kind: lab.CoDel, ECN: true}}
	for _, ect := range []bool{false, true} {
		packets := standing(500, 500)
		for i := range packets {
			packets[i].ect = ect
		}
		events := managedBy(w, packets, nil)
		drops, marks := len(chosen(events, false)), len(chosen(events, true))
		if ect && (drops > 0 || marks < 50) || !ect && (drops < 50 || marks > 0) {
			t.Errorf("ECN capable %v: %d drops, %d marks", ect, drops, marks)
		}
	}
	w.AQM.ECN = false
	packets := standing(500, 500)
	for i := range packets {
		packets[i].ect = true
	}
	if events := managedBy(w, packets, nil); len(chosen(events, true)) > 0 || len(chosen(events, false)) < 50 {
		t.Error("packets are marked though the path has no ECN")
	}
}

// While it has nothing to drop, CoDel is a tail drop queue, and so is FQ-CoDel
// with one flow, whatever the rate is like.
func TestAQMThatDoesNothing(t *testing.T) {
	ways := []lab.Way{
		{Rate: aqmRate}, {Rate: 12345678, Burst: 4000, Overhead: 14}, mahimahi(0, 1, 1, 5, 9, 10),
		rates("0,8mbit\n0.1,0bit\n0.15,80mbit\n0.5,7mbit"),
	}
	rapid.Check(t, func(t *rapid.T) {
		w := ways[rapid.IntRange(0, len(ways)-1).Draw(t, "way")]
		w.Queue.Packets = rapid.SampledFrom([]int{1, 10, 5000}).Draw(t, "limit")
		packets := jam(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), 1000, 1)
		want := managedBy(w, packets, nil)
		kinds := []lab.AQMKind{lab.CoDel}
		if w.Queue.Packets == 5000 { // FQ-CoDel would drop at the head
			kinds = append(kinds, lab.FQCoDel)
		}
		for _, kind := range kinds {
			w.AQM = lab.AQM{Kind: kind, Target: time.Hour}
			got := managedBy(w, packets, nil)
			if diff := cmp.Diff(byPacket(want), byPacket(got)); diff != "" {
				t.Fatalf("%s: %s", kind, diff)
			}
		}
	})
}

func byPacket(events []happening) []happening {
	return slices.SortedFunc(slices.Values(events), func(a, b happening) int { return a.Packet - b.Packet })
}

// How late the caller is changes nothing, neither does telling the time often;
// and next names the time of the next decision, no earlier and no later.
func TestAQMLatenessChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		w := rapid.SampledFrom([]lab.Way{{Rate: aqmRate}, {Rate: aqmRate, Burst: 5000}, mahimahi(1, 2, 2, 7), rates("0,8mbit\n0.1,0bit\n0.2,10mbit")}).Draw(t, "way")
		w.Queue.Packets = rapid.SampledFrom([]int{5, 50, 1000}).Draw(t, "limit")
		w.AQM = lab.AQM{
			Kind: rapid.SampledFrom([]lab.AQMKind{lab.CoDel, lab.FQCoDel}).Draw(t, "kind"), ECN: rapid.Bool().Draw(t, "ecn"),
			Target: 2 * milli, Interval: 20 * milli, Flows: 4,
		}
		packets := jam(r, 500, 6)
		want := managedBy(w, packets, nil)
		var now time.Duration
		often := func(next time.Duration) (times []time.Duration) {
			for range r.IntN(3) {
				now += time.Duration(r.Int64N(int64(max(min(next, now+10*perPacket)-now, 0)) + 1))
				times = append(times, now)
			}
			return times
		}
		if diff := cmp.Diff(want, managedBy(w, packets, often)); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(want, inTime(t, w, packets)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// inTime is what a sender does whose caller is never late.
func inTime(t *rapid.T, w lab.Way, packets []arrival) []happening {
	var got []happening
	s := newSender(w, 0, func(_, at time.Duration, e entry[int], later lab.Fate) {
		got = append(got, happening{e.hold, at, later.Drop, later.Marked})
	})
	until := func(end time.Duration) {
		for at, ok := s.next(); ok && at <= end; at, ok = s.next() {
			n := len(got)
			if s.advance(at - 1); len(got) != n {
				t.Fatalf("something was decided before %d", at)
			}
			if s.advance(at); len(got) == n {
				t.Fatalf("nothing was decided at %d", at)
			}
		}
	}
	for i, p := range packets {
		until(p.at)
		if why := s.offer(p.at, &entry[int]{hold: i, size: p.size, ect: p.ect, flow: p.flow}); why != "" {
			got = append(got, happening{i, p.at, why, false})
		}
	}
	until(forever)
	return got
}
