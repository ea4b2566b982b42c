package story

import (
	"fmt"
	"slices"
	"sort"
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
	if stall := t.stall(at, till); stall != nil {
		r.parts = []string{orElse(clean(stall.Sentence), r.parts[0])}
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

// flight has the bytes in flight of both hosts over time: sent, and not yet
// acknowledged to the sender.
type flight struct{ levels [2][]level }

// level is what is in flight from a time on.
type level struct {
	at    time.Duration
	bytes int64
}

func newFlight(r *wire.Reading) *flight {
	f := &flight{}
	for d := range f.levels {
		var changes []level
		for _, c := range r.Connections {
			for _, s := range c.Sent[d] {
				changes = append(changes, level{r.Events[s.Event].At, int64(s.Bytes)})
				if s.Acked != wire.Never {
					changes = append(changes, level{s.Acked, -int64(s.Bytes)})
				}
			}
		}
		slices.SortStableFunc(changes, func(a, b level) int { return int(max(min(a.at-b.at, 1), -1)) })
		sum := int64(0)
		for i := range changes {
			sum += changes[i].bytes
			changes[i].bytes = sum
		}
		f.levels[d] = changes
	}
	return f
}

func (f *flight) at(d lab.Direction, at time.Duration) int64 {
	list := f.levels[d]
	i := sort.Search(len(list), func(i int) bool { return list[i].at > at })
	if i == 0 {
		return 0
	}
	return list[i-1].bytes
}

func (f *flight) words(at time.Duration) string {
	if len(f.levels[lab.Up])+len(f.levels[lab.Down]) == 0 {
		return "what was in flight cannot be read"
	}
	up, down := f.at(lab.Up, at), f.at(lab.Down, at)
	switch {
	case up > 0 && down > 0:
		return fmt.Sprintf("the server had %s in flight, the client %s", bytesOf(down), bytesOf(up))
	case up > 0:
		return fmt.Sprintf("the client had %s in flight", bytesOf(up))
	case down > 0:
		return fmt.Sprintf("the server had %s in flight", bytesOf(down))
	}
	return "nothing was in flight"
}
