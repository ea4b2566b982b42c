package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// sender is what stands before the rate of a direction: its policer, or its
// queue, and the rate itself. All times are the path's own.
//
// Properties that an edit must keep:
//   - what becomes of a packet, and when, follows from what was offered and
//     when alone: a caller who is late changes nothing;
//   - packets leave in the order in which they are taken for sending, which is
//     that in which they came but for FQ-CoDel;
//   - no more is held than the queue's limit allows.
type sender[P any] struct {
	out      func(starts, leaves time.Duration, e entry[P], later lab.Fate)
	overhead int
	rate     transmitter // nil means unlimited
	police   *tokens     // nil means none
	room     room
	backlog  backlog // what waits in a tail drop queue

	aqm   discipline[P] // nil means a tail drop queue
	came  time.Duration // when the last packet came that waits under aqm
	takes time.Duration // when the rate will take the next one, if any waits
}

// discipline is a queue that decides when a packet is taken for sending.
type discipline[P any] interface {
	// join takes in a packet that comes at time now, and keeps to most.
	join(now time.Duration, e entry[P], most room) lab.Reason
	// take takes out the packet to be sent at time now; present is false when
	// nothing is left after what was dropped.
	take(now time.Duration) (e entry[P], marked, present bool)
	waiting() (packets int, bytes int64)
}

// newSender makes the sender of a way, whose trace must have been checked. out
// is told of each packet that was taken: when its transmission starts, when it
// leaves, and what was decided about it since it was offered. With later.Drop it
// was dropped at that time:
// lab.DropAQM, or lab.DropQueue by FQ-CoDel, which makes room for new packets
// by dropping old ones.
func newSender[P any](w lab.Way, rtt time.Duration, out func(starts, leaves time.Duration, e entry[P], later lab.Fate)) *sender[P] {
	s := &sender[P]{out: out, overhead: w.Overhead}
	if w.Police && w.Rate > 0 {
		police := newTokens(w.Rate, w.Burst)
		s.police = &police
		return s
	}
	rate, mean := newTransmitter(w)
	s.rate, s.room = rate, newRoom(w.Queue, mean, rtt)
	if w.AQM.Kind == "" {
		return s
	}
	// How long a packet will wait is not known when it comes.
	if s.room.wait > 0 {
		s.room = room{bytes: carried(mean, s.room.wait.Seconds())}
	}
	m := managed[P]{codel: newCodel(w), drop: func(now time.Duration, e entry[P], why lab.Reason) {
		out(now, now, e, lab.Fate{Drop: why})
	}}
	if w.AQM.Kind == lab.FQCoDel {
		s.aqm = newFQCodel(w, m)
	} else {
		s.aqm = &single[P]{managed: m}
	}
	return s
}

// offer takes a packet at time now, which must not be before that of an earlier
// call, or says why not.
func (s *sender[P]) offer(now time.Duration, e *entry[P]) lab.Reason {
	switch {
	case s.police != nil:
		if !s.police.conforms(now, s.counted(e.size)) {
			return lab.DropPolice
		}
	case s.rate != nil && s.aqm != nil:
		return s.manage(now, e)
	case s.rate != nil:
		return s.queue(now, e)
	}
	s.out(now, now, *e, lab.Fate{})
	return lab.NotDropped
}

// queue takes a packet into a tail drop queue. When it will leave is known at
// once.
func (s *sender[P]) queue(now time.Duration, e *entry[P]) lab.Reason {
	s.backlog.leave(now)
	start := s.rate.ready(now)
	if start > now {
		if !s.room.holds(s.backlog.len()+1, s.backlog.bytes+int64(e.size), start-now) {
			return lab.DropQueue
		}
		s.backlog.join(start, e.size)
	}
	s.out(start, s.rate.take(start, s.counted(e.size)), *e, lab.Fate{})
	return lab.NotDropped
}

// manage takes a packet into a queue under active management. What falls due at
// the time at which it comes is decided before it comes.
func (s *sender[P]) manage(now time.Duration, e *entry[P]) lab.Reason {
	s.advance(now)
	if n, _ := s.aqm.waiting(); n == 0 {
		s.takes = s.rate.ready(now)
	}
	most := s.room
	if s.takes <= now {
		most = room{} // it is sent at once
	}
	s.came = now
	why := s.aqm.join(now, *e, most)
	s.advance(now)
	return why
}

// counted is what the rate counts of an IP packet.
func (s *sender[P]) counted(size int) int { return max(size+s.overhead, 1) }

// advance takes all decisions that fall due until now, in the order of their
// times.
func (s *sender[P]) advance(now time.Duration) {
	for {
		at, ok := s.next()
		if !ok || at > now {
			return
		}
		if e, marked, ok := s.aqm.take(at); ok {
			s.out(at, s.rate.take(at, s.counted(e.size)), e, lab.Fate{Marked: marked})
			s.takes = s.rate.ready(s.came)
		}
	}
}

// next says when the next decision falls due.
func (s *sender[P]) next() (time.Duration, bool) {
	if s.aqm == nil {
		return 0, false
	}
	n, _ := s.aqm.waiting()
	return s.takes, n > 0
}

// waits returns how many IP bytes wait at time now; decisions that fall due
// until then are taken. The packet that is being sent does not wait.
func (s *sender[P]) waits(now time.Duration) int64 {
	if s.aqm == nil {
		s.backlog.leave(now)
		return s.backlog.bytes
	}
	s.advance(now)
	_, bytes := s.aqm.waiting()
	return bytes
}
