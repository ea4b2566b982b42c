package link

import "time"

// line is the delay line of a direction. It holds packets until they are due:
// by time, and among equals in the order in which they were put. It allocates
// only while it grows.
type line[P any] struct {
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
func (q *line[P]) Put(at time.Duration, p P) {
	*q.count++
	q.heap = append(q.heap, due[P]{at, *q.count, p})
	for i := len(q.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.heap[i].before(&q.heap[parent]) {
			break
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

// Next returns when the first packet is due; ok is false when there is none.
func (q *line[P]) Next() (at time.Duration, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// Pop takes the first packet out if it is due at time now, and says when it
// was due.
func (q *line[P]) Pop(now time.Duration) (p P, at time.Duration, ok bool) {
	if len(q.heap) == 0 || q.heap[0].at > now {
		return p, 0, false
	}
	first := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = due[P]{} // let go of the packet
	q.heap = q.heap[:last]
	q.sink()
	return first.packet, first.at, true
}

// Len is the number of packets held.
func (q *line[P]) Len() int { return len(q.heap) }

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
