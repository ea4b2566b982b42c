package link

import (
	"math/bits"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// forever is later than anything that a path does (146 years). Times stop there
// instead of overflowing, and leave room for delays to be added.
const forever time.Duration = 1 << 62

// transmitter is a rate: it takes packets one after another and sends them.
//
// Properties that an edit must keep:
//   - a packet is taken at the time that ready named for it, and the next one
//     is asked for only after that; since never falls from call to call;
//   - take returns no time before at, and none before an earlier packet's;
//   - what ready and take return depends on the times and sizes of the packets
//     taken alone, not on how often, or how late, ready was asked.
type transmitter interface {
	// ready says when a packet that has waited since the given time may be
	// taken, if none is taken before it.
	ready(since time.Duration) time.Duration
	// take starts to send a packet of so many bytes at time at, and says when
	// its last byte will have left.
	take(at time.Duration, size int) time.Duration
}

// tokens is a token bucket. What it lacks is kept as the time at which it will
// be full again, so that tokens come continuously and nothing is ever rounded:
// times are whole nanoseconds and a rest in 1/rate of a nanosecond.
type tokens struct {
	rate int64 // bit/s

	depth     time.Duration // what it holds when full, as the time in which the rate fills it,
	depthRest int64         // and the rest of that

	full     time.Duration // when it will be full again,
	fullRest int64         // and the rest of that
}

func newTokens(rate lab.Rate, burst int64) tokens {
	b := tokens{rate: int64(rate)}
	high, low := bits.Mul64(uint64(burst), 8*uint64(time.Second))
	if high >= uint64(rate) {
		b.depth = forever
		return b
	}
	depth, rest := bits.Div64(high, low, uint64(rate))
	b.depth, b.depthRest = time.Duration(depth), int64(rest)
	if depth > uint64(forever) {
		b.depth, b.depthRest = forever, 0
	}
	return b
}

// after returns when the bucket will be full again if size bytes are taken out
// of it at time at; they may be more than it holds.
func (b *tokens) after(at time.Duration, size int) (full time.Duration, rest int64) {
	full, rest = b.full, b.fullRest
	if full < at {
		full, rest = at, 0
	}
	sum := int64(size)*8*int64(time.Second) + rest
	full += time.Duration(sum / b.rate)
	if full >= forever {
		return forever, 0
	}
	return full, sum % b.rate
}

// conforms says whether the bucket has size bytes at time now, and takes them
// out if it has.
func (b *tokens) conforms(now time.Duration, size int) bool {
	full, rest := b.after(now, size)
	// It has them if it lacks no more than it can hold: full − depth ≤ now.
	enough := full - b.depth
	if enough > now || enough == now && rest > b.depthRest {
		return false
	}
	b.full, b.fullRest = full, rest
	return true
}

// wire is a fixed rate. A packet leaves when the bucket has had enough for it:
// with a bucket that holds nothing, when its last bit is sent.
type wire struct {
	tokens
	free time.Duration // when the last packet leaves
}

func (w *wire) ready(since time.Duration) time.Duration { return max(since, w.free) }

func (w *wire) take(at time.Duration, size int) time.Duration {
	w.full, w.fullRest = w.after(at, size)
	enough := w.full - w.depth
	if w.fullRest < w.depthRest {
		enough-- // rounded down, as all times are
	}
	w.free = max(at, enough)
	return w.free
}
