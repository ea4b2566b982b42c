package link

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

// rfc8290 is what RFC 8290, section 4, says of queues, lists and credits.
type rfc8290 struct {
	packets []arrival
	queues  []*rfcQueue
	fresh   []*rfcQueue // the list of new queues
	old     []*rfcQueue
	quantum int
	limit   int
}

type rfcQueue struct {
	rfc8289
	credits int
}

func newRFC8290(packets []arrival, w lab.Way) *rfc8290 {
	q := &rfc8290{packets: packets, quantum: w.AQM.Quantum, limit: w.Queue.Packets}
	for range w.AQM.Flows {
		q.queues = append(q.queues, &rfcQueue{rfc8289: rfc8289{
			packets: packets, target: w.AQM.Target, interval: w.AQM.Interval, ecn: w.AQM.ECN,
		}})
	}
	return q
}

func (q *rfc8290) total() (n int) {
	for _, x := range q.queues {
		n += len(x.queue)
	}
	return n
}

func (q *rfc8290) empty() bool { return q.total() == 0 }
func (q *rfc8290) full() bool  { return q.total() >= q.limit }

func (q *rfc8290) active(x *rfcQueue) bool {
	for _, list := range [][]*rfcQueue{q.fresh, q.old} {
		for _, y := range list {
			if x == y {
				return true
			}
		}
	}
	return false
}

func (q *rfc8290) enqueue(now time.Duration, packet int, log func(happening)) {
	x := q.queues[int(q.packets[packet].flow)%len(q.queues)]
	x.queue = append(x.queue, packet)
	if !q.active(x) {
		x.credits = q.quantum
		q.fresh = append(q.fresh, x)
	}
	if q.total() <= q.limit {
		return
	}
	largest := q.queues[0]
	for _, y := range q.queues {
		if y.bytes() > largest.bytes() {
			largest = y
		}
	}
	for range min(max(len(largest.queue)/2, 1), 64) {
		log(happening{largest.queue[0], now, lab.DropQueue, false})
		largest.queue = largest.queue[1:]
	}
}

func (q *rfc8290) dequeue(now time.Duration, log func(happening)) (int, bool) {
	for len(q.fresh)+len(q.old) > 0 {
		isNew := len(q.fresh) > 0
		list := &q.old
		if isNew {
			list = &q.fresh
		}
		x := (*list)[0]
		if x.credits <= 0 {
			x.credits += q.quantum
			*list = (*list)[1:]
			q.old = append(q.old, x)
			continue
		}
		packet, marked := x.dequeue(now, log)
		if packet >= 0 {
			x.credits -= q.packets[packet].size
			return packet, marked
		}
		*list = (*list)[1:]
		if isNew {
			q.old = append(q.old, x)
		}
	}
	return -1, false
}

func TestFQCoDelAgainstTheRFC(t *testing.T) {
	overflows, drops, marks := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		w := lab.Way{Rate: aqmRate, AQM: lab.AQM{
			Kind: lab.FQCoDel, ECN: rapid.Bool().Draw(t, "ecn"), Flows: rapid.IntRange(1, 20).Draw(t, "buckets"),
			Target:   time.Duration(rapid.IntRange(1, 20).Draw(t, "target")) * milli,
			Interval: time.Duration(rapid.IntRange(5, 100).Draw(t, "interval")) * milli,
			Quantum:  rapid.SampledFrom([]int{100, 300, 1514, 5000}).Draw(t, "quantum"),
		}}
		w.Queue.Packets = rapid.SampledFrom([]int{1, 30, 200, 1000}).Draw(t, "limit")
		packets := jam(r, 2000, rapid.IntRange(1, 30).Draw(t, "flows"))
		want := simulated(newRFC8290(packets, w), packets)
		if diff := cmp.Diff(want, managedBy(w, packets, nil)); diff != "" {
			t.Fatal(diff)
		}
		for _, h := range want {
			switch {
			case h.Drop == lab.DropQueue:
				overflows++
			case h.Drop == lab.DropAQM:
				drops++
			case h.Marked:
				marks++
			}
		}
	})
	if overflows < 1000 || drops < 1000 || marks < 100 {
		t.Errorf("only %d overflows, %d drops and %d marks", overflows, drops, marks)
	}
}

