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
	done   chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	ways    [2]*link.Way
	witness *wire.Witness
	queue   link.Queue[parcel]
	late    link.Lateness
	next    time.Duration
	closed  bool
}

// parcel is a packet on its way.
type parcel struct {
	to     *nic
	packet *buffer.View
}

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

func newPump(opened time.Time, run lab.Run) *pump {
	p := &pump{opened: opened, timer: time.NewTimer(never), done: make(chan struct{}), witness: wire.New(), next: never}
	for d := range p.ways {
		p.ways[d] = link.New(run.Cell.Path, lab.Direction(d), run.Seed)
	}
	return p
}

// start begins to deliver, once both stacks can receive.
func (p *pump) start() { go p.run() }

// now is the run's own time.
func (p *pump) now() time.Duration { return time.Since(p.opened) }

// offer puts a packet of direction d on the link; it is delivered to the
// interface named. The pump takes the packet over.
func (p *pump) offer(d lab.Direction, to *nic, packet *buffer.View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		packet.Release()
		return
	}
	now := p.now()
	fate := p.ways[d].Offer(now, packet.Size())
	p.witness.See(d, now, packet.AsSlice(), string(fate.Drop))
	if fate.Drop != link.Delivered {
		packet.Release()
		return
	}
	p.queue.Put(fate.At, parcel{to, packet})
	if fate.At < p.next {
		p.wake(now, fate.At)
	}
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
		first, due, ok := p.queue.Pop(now)
		if !ok {
			p.rest(now)
			p.mu.Unlock()
			return true
		}
		p.late.Add(now - due)
		p.mu.Unlock()
		first.to.receive(first.packet)
	}
}

// rest sets the timer for the first packet, if there is one. Until then next
// stays at a time that has passed, so that no offer sets the timer in vain.
func (p *pump) rest(now time.Duration) {
	p.next = never
	if at, ok := p.queue.Next(); ok {
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
		left, _, ok := p.queue.Pop(never)
		if !ok {
			return
		}
		left.packet.Release()
	}
}

// facts returns what was seen until now, for a load that ended at time end.
func (p *pump) facts(end time.Duration) (lab.Wire, lab.Lateness) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.witness.Facts(end, margin), link.Summary(&p.late)
}
