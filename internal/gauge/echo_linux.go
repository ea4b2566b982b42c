package gauge

import (
	"fmt"
	"sync/atomic"
	"time"
)

// echoes is a train there and back: what it took each way and in all, in s, by
// those that came back.
type echoes struct {
	sent           int
	up, down, both []float64
}

// echo sends n datagrams to the server, which sends each of them back. The turn
// at the server is no part of the round trip.
func (w *wire) echo(n int, every, tail time.Duration) (echoes, error) {
	e := echoes{sent: n}
	id := trains.Add(1)
	var deadline atomic.Int64
	err := together(
		func() error {
			err := onThread(func() error { return w.ask(id, n, every) })
			deadline.Store(monotonic() + int64(tail))
			return err
		},
		func() error { return onThread(func() error { return w.turn(id, &e, n, &deadline) }) },
		func() error { return onThread(func() error { return w.answered(id, &e, n, &deadline) }) },
	)
	return e, err
}

func (w *wire) ask(id uint32, n int, every time.Duration) error {
	b := make([]byte, smallPayload)
	t := train{every: every}
	due := monotonic()
	for i := range n {
		due = t.pace(due)
		encode(b, id, i, stamps{sent: wallClock()})
		if err := w.client.send(b); err != nil {
			return fmt.Errorf("send probe: %w", err)
		}
	}
	return nil
}

// turn sends back what arrives at the server.
func (w *wire) turn(id uint32, e *echoes, n int, deadline *atomic.Int64) error {
	r := newReceiver(w.server)
	client := w.client.addr
	answer := make([]byte, smallPayload)
	seen := map[int]bool{}
	for !over(deadline, len(seen) >= n) {
		b, at, _, err := r.next()
		if err != nil {
			if mayWait(err) {
				continue
			}
			return fmt.Errorf("receive probe: %w", err)
		}
		train, i, s, ok := decode(b)
		if !ok || train != id || seen[i] {
			continue
		}
		seen[i] = true
		w.server.sighted(r.sender())
		e.up = append(e.up, float64(at-s.sent)/1e9)
		if from := r.sender(); from != client { // an address translation changed it
			client, w.server.to = from, sockaddr(from)
		}
		s.turned, s.returned = at, wallClock()
		encode(answer, id, i, s)
		if err := w.server.send(answer); err != nil {
			return fmt.Errorf("send probe back: %w", err)
		}
	}
	return nil
}

// answered gathers what arrives at the client.
func (w *wire) answered(id uint32, e *echoes, n int, deadline *atomic.Int64) error {
	r := newReceiver(w.client)
	seen := map[int]bool{}
	for !over(deadline, len(seen) >= n) {
		b, at, _, err := r.next()
		if err != nil {
			if mayWait(err) {
				continue
			}
			return fmt.Errorf("receive probe: %w", err)
		}
		train, i, s, ok := decode(b)
		if !ok || train != id || seen[i] {
			continue
		}
		seen[i] = true
		e.down = append(e.down, float64(at-s.returned)/1e9)
		e.both = append(e.both, float64(at-s.returned+s.turned-s.sent)/1e9)
	}
	return nil
}

// over says that a receiver is done: it has all, or its time is up.
func over(deadline *atomic.Int64, all bool) bool {
	end := deadline.Load()
	return all || end != 0 && monotonic() > end
}
