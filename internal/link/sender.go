package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// sender is what stands before the rate of a direction: its policer, or its
// queue, and the rate itself. All times are the path's own.
//
// Properties that an edit must keep:
//   - what becomes of a packet, and when it leaves, follows from the times and
//     sizes of what was offered alone: a caller who is late changes nothing;
//   - packets that leave do so in the order of their times;
//   - no more is held than the queue's limit allows.
type sender[P any] struct {
	out      func(leaves time.Duration, e entry[P], later lab.Fate)
	overhead int
	rate     transmitter // nil means unlimited
	police   *tokens     // nil means none
	room     room
	waiting  backlog
}

// newSender makes the sender of a way. out is told of each packet that was
// taken: when it leaves, and what was decided about it since it was offered.
func newSender[P any](w lab.Way, rtt time.Duration, out func(leaves time.Duration, e entry[P], later lab.Fate)) *sender[P] {
	s := &sender[P]{out: out, overhead: w.Overhead}
	if w.Police && w.Rate > 0 {
		police := newTokens(w.Rate, w.Burst)
		s.police = &police
		return s
	}
	rate, mean := newTransmitter(w)
	s.rate, s.room = rate, newRoom(w.Queue, mean, rtt)
	return s
}

// offer takes a packet at time now, which must not be before that of an earlier
// call, or says why not.
func (s *sender[P]) offer(now time.Duration, e entry[P]) lab.Reason {
	switch {
	case s.police != nil:
		if !s.police.conforms(now, s.counted(e.size)) {
			return lab.DropPolice
		}
	case s.rate != nil:
		return s.queue(now, e)
	}
	s.out(now, e, lab.Fate{})
	return lab.NotDropped
}

// queue takes a packet into a tail drop queue. When it will leave is known at
// once.
func (s *sender[P]) queue(now time.Duration, e entry[P]) lab.Reason {
	s.waiting.leave(now)
	start := s.rate.ready(now)
	if start > now {
		if !s.room.holds(s.waiting.len()+1, s.waiting.bytes+int64(e.size), start-now) {
			return lab.DropQueue
		}
		s.waiting.join(start, e.size)
	}
	s.out(s.rate.take(start, s.counted(e.size)), e, lab.Fate{})
	return lab.NotDropped
}

// counted is what the rate counts of an IP packet.
func (s *sender[P]) counted(size int) int { return max(size+s.overhead, 1) }

// advance takes all decisions that fall due until now, in the order of their
// times.
func (s *sender[P]) advance(now time.Duration) {}

// next says when the next decision falls due.
func (s *sender[P]) next() (time.Duration, bool) { return 0, false }

// waits returns how many IP bytes wait at time now. The packet that is being
// sent does not wait.
func (s *sender[P]) waits(now time.Duration) int64 {
	s.waiting.leave(now)
	return s.waiting.bytes
}
