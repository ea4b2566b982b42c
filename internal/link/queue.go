package link

import "time"

// fifo holds the packets that wait for the rate: when each starts to be sent,
// and its size.
type fifo struct {
	items []waiter
	head  int
	bytes int64
}

type waiter struct {
	start time.Duration
	size  int
}

func (f *fifo) len() int { return len(f.items) - f.head }

func (f *fifo) join(start time.Duration, size int) {
	if f.head > 64 && f.head*2 > len(f.items) {
		f.items = append(f.items[:0], f.items[f.head:]...)
		f.head = 0
	}
	f.items = append(f.items, waiter{start, size})
	f.bytes += int64(size)
}

func (f *fifo) leave(now time.Duration) {
	for f.head < len(f.items) && f.items[f.head].start <= now {
		f.bytes -= int64(f.items[f.head].size)
		f.head++
	}
	if f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
	}
}
