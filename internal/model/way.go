package model

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// way is one direction of a path: a rate, and a delay. All times are in seconds,
// sizes in bytes of IP.
//
// The rate is a token bucket, as internal/link has it: a packet leaves when the
// bucket has had enough for it, and after the one before.
type way struct {
	perByte  float64 // 0 without a rate
	depth    float64 // the time in which the rate fills the bucket
	delay    float64
	overhead float64 // that the rate counts for each packet
	queue    float64 // most seconds that a packet may wait

	free, full float64 // when the last packet left; when the bucket is full again
	busy       float64 // since when the way has had something to send
}

func newWay(w lab.Way, rtt float64) way {
	out := way{delay: w.Delay.Seconds(), overhead: float64(w.Overhead), queue: math.Inf(1)}
	if w.Rate == 0 {
		return out
	}
	out.perByte = 8 / float64(w.Rate)
	out.depth = float64(w.Burst) * out.perByte
	out.queue = queueTime(w, rtt)
	return out
}

// queueTime is how long the last of a full queue waits. Packets are counted as
// full ones.
func queueTime(w lab.Way, rtt float64) float64 {
	perByte := 8 / float64(w.Rate)
	switch q := w.Queue; {
	case q.Time > 0:
		return q.Time.Seconds()
	case q.BDP > 0:
		return q.BDP * rtt
	case q.Bytes > 0:
		return float64(q.Bytes) * perByte
	case q.Packets > 0:
		return float64(q.Packets*fullPacket) * perByte
	default:
		return float64(lab.DefaultQueue*fullPacket) * perByte
	}
}

// fullPacket is a packet of the internet's MTU, in bytes of IP.
const fullPacket = 1500

// slot is the time that a packet takes of the rate.
func (w *way) slot(size float64) float64 { return (size + w.overhead) * w.perByte }

// pass sends a packet at the given time. It returns when it arrives, and how
// long it waited for those before it.
func (w *way) pass(at, size float64) (arrival, waited float64) {
	waited = max(0, w.free-at)
	if waited == 0 {
		w.busy = at
	}
	w.full = max(w.full, at) + w.slot(size)
	w.free = max(at, w.free, w.full-w.depth)
	return w.free + w.delay, waited
}
