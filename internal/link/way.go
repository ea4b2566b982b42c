package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// way is one direction of a path: the stages through which a packet goes, in the
// order of way.offer. All times are the path's own.
type way[P any] struct {
	way lab.Way
	d   lab.Direction
	n   uint64 // packets offered so far

	reads  bool // some stage must know more of a packet than its size
	flows  bool // the queue must know its flow
	chancy bool // something is decided by chance

	nat       *nat // nil when the path has none; shared by both directions
	mtu       mtus
	rules     []*rule
	offered   counter
	losses    losses
	throttle  *throttle // nil when the way has none
	under     *underWay // nil when the way has no limit
	duplicate chance
	corrupt   chance
	bit       stream
	reorder   reorder
	jitter    jitter
	sender    *sender[P]

	newest time.Duration // delivery that no later packet may overtake
	line   line[parcel[P]]
	twins  twins

	back     *way[P]       // the other direction: where answers go
	answers  time.Duration // from the offer to the answer's delivery
	messages int           // of the emulated network, on their way in this direction
}

// parcel is what is on its way.
type parcel[P any] struct {
	hold    P
	message *[]byte // of the emulated network; hold means nothing then
	change  change
	twin    twin
	waited  time.Duration // before its transmission, which took
	sending time.Duration
	dropped discarded // why, while it waited
	marked  bool      // while it waited
}

// discarded says why a packet was dropped while it waited. It takes less room
// than a reason: parcels are moved often.
type discarded uint8

const (
	kept discarded = iota
	byAQM
	byQueue // to make room for others
)

func discardedFor(why lab.Reason) discarded {
	if why == lab.DropAQM {
		return byAQM
	}
	return byQueue
}

// reason is lab.NotDropped for what was kept.
func (d discarded) reason() lab.Reason {
	return [...]lab.Reason{kept: lab.NotDropped, byAQM: lab.DropAQM, byQueue: lab.DropQueue}[d]
}

// draws are what chance has in store for a packet, whatever becomes of it.
type draws struct {
	i                                index
	lost, twice, corrupt, overtaking bool
	jitter                           time.Duration
}

func newWay[P any](p lab.Path, d lab.Direction, seed uint64, count *uint64) *way[P] {
	w, key := p.Way(d), directionKey(seed, d)
	made := &way[P]{
		way: w, d: d, mtu: newMTUs(w), rules: newRules(w.Rules, key), losses: newLosses(w.Loss, key),
		duplicate: newChance(w.Duplicate, newStream(key, forDuplicate)),
		corrupt:   newChance(w.Corrupt, newStream(key, forCorrupt)), bit: newStream(key, forBit),
		reorder: reorder{newChance(lab.Chance{Share: w.Reorder.Share, Correlation: w.Reorder.Correlation},
			newStream(key, forReorder)), w.Reorder.Gap, 0},
		jitter:  newJitter(w.Jitter, newStream(key, forJitter)),
		line:    line[parcel[P]]{count: count},
		answers: p.RTT() / 2,
	}
	if w.Limit > 0 {
		made.under = newUnderWay(w.Limit)
	}
	if w.Throttle != (lab.Throttle{}) {
		made.throttle = newThrottle(w.Throttle)
	}
	made.sender = newSender(w, p.RTT(), made.out)
	made.needs()
	return made
}

// needs says which of the costly things the way must do for each packet.
func (w *way[P]) needs() {
	w.flows = w.way.AQM.Kind == lab.FQCoDel
	w.reads = w.flows || w.way.AQM.ECN || w.way.Loss.ECN || w.way.TooBig || w.throttle != nil
	w.chancy = w.losses.kind != lossNone || w.way.Jitter != (lab.Jitter{}) || w.way.Reorder != (lab.Reorder{}) ||
		w.way.Duplicate != (lab.Chance{}) || w.way.Corrupt != (lab.Chance{})
	for _, r := range w.rules {
		w.reads = w.reads || r.reads()
		w.chancy = w.chancy || r.Share > 0
	}
}

// draw decides what chance decides about the packet. It is called for every packet
// offered, before anything else is known of it: so that the nth packet's draws
// depend on n alone.
func (w *way[P]) draw(d *draws, continues bool) {
	d.i = newIndex(w.n)
	d.lost = w.losses.next(d.i, continues)
	d.twice = w.duplicate.next(d.i)
	d.corrupt = w.corrupt.next(d.i)
	d.overtaking = w.reorder.next(d.i)
	d.jitter = w.jitter.next(d.i)
}

func (w *way[P]) offer(now time.Duration, packet []byte, continues bool, hold P) lab.Fate {
	var drawn draws
	if w.chancy {
		w.draw(&drawn, continues)
	}
	w.n++
	var h headers
	if w.reads {
		h = readHeaders(packet)
	}
	e := entry[P]{hold: hold, size: len(packet), offered: now, last: true, ect: h.ecn != 0}
	fate := w.admit(now, packet, &h, &drawn, &e)
	w.offered.add(now, len(packet)) // behind the rules: a window opens behind the packet that opens it
	if fate.Drop != lab.NotDropped {
		return fate
	}
	return w.send(now, &drawn, &e, fate)
}

