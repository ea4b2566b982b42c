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
	witness *wire.Witness // nil after close
}

func newObserver(run lab.Run) *observer {
	o := newNetemObserver()
	o.link = link.New[hold](run.Cell.Path, run.Seed)
	return o
}

// newNetemObserver is the observer of a run whose packets no link of ours sees.
func newNetemObserver() *observer {
	epoch, w := time.Now(), wire.New()
	w.Use(memory.take())
	return &observer{now: func() time.Duration { return time.Since(epoch) }, witness: w}
}

// close leaves the witness's memory to the next run. Nobody watches thereafter.
func (o *observer) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.witness != nil {
		memory.leave(o.witness)
		o.witness = nil
	}
}

// memory is what the witness of one run leaves to that of the next: a worker
// carries out many, one after the other.
var memory spareMemory

type spareMemory struct {
	mu   sync.Mutex
	last *wire.Witness // of the run that ended last; nil: its memory has been taken
}

// take returns what the last run left, whose capture is not valid any more.
func (m *spareMemory) take() wire.Chunks {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil {
		return wire.Chunks{}
	}
	defer func() { m.last = nil }()
	return m.last.Release()
}

// leave leaves a witness to the next run, which takes its memory: until then its
// capture is valid.
func (m *spareMemory) leave(w *wire.Witness) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = w
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

// facts returns what the witness says so far of a load that ended at time end.
func (o *observer) facts(end time.Duration) lab.Wire {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.witness == nil {
		return lab.Wire{Up: lab.WireWay{Drops: map[string]int{}}, Down: lab.WireWay{Drops: map[string]int{}}}
	}
	return o.witness.Facts(end, endMargin)
}

// cut is facts, with the packets seen so far, for a load that started at time
// start. None is kept thereafter.
func (o *observer) cut(start, end time.Duration) (lab.Wire, *wire.Capture) {
	if o.witness == nil {
		return o.facts(end), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.witness.Facts(end, endMargin), o.witness.Capture(start, end)
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
