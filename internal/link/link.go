package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Link is both directions of a path. P is what a site holds of a packet while
// it is on its way. A Link is not safe for concurrent use: what one direction
// is offered may matter to the other.
type Link[P any] struct {
	path  lab.Path
	ways  [2]*way[P]
	clock clock
	count uint64 // packets that were put on the way
}

// clock is the path's own time: it starts with the first packet offered.
type clock struct {
	started bool
	start   time.Duration
}

// since returns the path's own time at time now, and starts it.
func (c *clock) since(now time.Duration) time.Duration {
	if !c.started {
		c.started, c.start = true, now
	}
	return now - c.start
}

// New makes the link of a path whose fates follow from seed.
func New[P any](p lab.Path, seed uint64) *Link[P] {
	l := &Link[P]{path: p}
	for d := range l.ways {
		l.ways[d] = newWay[P](p, lab.Direction(d), seed, &l.count)
	}
	return l
}

// Offer puts an IP packet on direction d of the link at time now, which must
// not be before the time of an earlier call, and returns its fate. continues
// says that the packet is of the same super-packet as the one offered before it
// in that direction (see lab.Loss.Super). The packet's bytes are read and not
// kept; hold is kept until it comes out of Pop, unless the fate is a drop.
func (l *Link[P]) Offer(d lab.Direction, now time.Duration, packet []byte, continues bool, hold P) lab.Fate {
	l.clock.since(now)
	return l.ways[d].offer(now, packet, hold)
}

// Next returns when direction d has something to be taken out at the earliest;
// ok is false when nothing is on its way. Pop may have nothing then.
func (l *Link[P]) Next(d lab.Direction) (at time.Duration, ok bool) { return l.ways[d].line.Next() }

// Pop takes out of direction d the first thing that is due at time now.
func (l *Link[P]) Pop(d lab.Direction, now time.Duration) (Delivery[P], bool) {
	hold, at, ok := l.ways[d].line.Pop(now)
	return Delivery[P]{Hold: hold, At: at, Last: true}, ok
}

// First is the direction whose next thing is due first; among equals the one
// that was offered first. ok is false when nothing is on its way.
func (l *Link[P]) First() (d lab.Direction, ok bool) {
	up, down := &l.ways[lab.Up].line, &l.ways[lab.Down].line
	switch {
	case up.Len() == 0:
		return lab.Down, down.Len() > 0
	case down.Len() == 0:
		return lab.Up, true
	case down.heap[0].before(&up.heap[0]):
		return lab.Down, true
	}
	return lab.Up, true
}

// Offered is the number of packets offered to direction d so far.
func (l *Link[P]) Offered(d lab.Direction) uint64 { return l.ways[d].n }

// Waiting returns how many bytes of direction d wait for the rate at time now.
// The packet that is being sent does not wait.
func (l *Link[P]) Waiting(d lab.Direction, now time.Duration) int64 { return l.ways[d].waits(now) }

// Delivery is what comes out of a link.
type Delivery[P any] struct {
	Hold P
	At   time.Duration // when it was due
	// Drop says that the packet was dropped while it waited (by active queue
	// management), at time At: nothing is to be delivered.
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

// change is what the path does to a packet's bytes.
type change struct{}

// Changed says that Apply has something to do: the packet must be delivered on
// its own, with complete checksums, after Apply.
func (d *Delivery[P]) Changed() bool { return d.change != change{} }

// Apply changes the packet's bytes as the path does: congestion experienced,
// translated addresses, a flipped bit. Checksums are kept right, but for a
// flipped bit.
func (d *Delivery[P]) Apply(packet []byte) {}
