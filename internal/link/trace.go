package link

import (
	"fmt"
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// newTransmitter makes the rate of a way, and says what it is in the mean; it
// is nil where the way has none. The way's trace must have been checked
// (lab.Trace.Check): a faulty one has no meaning here.
func newTransmitter(w lab.Way) (transmitter, lab.Rate) {
	switch {
	case w.Trace.Kind == lab.Mahimahi:
		ms, err := lab.ParseMahimahi(w.Trace.Data)
		if err != nil {
			panic(fmt.Sprintf("link: a trace that was not checked: %s: %v", w.Trace.Name, err))
		}
		return newOpportunities(ms), lab.MeanOpportunities(ms)
	case w.Trace != (lab.Trace{}):
		steps, err := lab.ParseRateCSV(w.Trace.Data)
		if err != nil {
			panic(fmt.Sprintf("link: a trace that was not checked: %s: %v", w.Trace.Name, err))
		}
		return &schedule{steps: steps}, lab.MeanRate(steps)
	case w.Rate > 0:
		return &wire{tokens: newTokens(w.Rate, w.Burst)}, w.Rate
	}
	return nil, 0
}

// opportunities is a Mahimahi trace: at certain times, so many bytes are sent
// at once. A packet larger than what is left of one goes on in the next; what
// nothing waits for is lost. As in Mahimahi, a packet that comes at the very
// time of an opportunity is too late for it.
type opportunities struct {
	ms     []uint32
	period time.Duration

	// The opportunity that is next, or being used: its place in ms, when this
	// round of the trace began, its time, and what is left of it.
	i     int
	round time.Duration
	at    time.Duration
	left  int
}

func newOpportunities(ms []uint32) *opportunities {
	return &opportunities{ms: ms, period: time.Duration(ms[len(ms)-1]) * time.Millisecond, i: -1}
}

func (o *opportunities) ready(since time.Duration) time.Duration {
	for o.left == 0 || o.at <= since && o.at < forever {
		o.step(since)
	}
	return o.at
}

func (o *opportunities) take(at time.Duration, size int) time.Duration {
	for size > o.left {
		size -= o.left
		o.step(-1)
	}
	o.left -= size
	return o.at
}

// step goes to the next opportunity, or to the first after the time since.
func (o *opportunities) step(since time.Duration) {
	o.i++
	if o.i == len(o.ms) {
		o.i, o.round = 0, min(o.round+o.period, forever)
	}
	o.find()
	if o.at > since || o.at == forever {
		return
	}
	o.round = since / o.period * o.period
	o.i, _ = slices.BinarySearchFunc(o.ms, since-o.round, func(ms uint32, t time.Duration) int {
		if time.Duration(ms)*time.Millisecond <= t {
			return -1
		}
		return 1
	})
	o.find()
}

// find makes the opportunity at i the current one.
func (o *opportunities) find() {
	o.at = min(o.round+time.Duration(o.ms[o.i])*time.Millisecond, forever)
	o.left = lab.OpportunityBytes
}

// schedule is a rate that changes at certain times, and is exact at each of
// them. While it is 0 no packet is taken, and one that is being sent stands
// still.
type schedule struct {
	steps []lab.RateStep // the last of which has a rate
	i     int            // the step in which the next packet starts

	free time.Duration // when the last packet has been sent,
	rest int64         // and the rest of that, in 1/rate of a nanosecond
}

func (s *schedule) ready(since time.Duration) time.Duration {
	at := max(since, s.free, s.steps[s.i].From)
	for s.end() <= at && s.i+1 < len(s.steps) {
		s.i++
	}
	for s.steps[s.i].Rate == 0 {
		s.i++
		at = s.steps[s.i].From
	}
	return at
}

func (s *schedule) take(at time.Duration, size int) time.Duration {
	if at > s.free {
		s.free, s.rest = at, 0
	}
	// What is to be sent, in 1e-9 bit, is counted from the start of the
	// nanosecond that the packet before has used in part.
	need := int64(size)*8*int64(time.Second) + s.rest
	for {
		rate, end := int64(s.steps[s.i].Rate), s.end()
		if rate > 0 {
			done, rest := s.free+time.Duration(need/rate), need%rate
			if done < end || done == end && rest == 0 {
				s.free, s.rest = done, rest
				return s.free
			}
			if end == forever {
				s.free, s.rest = forever, 0
				return s.free
			}
			need -= int64(end-s.free) * rate
		}
		s.free, s.rest = end, 0
		s.i++
	}
}

// end is when the current step ends.
func (s *schedule) end() time.Duration {
	if s.i+1 < len(s.steps) {
		return s.steps[s.i+1].From
	}
	return forever
}
