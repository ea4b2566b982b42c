package inproc

import (
	"math"
	"sync"
	"time"

	"gvisor.dev/gvisor/pkg/buffer"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
	"github.com/samewire/samewire/internal/wire"
)

// pump carries packets between the two hosts as the link says, and shows them
// to the witness.
//
// Properties that an edit must keep:
//   - offer runs in the goroutine that sends, so that the time of the offer is
//     that of the sending and no queue in between can overflow;
//   - one goroutine delivers both directions from one queue: what is due at one
//     instant is delivered in the order in which it was offered, whatever the
//     scheduler does;
//   - the lock is never held while a stack is called, since stacks send with
//     locks of their own held.
type pump struct {
	opened time.Time
	timer  *time.Timer   // wakes the goroutine at time next
	to     [2]*nic       // the interface at the end of each direction
	done   chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	link    *link.Link[hold]
	witness *wire.Witness
	seen    int // packets
	late    link.Lateness
	next    time.Duration
	closed  bool
}

// hold is what the link holds of a packet: its number in the run as well.
type hold struct {
	*buffer.View
	n int
}

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

func newPump(opened time.Time, run lab.Run) *pump {
	p := &pump{opened: opened, timer: time.NewTimer(never), done: make(chan struct{}), witness: wire.New(), next: never}
	p.link = link.New[hold](run.Cell.Path, run.Seed)
	return p
}

// start begins to deliver, once both stacks can receive.
func (p *pump) start() { go p.run() }

// now is the run's own time.
func (p *pump) now() time.Duration { return time.Since(p.opened) }

// offer puts a packet of direction d on the link. The pump takes the packet
// over.
func (p *pump) offer(d lab.Direction, packet *buffer.View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		packet.Release()
		return
	}
	now := p.now()
	fate := p.link.Offer(d, now, packet.AsSlice(), false, hold{packet, p.seen + 1})
	p.seen = p.witness.See(d, now, packet.AsSlice(), fate)
	if fate.Drop != lab.NotDropped {
		packet.Release()
	}
	// The emulated router may have an answer for the other direction.
	if at, ok := p.due(); ok && at < p.next {
		p.wake(now, at)
	}
}

// due is when the first thing of both directions is due.
func (p *pump) due() (at time.Duration, ok bool) {
	d, ok := p.link.First()
	if !ok {
		return never, false
	}
	return p.link.Next(d)
}

// foreign takes note of a packet of neither host. It is not carried.
func (p *pump) foreign(d lab.Direction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.witness.Foreign(d)
	}
}

// wake has the goroutine look at the queue at the time named.
func (p *pump) wake(now, at time.Duration) {
	p.next = at
	p.timer.Reset(max(at-now, 0))
}

func (p *pump) run() {
	defer close(p.done)
	for range p.timer.C {
		if !p.deliverDue() {
			return
		}
	}
}

// deliverDue delivers all packets that are due, and sets the timer for the
// first that is not. It is false when the pump was stopped.
func (p *pump) deliverDue() bool {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return false
		}
		now := p.now()
		d, first, ok := p.pop(now)
		if !ok {
			p.rest(now)
			p.mu.Unlock()
			return true
		}
		packet := p.unpack(d, now, first)
		p.mu.Unlock()
		if packet != nil {
			p.to[d].receive(packet)
		}
	}
}

// pop takes out the first thing that is due.
func (p *pump) pop(now time.Duration) (lab.Direction, link.Delivery[hold], bool) {
	d, ok := p.link.First()
	if !ok {
		return d, link.Delivery[hold]{}, false
	}
	first, ok := p.link.Pop(d, now)
	return d, first, ok
}

// unpack returns the packet to be delivered; nil when there is none.
func (p *pump) unpack(d lab.Direction, now time.Duration, first link.Delivery[hold]) *buffer.View {
	if first.Router != nil {
		p.witness.Router(d)
		return buffer.NewViewWithData(first.Router)
	}
	n, packet := first.Hold.n, first.Hold.View
	if first.Drop != lab.NotDropped {
		p.witness.Later(n, d, first.At, packet.Size(), lab.Fate{Drop: first.Drop})
		packet.Release()
		return nil
	}
	p.late.Add(now - first.At)
	p.witness.Left(n, first.At, first.Waited, first.Sending)
	if first.Marked {
		p.witness.Later(n, d, first.At, packet.Size(), lab.Fate{Marked: true})
	}
	if first.Changed() || !first.Last {
		packet = buffer.NewViewWithData(packet.AsSlice())
		first.Apply(packet.AsSlice())
	}
	if packet != first.Hold.View && first.Last {
		first.Hold.Release()
	}
	return packet
}

// rest sets the timer for the first packet, if there is one. Until then next
// stays at a time that has passed, so that no offer sets the timer in vain.
func (p *pump) rest(now time.Duration) {
	p.next = never
	if at, ok := p.due(); ok {
		p.wake(now, at)
	}
}

// stop ends the delivery and waits for the goroutine. What is on its way is
// lost, and what is offered later is neither carried nor seen.
func (p *pump) stop() {
	p.mu.Lock()
	p.closed = true
	p.wake(0, 0)
	p.mu.Unlock()
	<-p.done
	p.timer.Stop()
	for {
		_, left, ok := p.pop(never)
		if !ok {
			return
		}
		if left.Last && left.Router == nil {
			left.Hold.Release()
		}
	}
}

// facts returns what was seen until now, for a load that ended at time end.
func (p *pump) facts(end time.Duration) (lab.Wire, lab.Lateness) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.witness.Facts(end, margin), link.Summary(&p.late)
}

// cut is facts, with the packets that were seen until now, for a load that
// started at time start. None is kept thereafter.
func (p *pump) cut(start, end time.Duration) (lab.Wire, lab.Lateness, *wire.Capture) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.witness.Facts(end, margin), link.Summary(&p.late), p.witness.Capture(start, end)
}
