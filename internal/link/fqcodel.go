package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// FQ-CoDel's parameters where the path names none (RFC 8290, 5.2), and what it
// drops at most at a time when there is no room (4.1).
const (
	fqFlows  = 1024
	fqHeader = 14 // of Ethernet, which the quantum counts besides the MTU
	fqBatch  = 64
)

// fqCodel is FQ-CoDel as RFC 8290 has it: a queue under CoDel for each flow,
// served by deficit round robin, the flows that have just begun first.
//
// Linux (net/sched/sch_fq_codel.c) differs: when there is no room it drops half
// the bytes of the fattest flow, not half its packets, and adds what it dropped
// to that flow's count; it takes the backlog of all flows together, not the
// flow's own, for the one that must exceed an MTU; and its limit is 10240
// packets where none is named. Both the RFC and Linux salt their hash; here
// flows are the caller's affair.
type fqCodel[P any] struct {
	managed[P]
	flows    []fqFlow
	bytesOf  []int64 // of each flow, apart from it: they are looked through often
	old, new roster
	quantum  int
}

// fqFlow is the queue of the flows of one bucket.
type fqFlow struct {
	codelQueue
	credits int // bytes that it may still send in its turn
	next    int // in its roster
	active  bool
}

// roster is a list of flows in the order of their turns.
type roster struct{ head, tail, length int }

func newFQCodel[P any](w lab.Way, m managed[P]) *fqCodel[P] {
	f := &fqCodel[P]{managed: m, quantum: w.AQM.Quantum}
	if f.quantum == 0 {
		f.quantum = int(m.mtu) + fqHeader
	}
	flows := w.AQM.Flows
	if flows == 0 {
		flows = fqFlows
	}
	f.flows, f.bytesOf = make([]fqFlow, flows), make([]int64, flows)
	return f
}

func (f *fqCodel[P]) join(now time.Duration, e entry[P], most room) lab.Reason {
	i := int(e.flow % uint32(len(f.flows)))
	flow := &f.flows[i]
	f.push(&flow.list, e, now)
	f.bytesOf[i] = flow.bytes
	if !flow.active {
		flow.active, flow.credits = true, f.quantum
		f.append(&f.new, i)
	}
	kept := true
	for !most.holds(f.packets, f.bytes, 0) {
		kept = f.shed(now, i) && kept
	}
	if !kept {
		return lab.DropQueue
	}
	return lab.NotDropped
}

// shed makes room: it drops the older half of the packets of the fattest flow.
// It is false when the packet that has just come, the last of flow latest, is
// among them; that one is not reported.
func (f *fqCodel[P]) shed(now time.Duration, latest int) bool {
	i := f.fattest(latest)
	flow := &f.flows[i]
	for range min(max(flow.packets/2, 1), fqBatch) {
		e, _ := f.pop(&flow.list)
		f.bytesOf[i] = flow.bytes
		if i == latest && flow.packets == 0 {
			return false
		}
		f.drop(now, e, lab.DropQueue)
	}
	return true
}

// fattest is the flow of which most bytes wait; among equals the first, as in
// Linux; and latest where there are none (of empty packets).
func (f *fqCodel[P]) fattest(latest int) int {
	fattest, most := latest, int64(0)
	for i, bytes := range f.bytesOf {
		if bytes > most {
			fattest, most = i, bytes
		}
	}
	return fattest
}

func (f *fqCodel[P]) take(now time.Duration) (e entry[P], marked, present bool) {
	for {
		from := &f.new
		if from.length == 0 {
			from = &f.old
		}
		if from.length == 0 {
			return e, false, false
		}
		i := from.head
		flow := &f.flows[i]
		// The RFC says "negative", and explains: at least a quantum was sent.
		if flow.credits <= 0 {
			flow.credits += f.quantum
			f.remove(from)
			f.append(&f.old, i)
			continue
		}
		e, marked, present = f.dequeue(&flow.codelQueue, now)
		f.bytesOf[i] = flow.bytes
		if present {
			flow.credits -= e.size
			return e, marked, true
		}
		f.remove(from)
		if from == &f.new { // an empty flow must not come back as new at once, and starve the old ones
			f.append(&f.old, i)
		} else {
			flow.active = false
		}
	}
}

func (f *fqCodel[P]) append(r *roster, i int) {
	if r.length == 0 {
		r.head = i
	} else {
		f.flows[r.tail].next = i
	}
	r.tail = i
	r.length++
}

// remove takes the first flow off a roster.
func (f *fqCodel[P]) remove(r *roster) {
	r.head = f.flows[r.head].next
	r.length--
}
