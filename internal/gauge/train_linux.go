package gauge

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// train is a series of datagrams to be sent one way.
type train struct {
	n       int
	payload int           // bytes of each
	every   time.Duration // least time between two, or between two super-packets
	catchUp bool          // after a delay of the sender send what is overdue at once, to keep the rate
	burst   int           // of the first so many are sent at once
	joined  int           // datagrams to a super-packet (UDP_SEGMENT); 0 and 1: none
	ect     bool          // marked as understanding ECN: ECT(0) (RFC 3168)
	open    bool          // without a checksum, so that the receiver sees altered content
	tail    time.Duration // how long the last one may take
	copies  bool          // some may arrive twice: wait for the tail even when all have arrived
	enough  int           // arrivals after which no more are sent or waited for; 0: all
}

// trains gives each train its identity, so that a straggler of one is not taken
// for another's.
var trains atomic.Uint32

// run sends the train and gathers what arrives. from and to are sockets of the
// two hosts.
func (t train) run(from, to *socket) (*series, error) {
	s := &series{sent: make([]int64, t.n), arrivals: make([]arrival, 0, t.n+t.n/8)}
	id := trains.Add(1)
	before := to.drops()      // for wrong checksums too
	var deadline atomic.Int64 // of the receiver, on the monotonic clock; 0: not yet
	var satisfied atomic.Bool
	err := together(
		func() error {
			err := onThread(func() error { return t.send(from, to, id, s.sent, &satisfied) })
			deadline.Store(monotonic() + int64(t.tail))
			return err
		},
		func() error {
			defer satisfied.Store(true)
			return onThread(func() error { return t.receive(to, id, s, uint32(before), &deadline) })
		},
	)
	return s, err
}

func (t train) send(from, to *socket, id uint32, sent []int64, satisfied *atomic.Bool) error {
	if err := t.prepare(from, to); err != nil {
		return err
	}
	defer t.restore(from, to)
	joined := max(t.joined, 1)
	b := make([]byte, t.payload*joined)
	due := monotonic()
	for i := 0; i < t.n && !satisfied.Load(); i += joined {
		if i >= t.burst {
			due = t.pace(due)
		} else if i%burstBatch == 0 { // what reads the device must keep up
			sleepUntil(due)
			due += burstBatch * int64(burstSpacing)
		}
		k := min(joined, t.n-i)
		for j := range k {
			encode(b[j*t.payload:(j+1)*t.payload], id, i+j, stamps{})
		}
		now := wallClock()
		switch err := from.send(b[:k*t.payload]); {
		case err == nil:
			for j := range k {
				sent[i+j] = now
			}
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOBUFS):
			// the sender's own buffers were full: not sent
		default:
			return fmt.Errorf("send probe: %w", err)
		}
	}
	return nil
}

// A burst is sent in batches, 200,000 packets a second: that is above any rate
// that is measured so, and what reads the device can keep up.
const (
	burstBatch   = 50
	burstSpacing = 5 * time.Microsecond
)

// pace waits until the next is due and returns when that was.
func (t train) pace(due int64) int64 {
	due += int64(t.every)
	now := monotonic()
	if now < due {
		sleepUntil(due)
		return due
	}
	if t.catchUp {
		return due
	}
	return now
}

func (t train) prepare(from, to *socket) error {
	if t.joined > 1 {
		if err := unix.SetsockoptInt(from.fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, t.payload); err != nil {
			return fmt.Errorf("ask for segmentation offload: %w", err)
		}
	}
	if t.open {
		if err := from.checksums(to, false); err != nil {
			return fmt.Errorf("send without checksums: %w", err)
		}
	}
	if t.ect {
		if err := from.trafficClass(ectZero); err != nil {
			return fmt.Errorf("send datagrams that understand ECN: %w", err)
		}
	}
	return nil
}

func (t train) restore(from, to *socket) {
	_ = from.trafficClass(0)
	_ = unix.SetsockoptInt(from.fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, 0)
	_ = from.checksums(to, true)
}

// receive gathers the train's arrivals until all are there and nothing more
// comes, or the deadline passes.
func (t train) receive(to *socket, id uint32, s *series, before uint32, deadline *atomic.Int64) error {
	r := newReceiver(to)
	enough := t.n
	switch {
	case t.copies:
		enough = math.MaxInt
	case t.enough > 0:
		enough = t.enough
	}
	for {
		b, at, dropped, err := r.next()
		if mayWait(err) {
			if over(deadline, len(s.arrivals) >= enough) {
				return nil
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("receive probe: %w", err)
		}
		train, number, _, ok := decode(b)
		switch {
		case !ok:
			s.altered++
		case train == id && number < len(s.sent):
			if r.class&congested == congested {
				s.marked++
			}
			if !t.open { // a bit may be flipped in it
				to.sighted(r.sender())
			}
			s.arrivals = append(s.arrivals, arrival{number, at, len(b) + to.header(), int(dropped - before)})
		}
	}
}
