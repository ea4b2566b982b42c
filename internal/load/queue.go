package load

import (
	"context"
	"sync"
)

// queue hands out requests in order to the lanes, each of which is a place for
// one connection that carries one request at a time.
type queue struct {
	mu       sync.Mutex
	next     int // the first request that waits
	requests int
	lanes    int // that have not ended
	opening  int // lanes whose connection is being opened
}

// take takes the first request that waits; ok is false when none does.
func (q *queue) take() (i int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == q.requests {
		return 0, false
	}
	q.next++
	return q.next - 1, true
}

// open says whether one more connection is wanted: whether more requests wait
// than connections are being opened already. If not, the lane ends.
func (q *queue) open() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.requests-q.next <= q.opening {
		q.lanes--
		return false
	}
	q.opening++
	return true
}

// opened says that a connection is not being opened any more.
func (q *queue) opened() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.opening--
}

// leave gives up a lane, and returns the requests that fail with it: the first
// that waits, or all of them when it was the last lane.
func (q *queue) leave() (from, to int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lanes--
	from = q.next
	if q.lanes == 0 {
		q.next = q.requests
	} else {
		q.next = min(q.next+1, q.requests)
	}
	return from, q.next
}

// queued carries out all requests on connections that carry one at a time.
// What is nil in conns is opened.
func (l *load) queued(ctx context.Context, conns []*connection) {
	// A connection that is still being opened when all requests have been
	// carried out is not waited for.
	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	q := &queue{requests: len(l.requests), lanes: len(conns)}
	for _, c := range conns {
		if c == nil {
			q.opening++
		}
	}
	var lanes, begun, left sync.WaitGroup
	left.Add(len(l.requests))
	begun.Add(len(conns))
	for _, c := range conns {
		lanes.Go(func() {
			begun.Done()
			if c == nil {
				c = l.dial(opening)
				q.opened()
			}
			// On a path without delay the first lane could do all the work
			// before the last one has tried to connect.
			begun.Wait()
			l.lane(ctx, opening, q, c, &left)
		})
	}
	left.Wait()
	cancel()
	lanes.Wait()
}

// lane carries out requests until none waits, on connection c and, when that
// is lost, on others. It gives up when one cannot be opened.
func (l *load) lane(ctx, opening context.Context, q *queue, c *connection, left *sync.WaitGroup) {
	for c.err == nil {
		i, ok := q.take()
		if !ok {
			return
		}
		c.claim(&l.requests[i], l.start)
		again := l.carry(ctx, c, i, func() {})
		left.Done()
		if again {
			continue
		}
		c.close()
		if !q.open() {
			return
		}
		c = l.dial(opening)
		q.opened()
	}
	from, to := q.leave()
	for i := from; i < to; i++ {
		c.claim(&l.requests[i], l.start)
		l.carry(ctx, c, i, func() {})
		left.Done()
	}
}
