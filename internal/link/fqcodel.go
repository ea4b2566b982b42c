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

// roster is a list of flows, which are numbered from 1, in the order of their
// turns.
type roster struct{ head, tail int }

func newFQCodel[P any](w lab.Way, m managed[P]) *fqCodel[P] {
	f := &fqCodel[P]{managed: m, quantum: w.AQM.Quantum}
	if f.quantum == 0 {
		f.quantum = int(m.mtu) + fqHeader
	}
	flows := w.AQM.Flows
	if flows == 0 {
		flows = fqFlows
	}
	f.flows = make([]fqFlow, flows)
	return f
}

func (f *fqCodel[P]) join(now time.Duration, e entry[P], most room) lab.Reason {
	i := int(e.flow%uint32(len(f.flows))) + 1
	flow := &f.flows[i-1]
	f.push(&flow.list, e, now)
	if !flow.active {
		flow.active, flow.credits = true, f.quantum
		f.append(&f.new, i)
	}
	kept := true
	for !most.holds(f.packets, f.bytes, 0) {
		kept = f.shed(now, flow) && kept
	}
	if !kept {
		return lab.DropQueue
	}
	return lab.NotDropped
}

// shed makes room: it drops the older half of the packets of the fattest flow.
// It is false when the packet that has just come, the last of its flow, is
// among them; that one is not reported.
func (f *fqCodel[P]) shed(now time.Duration, latest *fqFlow) bool {
	fattest := &f.flows[0]
	for i := range f.flows {
		if f.flows[i].bytes > fattest.bytes || fattest.packets == 0 {
			fattest = &f.flows[i]
		}
	}
	for range min(max(fattest.packets/2, 1), fqBatch) {
		e, _ := f.pop(&fattest.list)
		if fattest == latest && fattest.packets == 0 {
			return false
		}
		f.drop(now, e, lab.DropQueue)
	}
	return true
}

func (f *fqCodel[P]) take(now time.Duration) (e entry[P], marked, present bool) {
	for {
		from := &f.new
		if from.head == 0 {
			from = &f.old
		}
		if from.head == 0 {
			return e, false, false
		}
		i := from.head
		flow := &f.flows[i-1]
		// The RFC says "negative", and explains: at least a quantum was sent.
		if flow.credits <= 0 {
			flow.credits += f.quantum
			f.remove(from)
			f.append(&f.old, i)
			continue
		}
		if e, marked, present = f.dequeue(&flow.codelQueue, now); present {
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
	f.flows[i-1].next = 0
	if r.head == 0 {
		r.head = i
	} else {
		f.flows[r.tail-1].next = i
	}
	r.tail = i
}

// remove takes the first flow off a roster.
func (f *fqCodel[P]) remove(r *roster) { r.head = f.flows[r.head-1].next }
