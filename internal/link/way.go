package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// way is one direction of a path.
type way[P any] struct {
	way   lab.Way
	key   uint64
	n     uint64 // packets offered so far
	limit limit

	// free is when the link will have sent all that it accepted, and frac
	// what of a nanosecond is to be added to it, in 1/rate.
	free    time.Duration
	frac    int64
	waiting fifo

	line line[P] // what is on its way
}

// limit is a queue limit in packets or bytes; the zero limit is none.
type limit struct {
	packets int
	bytes   int64
}

func newWay[P any](p lab.Path, d lab.Direction, seed uint64, count *uint64) *way[P] {
	w := p.Way(d)
	if w.MTU == 0 {
		w.MTU = lab.DefaultMTU
	}
	return &way[P]{
		way:   w,
		key:   lab.Mix64(seed + uint64(d+1)*0x9e3779b97f4a7c15),
		limit: queueLimit(w, p.RTT()),
		line:  line[P]{count: count},
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

func (w *way[P]) offer(now time.Duration, packet []byte, hold P) lab.Fate {
	n, size := w.n, len(packet)
	w.n++
	if size > w.way.MTU {
		return lab.Fate{Drop: lab.DropMTU}
	}
	if w.lost(n) {
		return lab.Fate{Drop: lab.DropLoss}
	}
	at := now
	if w.way.Rate > 0 {
		if !w.admit(now, size) {
			return lab.Fate{Drop: lab.DropQueue}
		}
		w.send(now, size)
		at = w.free
	}
	w.line.Put(at+w.way.Delay, hold)
	return lab.Fate{}
}

func (w *way[P]) waits(now time.Duration) int64 {
	w.waiting.leave(now)
	return w.waiting.bytes
}

// lost decides about packet n from a counter-based generator, so that no
// packet's fate depends on another's.
func (w *way[P]) lost(n uint64) bool {
	if w.way.Loss.Share <= 0 {
		return false
	}
	const unit = 1.0 / (1 << 53)
	u := float64(lab.Mix64(w.key^lab.Mix64((n+1)*0x9e3779b97f4a7c15))>>11) * unit
	return u < w.way.Loss.Share
}

// admit says whether the queue has room for a packet that has to wait, and
// takes it in.
func (w *way[P]) admit(now time.Duration, size int) bool {
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
func (w *way[P]) send(now time.Duration, size int) {
	if w.free < now {
		w.free, w.frac = now, 0
	}
	rate := int64(w.way.Rate)
	bits := int64(size)*8*int64(time.Second) + w.frac
	w.free += time.Duration(bits / rate)
	w.frac = bits % rate
}
