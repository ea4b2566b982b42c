package link

import "time"

// fifo holds the packets that wait for the rate: when each starts to be sent,
// and its size.
type fifo struct {
	items []waiter
	head  int
	bytes int64
}

type waiter struct {
	start time.Duration
	size  int
}

func (f *fifo) len() int { return len(f.items) - f.head }

func (f *fifo) join(start time.Duration, size int) {
	if f.head > 64 && f.head*2 > len(f.items) {
		f.items = append(f.items[:0], f.items[f.head:]...)
		f.head = 0
	}
	f.items = append(f.items, waiter{start, size})
	f.bytes += int64(size)
}

func (f *fifo) leave(now time.Duration) {
	for f.head < len(f.items) && f.items[f.head].start <= now {
		f.bytes -= int64(f.items[f.head].size)
		f.head++
	}
	if f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
	}
}

// Queue holds packets until they are due: by time, and among equals in the
// order in which they were put. The zero value is empty and ready for use.
// It is not safe for concurrent use, and allocates only while it grows.
type Queue[P any] struct {
	heap []due[P] // a binary heap: no element is before its parent
	n    uint64
}

type due[P any] struct {
	at     time.Duration
	n      uint64
	packet P
}

func (d *due[P]) before(e *due[P]) bool { return d.at < e.at || d.at == e.at && d.n < e.n }

// Put adds a packet that is due at the given time.
func (q *Queue[P]) Put(at time.Duration, p P) {
	q.n++
	q.heap = append(q.heap, due[P]{at, q.n, p})
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
func (q *Queue[P]) Next() (at time.Duration, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// Pop takes the first packet out if it is due at time now, and says when it
// was due.
func (q *Queue[P]) Pop(now time.Duration) (p P, at time.Duration, ok bool) {
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
func (q *Queue[P]) Len() int { return len(q.heap) }

// sink moves the heap's first element down to its place.
func (q *Queue[P]) sink() {
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