// A sparse flow waits for no more than the packet that is being sent, however
// much of a bulk flow waits; the bulk flow keeps its queue at bay.
func TestFQCoDelSparseFlow(t *testing.T) {
	w := lab.Way{Rate: aqmRate, AQM: lab.AQM{Kind: lab.FQCoDel}}
	var packets []arrival
	for i := range 4000 {
		packets = append(packets, arrival{at: time.Duration(i) * perPacket, size: 1500, flow: 1})
		if i == 0 { // what waits then is never sent without drops
			for range 100 {
				packets = append(packets, arrival{size: 1500, flow: 1})
			}
		}
		if i%40 == 20 {
			packets = append(packets, arrival{at: time.Duration(i)*perPacket + time.Duration(i)*time.Microsecond/4, size: 100, flow: 2})
		}
	}
	sparse := 0
	for _, h := range managedBy(w, packets, nil) {
		p := packets[h.Packet]
		if p.flow != 2 {
			continue
		}
		sparse++
		if wait := h.At - p.at - 100*time.Microsecond; h.Drop != "" || h.Marked || wait > perPacket {
			t.Errorf("packet %d of the sparse flow waits %v: %+v", h.Packet, wait, h)
		}
	}
	if sparse != 100 {
		t.Errorf("%d packets of the sparse flow", sparse)
	}
}

// While several flows have packets waiting, none gets more than a quantum, and
// a packet, ahead of another, whatever the sizes of their packets.
func TestFQCoDelShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(40, 1500), 2, 5).Draw(t, "sizes")
		quantum := rapid.SampledFrom([]int{300, 1514, 6000}).Draw(t, "quantum")
		w := lab.Way{Rate: aqmRate, Queue: lab.Queue{Packets: 100000}, AQM: lab.AQM{Kind: lab.FQCoDel, Quantum: quantum, Target: time.Hour}}
		var packets []arrival
		for flow, size := range sizes {
			for range 100_000 / size {
				packets = append(packets, arrival{size: size, flow: uint32(flow)})
			}
		}
		sent := make([]int, len(sizes))
		for _, h := range managedBy(w, packets, nil) {
			p := packets[h.Packet]
			sent[p.flow] += p.size
			if sent[p.flow] > 100_000-1500-quantum {
				break // soon one of them will have nothing left
			}
			for other := range sent {
				if ahead := sent[p.flow] - sent[other]; ahead > 2*(quantum+1500) {
					t.Fatalf("flow %d is %d bytes ahead of flow %d", p.flow, ahead, other)
				}
			}
		}
	})
}

// Two flows, one of large and one of small packets, have the same share of the
// rate, within a quantum, at the end of every round.
func TestFQCoDelTwoFlows(t *testing.T) {
	w := lab.Way{Rate: aqmRate, Queue: lab.Queue{Packets: 100000}, AQM: lab.AQM{Kind: lab.FQCoDel, Target: time.Hour}}
	var packets []arrival
	for i := range 15000 {
		packets = append(packets, arrival{size: 100, flow: 1})
		if i%15 == 0 {
			packets = append(packets, arrival{size: 1500, flow: 2})
		}
	}
	var sent [3]int
	for _, h := range managedBy(w, packets, nil)[:15000] {
		p := packets[h.Packet]
		sent[p.flow] += p.size
		if d := sent[1] - sent[2]; d > 1514+1500 || d < -(1514+1500) {
			t.Fatalf("%d and %d bytes after %v", sent[1], sent[2], h.At)
		}
	}
}

