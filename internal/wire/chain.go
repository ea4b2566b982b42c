package wire

import (
	"cmp"

	"github.com/samewire/samewire/internal/lab"
)

// step is a packet in a chain of causes.
type step struct {
	event     int
	what, why string
	prev      *step
	turns     int // how often the chain has changed its direction up to here
}

// then makes the step that s caused; s may be nil.
func (s *step) then(r *Reading, event int, what, why string) *step {
	next := &step{event: event, what: what, why: why, prev: s}
	if s == nil {
		next.why = ""
		return next
	}
	next.turns = s.turns
	if r.Events[s.event].Way != r.Events[event].Way {
		next.turns++
	}
	return next
}

// trips is how many round trips the chain has: how often something that went up
// was answered.
func (s *step) trips() int { return (s.turns + 1) / 2 }

// deeper returns the step that ends the longer chain; of equal ones the step
// that arrived later: it is the one that was waited for.
func (r *Reading) deeper(a, b *step) *step {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case cmp.Or(cmp.Compare(a.turns, b.turns), r.arrivals(a.event, b.event)) < 0:
		return b
	default:
		return a
	}
}

// causes writes the chain that ends with s, the first packet first.
func (r *Reading) causes(s *step) []lab.Cause {
	var list []lab.Cause
	for ; s != nil; s = s.prev {
		e := &r.Events[s.event]
		list = append(list, lab.Cause{
			Packet: e.N, Direction: e.Way.String(), At: e.At.Seconds(), What: s.what, Why: s.why,
		})
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}
