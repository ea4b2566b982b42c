package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// sender is what stands before the rate: the queue, and the rate itself.
type sender[P any] struct {
	rate  lab.Rate
	limit limit
	out   func(leaves time.Duration, e entry[P], later lab.Fate)

	// free is when the link will have sent all that it accepted, and frac
	// what of a nanosecond is to be added to it, in 1/rate.
	free    time.Duration
	frac    int64
	waiting fifo
}

// limit is a queue limit in packets or bytes; the zero limit is none.
type limit struct {
	packets int
	bytes   int64
}

func newSender[P any](w lab.Way, rtt time.Duration, out func(leaves time.Duration, e entry[P], later lab.Fate)) *sender[P] {
	return &sender[P]{rate: w.Rate, limit: queueLimit(w, rtt), out: out}
}

func queueLimit(w lab.Way, rtt time.Duration) limit {
	switch {
	case w.Rate == 0:
		return limit{}
	case w.Queue.Packets > 0:
		return limit{packets: w.Queue.Packets}
	case w.Queue.Bytes > 0:
		return limit{bytes: w.Queue.Bytes}
	case w.Queue.BDP > 0:
		bdp := w.Queue.BDP * float64(w.Rate) / 8 * rtt.Seconds()
		return limit{bytes: max(int64(bdp), 1)}
	default:
		return limit{packets: lab.DefaultQueue}
	}
}

// offer takes a packet in and gives it out at once, with the time at which it
// leaves; or says why not.
func (s *sender[P]) offer(now time.Duration, e entry[P]) lab.Reason {
	if s.rate == 0 {
		s.out(now, e, lab.Fate{})
		return lab.NotDropped
	}
	if !s.admit(now, e.size) {
		return lab.DropQueue
	}
	s.send(now, e.size)
	s.out(s.free, e, lab.Fate{})
	return lab.NotDropped
}

func (s *sender[P]) advance(time.Duration) {}

func (s *sender[P]) next() (time.Duration, bool) { return 0, false }

func (s *sender[P]) waits(now time.Duration) int64 {
	s.waiting.leave(now)
	return s.waiting.bytes
}

// admit says whether the queue has room for a packet that has to wait, and
// takes it in.
func (s *sender[P]) admit(now time.Duration, size int) bool {
	s.waiting.leave(now)
	if s.free <= now {
		return true
	}
	if s.limit.packets > 0 && s.waiting.len() >= s.limit.packets {
		return false
	}
	if s.limit.bytes > 0 && s.waiting.bytes+int64(size) > s.limit.bytes {
		return false
	}
	s.waiting.join(s.free, size)
	return true
}

// send moves free on by the time that size bytes take at the rate. The
// remainder of the division is carried over, so that rates are exact.
func (s *sender[P]) send(now time.Duration, size int) {
	if s.free < now {
		s.free, s.frac = now, 0
	}
	rate := int64(s.rate)
	bits := int64(size)*8*int64(time.Second) + s.frac
	s.free += time.Duration(bits / rate)
	s.frac = bits % rate
}

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