// When there is no room, the oldest half of the flow with most bytes goes, up
// to 64 packets, and not what has just come.
func TestFQCoDelOverflow(t *testing.T) {
	w := lab.Way{Rate: aqmRate, Queue: lab.Queue{Packets: 200}, AQM: lab.AQM{Kind: lab.FQCoDel, Target: time.Hour}}
	for _, tt := range []struct {
		name        string
		bulk, small int // packets of 1500 B, and of 100 B, that come before one more of these
		first, n    int // what is dropped of the bulk flow
	}{
		{"half", 61, 140, 1, 30}, // the first is being sent
		{"a batch", 181, 20, 1, 64},
	} {
		var packets []arrival
		for range tt.bulk {
			packets = append(packets, arrival{size: 1500, flow: 1})
		}
		for range tt.small + 1 {
			packets = append(packets, arrival{size: 100, flow: 2})
		}
		var dropped []int
		for _, h := range managedBy(w, packets, nil) {
			if h.Drop == lab.DropQueue {
				dropped = append(dropped, h.Packet)
			}
		}
		var want []int
		for i := range tt.n {
			want = append(want, tt.first+i)
		}
		if diff := cmp.Diff(want, dropped); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// A packet that makes no room for itself is dropped when it is offered, and not
// later; the limit may be one of bytes.
func TestFQCoDelDropsWhatComes(t *testing.T) {
	w := lab.Way{Rate: aqmRate, Queue: lab.Queue{Bytes: 1600}, AQM: lab.AQM{Kind: lab.FQCoDel}}
	s := newSending(w, 0)
	for i, step := range []struct {
		size int
		flow uint32
		want lab.Reason
	}{
		{1500, 1, ""}, // is being sent
		{200, 1, ""},
		{1500, 2, lab.DropQueue}, // the largest flow is its own
		{900, 2, ""},
		{700, 3, ""}, // makes that of flow 2 go
	} {
		s.offered++
		if why := s.offer(0, &entry[int]{hold: i, size: step.size, flow: step.flow}); why != step.want {
			t.Errorf("packet %d: %q, want %q", i, why, step.want)
		}
	}
	s.advance(forever)
	want := []departure{
		{1500 * time.Microsecond, 0, lab.Fate{}},
		{0, 3, lab.Fate{Drop: lab.DropQueue}},
		{1700 * time.Microsecond, 1, lab.Fate{}},
		{2400 * time.Microsecond, 4, lab.Fate{}},
	}
	if diff := cmp.Diff(want, s.out, cmp.AllowUnexported(departure{})); diff != "" {
		t.Error(diff)
	}
}

// A flow that sends a packet whenever its queue has run empty does not starve
// those that wait: RFC 8290, 4.2, on moving empty new queues to the old ones.
func TestFQCoDelDoesNotStarve(t *testing.T) {
	w := lab.Way{Rate: aqmRate, AQM: lab.AQM{Kind: lab.FQCoDel, Target: time.Hour}}
	packets := []arrival{{size: 1500, flow: 1}}
	for range 20 {
		packets = append(packets, arrival{size: 1500, flow: 1})
	}
	for i := range 200 { // flow 2 comes back just as its last packet is being sent
		packets = append(packets, arrival{at: time.Duration(i)*perPacket + perPacket/2, size: 1500, flow: 2})
	}
	last := map[uint32]time.Duration{}
	for _, h := range managedBy(w, packets, nil) {
		last[packets[h.Packet].flow] = h.At
	}
	if at := last[1]; at > 50*perPacket {
		t.Errorf("the flow that waits has been sent only after %v", at)
	}
}

// With AQM too, a limit in time is one on how much may wait.
func TestAQMQueueInTime(t *testing.T) {
	for _, kind := range []lab.AQMKind{lab.CoDel, lab.FQCoDel} {
		s := newSending(lab.Way{Rate: aqmRate, Queue: lab.Queue{Time: 10 * milli}, AQM: lab.AQM{Kind: kind}}, 0)
		for range 100 {
			s.give(0, 1000)
		}
		if n := s.waits(0); n > 10_000 || n < 5_000 {
			t.Errorf("%s: %d bytes wait, of 10000 in 10 ms", kind, n)
		}
	}
}

// A flood does not make a queue hold more than its limit.
func TestAQMMemoryIsBounded(t *testing.T) {
	for _, w := range []lab.Way{
		{Rate: 1e6, Queue: lab.Queue{Packets: 100}, AQM: lab.AQM{Kind: lab.CoDel, ECN: true}},
		{Rate: 1e6, Queue: lab.Queue{Packets: 100}, AQM: lab.AQM{Kind: lab.FQCoDel, ECN: true}},
		{Rate: 1e6, Queue: lab.Queue{Bytes: 20_000}, AQM: lab.AQM{Kind: lab.FQCoDel}},
	} {
		s, outs := newSending(w, 0), 0
		for i := range 1_000_000 {
			size := 200 + i%1300
			s.offer(time.Duration(i)*time.Microsecond, &entry[int]{size: size, ect: i%2 == 0, flow: uint32(i % 5000)})
			outs, s.out = outs+len(s.out), s.out[:0]
		}
		n := 0
		switch q := s.aqm.(type) {
		case *single[int]:
			n = len(q.nodes)
		case *fqCodel[int]:
			n = len(q.nodes)
		}
		if n == 0 || n > 101 {
			t.Errorf("%+v: room for %d packets", w, n)
		}
		if outs == 0 {
			t.Error("nothing came out")
		}
	}
}
