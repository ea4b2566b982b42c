package link

import (
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// offering returns a function that offers a packet to a busy way and takes out
// what is due.
func offering() func() {
	down := lab.Way{Delay: 20 * time.Millisecond, Rate: 1e8, Loss: lab.Loss{Share: 0.01}, Queue: lab.Queue{Packets: 100}}
	link, now, packet := New[int](lab.Path{Down: down}, 1), time.Duration(0), make([]byte, 1500)
	return func() {
		now += 119 * time.Microsecond
		link.Offer(lab.Down, now, packet, false, 1)
		link.Pop(lab.Down, now)
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
