package link

import (
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Link is both directions of a path. P is what a site holds of a packet while
// it is on its way. A Link is not safe for concurrent use: what one direction
// is offered may matter to the other.
type Link[P any] struct {
	ways  [2]*way[P]
	clock clock
	count uint64 // packets that were put on the way
}

// clock is the path's own time: it starts with the first packet offered.
type clock struct {
	started bool
	start   time.Duration
}

// since returns the path's own time at time now.
func (c *clock) since(now time.Duration) time.Duration {
	if c.start < 0 && now > math.MaxInt64+c.start {
		return math.MaxInt64
	}
	return now - c.start
}

// of returns the caller's time at time t of the path.
func (c *clock) of(t time.Duration) time.Duration {
	if c.start > 0 && t > math.MaxInt64-c.start {
		return math.MaxInt64
	}
	return t + c.start
}

// New makes the link of a path whose fates follow from seed. The path's rules
// must be such as lab.ParseRules reads; otherwise New panics.
func New[P any](p lab.Path, seed uint64) *Link[P] {
	l := &Link[P]{}
	for d := range l.ways {
		l.ways[d] = newWay[P](p, lab.Direction(d), seed, &l.count)
	}
	l.join(newNAT(p.Rebind))
	return l
}

// join lets each direction know of the other.
func (l *Link[P]) join(shared *nat) {
	for d, w := range l.ways {
		w.back = l.ways[1-d]
		w.nat, w.reads = shared, w.reads || shared != nil
		for _, r := range w.rules {
			if r.After > 0 {
				counter := &l.ways[r.Counts.Direction(w.d)].offered
				counter.waiting = append(counter.waiting, r)
			}
		}
	}
}

// Offer puts an IP packet on direction d of the link at time now, which must
// not be before the time of an earlier call, and returns its fate. continues
// says that the packet is of the same super-packet as the one offered before it
// in that direction (see lab.Loss.Super). The packet's bytes are read and not
// kept; hold is kept until it comes out of Pop, unless the fate is a drop. A
// message of the emulated network may be on its way in the other direction
// thereafter.
func (l *Link[P]) Offer(d lab.Direction, now time.Duration, packet []byte, continues bool, hold P) lab.Fate {
	if !l.clock.started {
		l.clock = clock{started: true, start: now}
	}
	return l.ways[d].offer(l.clock.since(now), packet, continues, hold)
}

// Next returns when direction d has something to be taken out at the earliest;
// ok is false when nothing is on its way. Pop may have nothing then.
func (l *Link[P]) Next(d lab.Direction) (at time.Duration, ok bool) {
	if at, ok = l.ways[d].next(); !ok {
		return 0, false
	}
	return l.clock.of(at), true
}

// Pop takes out of direction d the first thing that is due at time now.
func (l *Link[P]) Pop(d lab.Direction, now time.Duration) (out Delivery[P], ok bool) {
	if ok = l.ways[d].pop(l.clock.since(now), &out); ok {
		out.At = l.clock.of(out.At)
	}
	return out, ok
}

// First is the direction whose next thing is due first; among equals the one
// that was put on its way first. ok is false when nothing is on its way.
func (l *Link[P]) First() (d lab.Direction, ok bool) {
	up, upOK := l.ways[lab.Up].next()
	down, downOK := l.ways[lab.Down].next()
	switch {
	case !upOK:
		return lab.Down, downOK
	case !downOK || up < down:
		return lab.Up, true
	case down < up:
		return lab.Down, true
	}
	one, two := l.ways[lab.Up].line.peek(), l.ways[lab.Down].line.peek()
	if one != nil && two != nil && two.n < one.n {
		return lab.Down, true
	}
	return lab.Up, true
}

// Offered is the number of packets offered to direction d so far.
func (l *Link[P]) Offered(d lab.Direction) uint64 { return l.ways[d].n }

// Waiting returns how many bytes of direction d wait for the rate at time now.
// The packet that is being sent does not wait.
func (l *Link[P]) Waiting(d lab.Direction, now time.Duration) int64 {
	return l.ways[d].sender.waits(l.clock.since(now))
}

// Delivery is what comes out of a link.
type Delivery[P any] struct {
	Hold P
	At   time.Duration // when it was due
	// Waited is how long the packet was queued before its own transmission began,
	// or before it was dropped. Under a trace it waits as well while there is no
	// rate, and until its first opportunity.
	Waited time.Duration
	// Sending is how long the packet was transmitted, in whole nanoseconds: with a
	// token bucket, until there were tokens for it (0 where there were enough);
	// under a trace, with the times in which the rate was 0 meanwhile, and from its
	// first opportunity to its last. Both are 0 without a rate, and with a policer.
	Sending time.Duration
	// Drop says that the packet was dropped while it waited, at time At: by active
	// queue management, or by FQ-CoDel to make room for others. Nothing is to be
	// delivered.
	Drop   lab.Reason
	Marked bool // marked by active queue management, not when it was offered
	// Last says that Hold will not come out again: a duplicated packet comes
	// out twice.
	Last bool
	// Router is a packet that the emulated router sends to the host at this
	// direction's end (an ICMP error). Hold means nothing then.
	Router []byte

	change change
}

// Changed says that Apply has something to do: the packet must be delivered on
// its own, with complete checksums, after Apply.
func (d *Delivery[P]) Changed() bool { return d.change != change{} }

// Apply changes the packet's bytes as the path does: congestion experienced,
// translated addresses, a flipped bit. Checksums are kept right, but for a
// flipped bit.
func (d *Delivery[P]) Apply(packet []byte) { d.change.apply(packet) }
