package story

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// leastSilence is the shortest silence that gets a line.
const leastSilence = 50 * time.Millisecond

// silence is a time in which nothing was sent and nothing was under way. Its
// times are the run's own.
type silence struct {
	before     int // index of the event that ended it; beyond the last: the load's end did
	from, till time.Duration
}

// silences finds the times of at least leastSilence, or half a round trip, in
// which nothing happened on the wire.
func silences(r *wire.Reading, rtt time.Duration) (list []silence) {
	if len(r.Events) == 0 {
		return nil
	}
	least := max(leastSilence, rtt/2)
	busy := r.Events[0].At
	for i := range r.Events {
		e := &r.Events[i]
		if e.At-busy >= least && (r.Capture.Skipped == 0 || i != r.Capture.Gap) {
			list = append(list, silence{i, busy, e.At})
		}
		busy = max(busy, e.At)
		if e.Delivered() {
			busy = max(busy, e.Left)
		}
	}
	if end := r.Capture.End; end-busy >= least {
		list = append(list, silence{len(r.Events), busy, end})
	}
	return list
}

// roundTrip is the shortest that the packets show: the sum of the shortest ways;
// 0 where there are none.
func roundTrip(r *wire.Reading) time.Duration {
	shortest := [2]time.Duration{-1, -1}
	for i := range r.Events {
		e := &r.Events[i]
		if s := &shortest[e.Way]; e.Delivered() && (*s < 0 || e.Left-e.At < *s) {
			*s = e.Left - e.At
		}
	}
	return max(shortest[lab.Up], 0) + max(shortest[lab.Down], 0)
}

// silence is a silence's row: how long, what was in flight, and what the autopsy
// says of it.
func (t *timeline) silence(s silence) row {
	at, till := s.from-t.start, s.till-t.start
	text := span(till-at) + " of silence"
	r := row{kind: silenceRow, at: at, till: till, title: text, parts: []string{t.flight.words(s.from)}}
	stall := t.stall(at, till)
	switch {
	case stall == nil:
	case t.told[stall]:
		r.parts = append(r.parts, "still the same stall")
	default:
		t.told[stall] = true
		if length := time.Duration(stall.Length * 1e9); length > till-at+leastSilence {
			r.title += fmt.Sprintf(", the first of a stall of %s in which nothing arrived", span(length))
		}
		r.parts = []string{orElse(sentence(stall.Sentence), r.parts[0])}
	}
	return r
}

// stall is the stall that covers at least half of a silence; nil: none.
func (t *timeline) stall(at, till time.Duration) *lab.Stall {
	if t.facts == nil {
		return nil
	}
	for i := range t.facts.Stalls {
		s := &t.facts.Stalls[i]
		both := min(till.Seconds(), s.At+s.Length) - max(at.Seconds(), s.At)
		if both > (till-at).Seconds()/2 {
			return s
		}
	}
	return nil
}

// flight has what both hosts had sent, and was not yet acknowledged to them, over
// time. What was sent again counts again.
type flight struct{ levels [2][]level }

// level is what is not acknowledged from a time on.
type level struct {
	at      time.Duration
	packets int
	bytes   int64
}

func newFlight(r *wire.Reading) *flight {
	f := &flight{}
	for d := range f.levels {
		var changes []level
		for _, c := range r.Connections {
			for _, s := range c.Sent[d] {
				changes = append(changes, level{r.Events[s.Event].At, 1, int64(s.Bytes)})
				if s.Acked != wire.Never {
					changes = append(changes, level{s.Acked, -1, -int64(s.Bytes)})
				}
			}
		}
		slices.SortStableFunc(changes, func(a, b level) int { return int(max(min(a.at-b.at, 1), -1)) })
		for i := 1; i < len(changes); i++ {
			changes[i].packets += changes[i-1].packets
			changes[i].bytes += changes[i-1].bytes
		}
		f.levels[d] = changes
	}
	return f
}

func (f *flight) at(d lab.Direction, at time.Duration) level {
	list := f.levels[d]
	i := sort.Search(len(list), func(i int) bool { return list[i].at > at })
	if i == 0 {
		return level{}
	}
	return list[i-1]
}

func (f *flight) words(at time.Duration) string {
	if len(f.levels[lab.Up])+len(f.levels[lab.Down]) == 0 {
		return "what was in flight cannot be read"
	}
	var parts []string
	for _, d := range []lab.Direction{lab.Down, lab.Up} {
		if l := f.at(d, at); l.packets > 0 {
			parts = append(parts, fmt.Sprintf("%s of the %s (%s)", plural(l.packets, "packet", "packets"), sender(d.String()), bytesOf(l.bytes)))
		}
	}
	if len(parts) == 0 {
		return "everything was acknowledged"
	}
	return "not acknowledged: " + strings.Join(parts, ", ")
}
