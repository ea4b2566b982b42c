package wire

import (
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// lossRuns counts, for one direction, how many packets were dropped one right
// after the other, of those offered.
type lossRuns struct {
	ended map[int]int // runs by their length
	open  int         // length of the one that the newest packet belongs to
}

func (r *lossRuns) see(dropped bool) {
	switch {
	case dropped:
		r.open++
	case r.open > 0:
		r.ended[r.open]++
		r.open = 0
	}
}

// join puts a packet that was dropped later between the runs right before and
// after it. newest says that the one after it, be it of length 0, has not ended.
func (r *lossRuns) join(before, after int, newest bool) {
	r.take(before)
	if newest {
		r.open = before + 1 + after
		return
	}
	r.take(after)
	r.ended[before+1+after]++
}

// take lets go of an ended run.
func (r *lossRuns) take(length int) {
	if length == 0 {
		return
	}
	if r.ended[length]--; r.ended[length] == 0 {
		delete(r.ended, length)
	}
}

// list has the runs by their length, with the one that has not ended.
func (r *lossRuns) list() []lab.LossRun {
	runs := make([]lab.LossRun, 0, len(r.ended)+1)
	add := func(length, count int) { runs = append(runs, lab.LossRun{Length: length, Count: count}) }
	for length, count := range r.ended {
		if length == r.open {
			count++
		}
		add(length, count)
	}
	if r.open > 0 && r.ended[r.open] == 0 {
		add(r.open, 1)
	}
	slices.SortFunc(runs, func(a, b lab.LossRun) int { return a.Length - b.Length })
	return runs
}

// newestFates remembers the direction of each of the newest packets, and whether
// it was dropped: for those that queue management drops after others have come.
type newestFates [remembered]uint8

// remembered is how many packets may come, in both directions together, before
// one that waits under queue management has its fate.
const remembered = 1 << 17

const fateDropped = 0x80

func (f *newestFates) add(n int, d lab.Direction, dropped bool) {
	fate := uint8(d)
	if dropped {
		fate |= fateDropped
	}
	f[uint(n)%remembered] = fate
}

// run is how many packets of direction d were dropped next to packet n, going by
// step. end says that no other packet of that direction comes after them.
func (f *newestFates) run(n, step, newest int, d lab.Direction) (length int, end bool) {
	for i := n + step; i > max(newest-remembered, 0) && i <= newest; i += step {
		switch f[uint(i)%remembered] {
		case uint8(d):
			return length, false
		case uint8(d) | fateDropped:
			length++
		}
	}
	return length, true
}
