package link

import "time"

// line is the delay line of a direction. It holds packets until they are due:
// by time, and among equals in the order in which they were put. It allocates
// only while it grows.
//
// Most packets are due after those before them: these stand in a ring, and only
// those that overtake go into a heap.
type line[P any] struct {
	ring  []due[P] // a power of two, or none
	head  int      // of the ring's first
	held  int      // in the ring
	heap  []due[P] // a binary heap: no element is before its parent
	count *uint64  // of all packets put on the link, both directions together
}

type due[P any] struct {
	at     time.Duration
	n      uint64
	packet P
}

func (d *due[P]) before(e *due[P]) bool { return d.at < e.at || d.at == e.at && d.n < e.n }

// Put adds a packet that is due at the given time.
func (q *line[P]) Put(at time.Duration, p P) { *q.add(at) = p }

// add is Put for a packet that is then made where it is to lie: there is nothing
// yet.
func (q *line[P]) add(at time.Duration) *P {
	*q.count++
	if q.held == 0 || q.ring[q.place(q.held-1)].at <= at {
		if q.held == len(q.ring) {
			q.grow()
		}
		q.held++
		last := &q.ring[q.place(q.held-1)]
		last.at, last.n = at, *q.count
		return &last.packet
	}
	q.heap = append(q.heap, due[P]{at: at, n: *q.count})
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !q.heap[i].before(&q.heap[parent]) {
			break
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
	return &q.heap[i].packet
}

// place is where the ring's ith is.
func (q *line[P]) place(i int) int { return (q.head + i) & (len(q.ring) - 1) }

func (q *line[P]) grow() {
	ring := make([]due[P], max(16, 2*len(q.ring)))
	n := copy(ring, q.ring[q.head:])
	copy(ring[n:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

// peek is the first packet; nil when there is none.
func (q *line[P]) peek() *due[P] {
	switch {
	case q.held == 0 && len(q.heap) == 0:
		return nil
	case len(q.heap) == 0 || q.held > 0 && q.ring[q.head].before(&q.heap[0]):
		return &q.ring[q.head]
	default:
		return &q.heap[0]
	}
}

// Next returns when the first packet is due; ok is false when there is none.
func (q *line[P]) Next() (at time.Duration, ok bool) {
	first := q.peek()
	if first == nil {
		return 0, false
	}
	return first.at, true
}

// Pop takes the first packet out if it is due at time now, and says when it
// was due.
func (q *line[P]) Pop(now time.Duration) (p P, at time.Duration, ok bool) {
	first := q.peek()
	if first == nil || first.at > now {
		return p, 0, false
	}
	p, at = first.packet, first.at
	q.drop(first)
	return p, at, true
}

// drop lets go of the first packet, which peek has returned.
func (q *line[P]) drop(first *due[P]) {
	if q.held > 0 && first == &q.ring[q.head] {
		*first = due[P]{}
		q.head = q.place(1)
		q.held--
		return
	}
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = due[P]{}
	q.heap = q.heap[:last]
	q.sink()
}

// Len is the number of packets held.
func (q *line[P]) Len() int { return q.held + len(q.heap) }

// sink moves the heap's first element down to its place.
func (q *line[P]) sink() {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(q.heap); child++ {
			if q.heap[child].before(&q.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
