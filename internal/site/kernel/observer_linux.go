package kernel

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
	"github.com/samewire/samewire/internal/wire"
)

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// hold is what the link holds of a wire packet: the buffer that it lies in, and
// its place among the wire packets there.
type hold struct {
	b *buffer
	i int32
}

// observer is what both directions share: the run's clock, its link and its
// witness. The lock is for those who ask for facts while packets move.
type observer struct {
	now func() time.Duration // the run's own time

	mu      sync.Mutex
	link    *link.Link[hold]
	witness *wire.Witness // nil in tests that measure what it costs
}

func newObserver(run lab.Run) *observer {
	epoch := time.Now()
	return &observer{
		now:  func() time.Duration { return time.Since(epoch) },
		link: link.New[hold](run.Cell.Path, run.Seed), witness: wire.New(),
	}
}

// due is when direction d has something to be taken out. The lock is held.
func (o *observer) due(d lab.Direction) time.Duration {
	if at, ok := o.link.Next(d); ok {
		return at
	}
	return never
}

func (o *observer) foreign(d lab.Direction) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.witness != nil {
		o.witness.Foreign(d)
	}
}

// left takes note of what came out of direction d at the time named by the link.
func (o *observer) left(d lab.Direction, out *link.Delivery[hold]) {
	if o.witness == nil {
		return
	}
	if out.Router != nil {
		o.witness.Router(d)
		return
	}
	b, i := out.Hold.b, int(out.Hold.i)
	if out.Drop != lab.NotDropped || out.Marked {
		o.witness.Later(b.n+i, d, out.At, b.bytes(i, 1), lab.Fate{Drop: out.Drop, Marked: out.Marked})
	}
	if out.Drop == lab.NotDropped {
		o.witness.Left(b.n+i, out.At, out.Waited, out.Sending)
	}
}

// facts returns what the witness says of a load that ended at time end. The lock
// is held.
func (o *observer) facts(end time.Duration) lab.Wire {
	if o.witness == nil {
		return lab.Wire{Up: lab.WireWay{Drops: map[string]int{}}, Down: lab.WireWay{Drops: map[string]int{}}}
	}
	return o.witness.Facts(end, endMargin)
}

// capture returns the packets seen so far, for a load from time start to time
// end. None is kept thereafter.
func (o *observer) capture(start, end time.Duration) *wire.Capture {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.witness == nil {
		return nil
	}
	return o.witness.Capture(start, end)
}

// offer puts the wire packets of a buffer on the link, one after the other, and
// shows them to the witness. Packets of more than quotes bytes are whole then,
// with their checksums: the path may quote them in an answer. It returns which
// was the first and the last that the link kept; none where last is before first.
func (o *observer) offer(d lab.Direction, now time.Duration, b *buffer, quotes int, s *saved) (first, last int) {
	first, last, b.refs = b.count, -1, 0
	for i := range b.count {
		packet := b.lay(i, 1, s)[vnetSize:]
		if len(packet) > quotes {
			b.finish(packet)
		}
		fate := o.link.Offer(d, now, packet, i > 0, hold{b, int32(i)})
		if o.witness != nil {
			b.n = o.witness.See(d, now, packet, fate) - i
		}
		b.lift(i, s)
		if fate.Drop == lab.NotDropped {
			first, last = min(first, i), i
			b.refs++
		}
	}
	return first, last
}

// quotesOf is up to how many bytes a packet of a way is never quoted in an
// answer of the path, which has an MTU or rejects packets.
func quotesOf(w lab.Way) int {
	switch {
	case strings.Contains(string(w.Rules), string(lab.RuleReject)):
		return 0
	case !w.TooBig:
		return math.MaxInt
	case w.Shrink != (lab.Shrink{}):
		return min(w.DeviceMTU(), w.Shrink.MTU)
	case w.MTU == 0:
		return lab.DefaultMTU
	}
	return w.MTU
}
