package link

import (
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func busyWay() *Way {
	path := lab.Path{Down: lab.Way{Delay: 20 * time.Millisecond, Rate: 1e8, Loss: 0.01, Queue: lab.Queue{Packets: 100}}}
	return New(path, lab.Down, 1)
}

// offering returns a function that offers a packet to a busy way and takes out
// one that is due.
func offering() func() {
	way, queue, now := busyWay(), new(Queue[int]), time.Duration(0)
	return func() {
		now += 119 * time.Microsecond
		if fate := way.Offer(now, 1500); fate.Drop == Delivered {
			queue.Put(fate.At, 1)
		}
		queue.Pop(now)
	}
}

func BenchmarkOffer(b *testing.B) {
	b.ReportAllocs()
	offer := offering()
	for b.Loop() {
		offer()
	}
}

// In steady state a packet costs no allocation.
func TestOfferAllocatesNothing(t *testing.T) {
	offer := offering()
	for range 10000 {
		offer()
	}
	if n := testing.AllocsPerRun(10000, offer); n != 0 {
		t.Errorf("%v allocations for a packet", n)
	}
}
