package link

import (
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// CoDel's parameters where the path names none (RFC 8289, 4.3 and 4.4).
const (
	codelTarget   = 5 * time.Millisecond
	codelInterval = 100 * time.Millisecond
)

// codel is CoDel as RFC 8289 has it in section 5, whose names it keeps. It
// decides when a packet is taken out of a queue, by how long that packet has
// waited there.
//
// Linux (include/net/codel_impl.h) differs: it compares times in units of 1024
// ns, approximates the square root, adds the link's header to the MTU, and
// waits until it is later than first_above_time and not as late. Marking
// instead of dropping is not in the RFC's pseudocode; it is done as in Linux: a
// packet is marked and sent, so that there is one signal a packet at most.
type codel struct {
	target, interval time.Duration
	mtu              int64 // a queue of no more than this is not above target
	ecn              bool
}

func newCodel(w lab.Way) codel {
	c := codel{target: w.AQM.Target, interval: w.AQM.Interval, mtu: int64(w.MTU), ecn: w.AQM.ECN}
	if c.target == 0 {
		c.target = codelTarget
	}
	if c.interval == 0 {
		c.interval = codelInterval
	}
	if c.mtu == 0 {
		c.mtu = lab.DefaultMTU
	}
	return c
}

// controlLaw is when to drop next, after the drop of number count.
func (c *codel) controlLaw(t time.Duration, count uint32) time.Duration {
	return t + time.Duration(float64(c.interval)/math.Sqrt(float64(count)))
}

// codelQueue is one queue under CoDel.
type codelQueue struct {
	list
	firstAbove time.Duration // when it will have been above target for an interval; 0 means that it is below
	dropNext   time.Duration
	count      uint32 // drops since it began to drop
	lastCount  uint32 // count when it began to drop
	dropping   bool
}

// okToDrop says whether a packet that has come out of the queue may be dropped:
// what waits has been above target for an interval.
func (q *codelQueue) okToDrop(c *codel, now, sojourn time.Duration) bool {
	if sojourn < c.target || q.bytes <= c.mtu {
		q.firstAbove = 0
		return false
	}
	if q.firstAbove == 0 {
		q.firstAbove = now + c.interval
		return false
	}
	return now >= q.firstAbove
}

// startDropping enters the dropping state. When the last one was left a short
// time ago, its drop rate is a good one to start with.
func (q *codelQueue) startDropping(c *codel, now time.Duration) {
	q.dropping = true
	delta := q.count - q.lastCount
	q.count = 1
	if delta > 1 && now-q.dropNext < 16*c.interval {
		q.count = delta
	}
	q.dropNext = c.controlLaw(now, q.count)
	q.lastCount = q.count
}

// managed is the packets that wait in queues under CoDel.
type managed[P any] struct {
	codel
	held[P]
	drop func(now time.Duration, e entry[P], why lab.Reason)
}

// dodequeue takes out the first packet of a queue, and says whether it may be
// dropped. present is false when there is none.
func (m *managed[P]) dodequeue(q *codelQueue, now time.Duration) (e entry[P], okToDrop, present bool) {
	if q.packets == 0 {
		q.firstAbove = 0
		return e, false, false
	}
	e, came := m.pop(&q.list)
	return e, q.okToDrop(&m.codel, now, now-came), true
}

// dequeue takes out of a queue the packet that is to be sent, and drops what
// CoDel wants dropped before it. present is false when nothing is left then.
func (m *managed[P]) dequeue(q *codelQueue, now time.Duration) (e entry[P], marked, present bool) {
	e, okToDrop, present := m.dodequeue(q, now)
	if !q.dropping {
		if !okToDrop {
			return e, false, present
		}
		marked = m.ecn && e.ect
		if !marked {
			m.drop(now, e, lab.DropAQM)
			e, _, present = m.dodequeue(q, now)
		}
		q.startDropping(&m.codel, now)
		return e, marked, present
	}
	q.dropping = okToDrop
	// Much waiting may ask for more than one drop at a time.
	for q.dropping && now >= q.dropNext && !marked {
		q.count++
		marked = m.ecn && e.ect
		if !marked {
			m.drop(now, e, lab.DropAQM)
			e, q.dropping, present = m.dodequeue(q, now)
		}
		if q.dropping {
			q.dropNext = m.controlLaw(q.dropNext, q.count)
		}
	}
	return e, marked, present
}

// single is one queue for all packets.
type single[P any] struct {
	managed[P]
	queue codelQueue
}

func (s *single[P]) join(now time.Duration, e entry[P], most room) lab.Reason {
	if !most.holds(s.packets+1, s.bytes+int64(e.size), 0) {
		return lab.DropQueue
	}
	s.push(&s.queue.list, e, now)
	return lab.NotDropped
}

func (s *single[P]) take(now time.Duration) (e entry[P], marked, present bool) {
	return s.dequeue(&s.queue, now)
}