// admit takes the packet through the stages that can drop it before it comes to
// the queue.
func (w *way[P]) admit(now time.Duration, packet []byte, h *headers, drawn *draws, e *entry[P]) (fate lab.Fate) {
	if w.nat != nil {
		var ok bool
		if e.change, ok = w.nat.translate(w.d, now, packet, h); !ok {
			return lab.Fate{Drop: lab.DropNAT}
		}
	}
	if mtu := w.mtu.of(now); len(packet) > mtu {
		if w.way.TooBig {
			w.answer(now, message{tooBig: true, mtu: uint32(mtu)}, packet, h)
		}
		return lab.Fate{Drop: lab.DropMTU}
	}
	if reason := ruled(w.rules, now, drawn.i, packet, h); reason != lab.NotDropped {
		if reason == lab.DropReject {
			w.answer(now, message{}, packet, h)
		}
		return lab.Fate{Drop: reason}
	}
	if drawn.lost {
		if !w.way.Loss.ECN || !e.ect {
			return lab.Fate{Drop: lab.DropLoss}
		}
		e.change.mark, fate.Marked = true, true
	}
	if w.throttle != nil && !w.throttle.takes(now, h.transport(), len(packet)) {
		return lab.Fate{Drop: lab.DropThrottle}
	}
	if w.full(now) {
		return lab.Fate{Drop: lab.DropLimit}
	}
	if w.flows {
		e.flow = h.flow(packet)
	}
	return fate
}

// send puts the packet into the queue.
func (w *way[P]) send(now time.Duration, drawn *draws, e *entry[P], fate lab.Fate) lab.Fate {
	e.delay = max(w.way.Delay+drawn.jitter, 0)
	if drawn.overtaking {
		e.delay, e.overtakes, fate.Reordered = 0, true, true
	}
	sound := e.change
	if drawn.corrupt && e.size > 0 {
		e.change.flip, fate.Corrupted = uint32(w.bit.bits(drawn.i)%uint64(e.size*8))+1, true
	}
	if drawn.twice {
		return w.sendTwice(now, e, sound, fate)
	}
	if reason := w.take(now, e); reason != lab.NotDropped {
		return lab.Fate{Drop: reason}
	}
	return fate
}

// sendTwice puts the packet into the queue, and a sound copy behind it. Where
// there is no room for the packet there is no copy.
func (w *way[P]) sendTwice(now time.Duration, e *entry[P], sound change, fate lab.Fate) lab.Fate {
	e.twin, e.last = w.twins.born(), false
	if reason := w.take(now, e); reason != lab.NotDropped {
		w.twins.gone(e.twin)
		w.twins.gone(e.twin)
		return lab.Fate{Drop: reason}
	}
	e.change = sound
	if w.full(now) || w.take(now, e) != lab.NotDropped {
		w.twins.gone(e.twin)
		return fate
	}
	fate.Duplicated = true
	return fate
}

// take offers the packet to the sender.
func (w *way[P]) take(now time.Duration, e *entry[P]) lab.Reason {
	if w.under == nil {
		return w.sender.offer(now, e)
	}
	w.under.held++
	reason := w.sender.offer(now, e)
	if reason != lab.NotDropped {
		w.under.held--
	}
	return reason
}

// full says that netem's limit has no room for a packet.
func (w *way[P]) full(now time.Duration) bool {
	if w.under == nil {
		return false
	}
	w.sender.advance(now)
	return w.under.full(now)
}

// out takes from the sender a packet that leaves, or one that it drops then.
func (w *way[P]) out(starts, leaves time.Duration, e entry[P], later lab.Fate) {
	if w.under != nil {
		w.under.held--
	}
	at := leaves
	if later.Drop == lab.NotDropped {
		at = w.due(leaves, &e)
	}
	p := w.line.add(at)
	p.hold, p.change, p.twin = e.hold, e.change, e.twin
	p.waited, p.sending = starts-e.offered, leaves-starts
	if later.Drop != lab.NotDropped {
		p.dropped = discardedFor(later.Drop)
	}
	if later.Marked {
		p.marked, p.change.mark = true, true
	}
}

// due is when a packet that leaves arrives.
func (w *way[P]) due(leaves time.Duration, e *entry[P]) time.Duration {
	at := leaves + e.delay
	if w.way.Jitter.InOrder && !e.overtakes {
		at = max(at, w.newest)
		w.newest = at
	}
	if w.under != nil {
		w.under.due.Put(at, struct{}{})
	}
	return at
}

// maxMessages is how many messages of the emulated network may be on their way to
// one host. It says nothing about further packets, so that a flood of them costs
// no more memory.
const maxMessages = 1000

// answer sends a message about a packet of this direction back to its sender. It
// comes half a round trip after the offer, as if from the middle of the path; it
// takes no rate and no room in a queue, and is not lost.
func (w *way[P]) answer(now time.Duration, m message, packet []byte, h *headers) {
	if w.back.messages >= maxMessages {
		return
	}
	if b := m.bytes(packet, h); b != nil {
		w.back.messages++
		w.back.line.Put(now+w.answers, parcel[P]{message: &b})
	}
}

// next is when something can come out at the earliest.
func (w *way[P]) next() (at time.Duration, ok bool) {
	at, ok = w.line.Next()
	if decides, waits := w.sender.next(); waits && (!ok || decides < at) {
		return decides, true
	}
	return at, ok
}

// pop takes out the first thing that is due.
func (w *way[P]) pop(now time.Duration, out *Delivery[P]) bool {
	w.sender.advance(now)
	first := w.line.peek()
	if first == nil || first.at > now {
		return false
	}
	p := &first.packet
	out.Hold, out.At, out.change = p.hold, first.at, p.change
	out.Drop, out.Marked = p.dropped.reason(), p.marked
	out.Waited, out.Sending = p.waited, p.sending
	out.Last = p.twin == 0 || w.twins.gone(p.twin)
	if p.message != nil {
		w.messages--
		out.Router = *p.message
	}
	w.line.drop(first)
	return true
}
