// Package link is the path model: what becomes of a packet that is offered to
// one direction of the emulated path at a given time.
//
// In go the time at which a packet is offered and its size; out comes its
// Fate: the time at which it is delivered, or the reason for its drop. The
// package is pure. It holds no packets and reads no clock: sites move the
// packets (see Queue for the order in which they become due) and say what time
// it is, so that one model serves virtual and real time.
//
// The stages, in order: MTU, loss, queue, rate, delay. As with netem, a packet
// that is lost takes no room in the queue and no time on the link.
//
// Properties that an edit must keep:
//   - the fate of loss of the nth packet of a direction depends on seed,
//     direction and n alone: not on time, size, protocol, site, or on what
//     became of other packets;
//   - without loss by queue, departures are exact: n packets of one size leave
//     in n × size / rate, without drift, whenever the caller is late;
//   - packets are delivered in the order in which they were offered;
//   - memory is bounded by the queue limit.
//
// It also counts lateness (Lateness), which is no part of the model.
//
// Not modelled yet: jitter, reordering, duplication, corruption, bursts of
// loss, active queue management, policers, outages.
package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Reason says why a packet was dropped; the empty Reason that it was not.
type Reason string

// The reasons for a drop.
const (
	Delivered Reason = ""
	ByMTU     Reason = "mtu"   // larger than the direction's MTU: a black hole
	ByLoss    Reason = "loss"  // by chance
	ByQueue   Reason = "queue" // the queue was full
)

// Fate is what becomes of a packet.
type Fate struct {
	At   time.Duration // when it is delivered; meaningless when dropped
	Drop Reason
}

// Way is one direction of a path. It is not safe for concurrent use.
type Way struct {
	way   lab.Way
	key   uint64
	n     uint64 // packets offered so far
	limit limit

	// free is when the link will have sent all that it accepted, and frac
	// what of a nanosecond is to be added to it, in 1/rate.
	free    time.Duration
	frac    int64
	waiting fifo
}

// limit is a queue limit in packets or bytes; the zero limit is none.
type limit struct {
	packets int
	bytes   int64
}

// New makes direction d of a path whose fates follow from seed.
func New(p lab.Path, d lab.Direction, seed uint64) *Way {
	w := p.Way(d)
	if w.MTU == 0 {
		w.MTU = lab.DefaultMTU
	}
	return &Way{
		way:   w,
		key:   lab.Mix64(seed + uint64(d+1)*0x9e3779b97f4a7c15),
		limit: queueLimit(w, p.RTT()),
	}
}

func queueLimit(w lab.Way, rtt time.Duration) limit {
	switch {
	case w.Rate == 0:
		return limit{}
	case w.Queue.Packets > 0:
		return limit{packets: w.Queue.Packets}
	case w.Queue.Bytes > 0:
		return limit{bytes: w.Queue.Bytes}
	case w.Queue.BDP > 0:
		bdp := w.Queue.BDP * float64(w.Rate) / 8 * rtt.Seconds()
		return limit{bytes: max(int64(bdp), 1)}
	default:
		return limit{packets: lab.DefaultQueue}
	}
}

// Offer puts a packet of size IP bytes on the link at time now, which must not
// be before the time of an earlier offer, and returns its fate.
func (w *Way) Offer(now time.Duration, size int) Fate {
	n := w.n
	w.n++
	if size > w.way.MTU {
		return Fate{Drop: ByMTU}
	}
	if w.lost(n) {
		return Fate{Drop: ByLoss}
	}
	if w.way.Rate == 0 {
		return Fate{At: now + w.way.Delay}
	}
	if !w.admit(now, size) {
		return Fate{Drop: ByQueue}
	}
	w.send(now, size)
	return Fate{At: w.free + w.way.Delay}
}

// Offered is the number of packets offered so far.
func (w *Way) Offered() uint64 { return w.n }

// Waiting returns how many bytes wait for the rate at time now. The packet
// that is being sent does not wait.
func (w *Way) Waiting(now time.Duration) int64 {
	w.waiting.leave(now)
	return w.waiting.bytes
}

// lost decides about packet n from a counter-based generator, so that no
// packet's fate depends on another's.
func (w *Way) lost(n uint64) bool {
	if w.way.Loss <= 0 {
		return false
	}
	const unit = 1.0 / (1 << 53)
	u := float64(lab.Mix64(w.key^lab.Mix64((n+1)*0x9e3779b97f4a7c15))>>11) * unit
	return u < w.way.Loss
}

// admit says whether the queue has room for a packet that has to wait, and
// takes it in.
func (w *Way) admit(now time.Duration, size int) bool {
	w.waiting.leave(now)
	if w.free <= now {
		return true
	}
	if w.limit.packets > 0 && w.waiting.len() >= w.limit.packets {
		return false
	}
	if w.limit.bytes > 0 && w.waiting.bytes+int64(size) > w.limit.bytes {
		return false
	}
	w.waiting.join(w.free, size)
	return true
}

// send moves free on by the time that size bytes take at the rate. The
// remainder of the division is carried over, so that rates are exact.
func (w *Way) send(now time.Duration, size int) {
	if w.free < now {
		w.free, w.frac = now, 0
	}
	rate := int64(w.way.Rate)
	bits := int64(size)*8*int64(time.Second) + w.frac
	w.free += time.Duration(bits / rate)
	w.frac = bits % rate
}
