package link

import (
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// room is the limit of a queue: on what waits for the rate, all packets
// together. A zero field is no limit.
type room struct {
	packets int
	bytes   int64         // IP bytes
	wait    time.Duration // until a packet's own transmission starts
}

// newRoom makes the limit that a way names. mean is the mean of its rate.
func newRoom(q lab.Queue, mean lab.Rate, rtt time.Duration) room {
	switch {
	case q.Packets > 0:
		return room{packets: q.Packets}
	case q.Bytes > 0:
		return room{bytes: q.Bytes}
	case q.BDP > 0:
		return room{bytes: carried(mean, q.BDP*rtt.Seconds())}
	case q.Time > 0:
		return room{wait: q.Time}
	default:
		return room{packets: lab.DefaultQueue}
	}
}

// carried is how many bytes a rate carries in so many seconds, and at least 1.
func carried(rate lab.Rate, seconds float64) int64 {
	return int64(min(max(math.Round(float64(rate)/8*seconds), 1), 1<<62))
}

// holds says whether so many packets, and bytes, may wait, the last of them for
// so long.
func (r room) holds(packets int, bytes int64, wait time.Duration) bool {
	return (r.packets == 0 || packets <= r.packets) &&
		(r.bytes == 0 || bytes <= r.bytes) &&
		(r.wait == 0 || wait <= r.wait)
}

// backlog is what waits in a queue whose packets are sent in the order in which
// they came: when each will start to be sent is known when it comes.
type backlog struct {
	items []starting
	head  int
	bytes int64
}

type starting struct {
	start time.Duration
	size  int
}

func (b *backlog) len() int { return len(b.items) - b.head }

func (b *backlog) join(start time.Duration, size int) {
	if b.head > 64 && b.head*2 > len(b.items) {
		b.items = append(b.items[:0], b.items[b.head:]...)
		b.head = 0
	}
	b.items = append(b.items, starting{start, size})
	b.bytes += int64(size)
}

// leave lets go of what has started to be sent by now.
func (b *backlog) leave(now time.Duration) {
	for b.head < len(b.items) && b.items[b.head].start <= now {
		b.bytes -= int64(b.items[b.head].size)
		b.head++
	}
	if b.head == len(b.items) {
		b.items, b.head = b.items[:0], 0
	}
}
