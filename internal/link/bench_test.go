package link

import (
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// busyPaths are paths by what they cost: the first is the plain one of most
// studies.
var busyPaths = []struct {
	name string
	path lab.Path
}{
	{"rate, loss", lab.Path{Down: lab.Way{
		Delay: 20 * time.Millisecond, Rate: 1e8, Loss: lab.Loss{Share: 0.01}, Queue: lab.Queue{Packets: 100},
	}}},
	{"delay", lab.Path{Down: lab.Way{Delay: 20 * time.Millisecond}}},
	{"Gilbert", lab.Path{Down: lab.Way{
		Delay: 20 * time.Millisecond, Rate: 1e8, Loss: lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.3, Bad: 0.9, Good: 0.001}},
	}}},
	{"jitter", lab.Path{Down: lab.Way{
		Delay: 20 * time.Millisecond, Rate: 1e8, Jitter: lab.Jitter{Spread: 2 * time.Millisecond, Distribution: lab.Normal, Correlation: 0.5},
	}}},
	{"jitter in order", lab.Path{Down: lab.Way{
		Delay: 20 * time.Millisecond, Jitter: lab.Jitter{Spread: 2 * time.Millisecond, InOrder: true},
	}}},
	{"reorder, duplicate, corrupt, limit", lab.Path{Down: lab.Way{
		Delay: 20 * time.Millisecond, Reorder: lab.Reorder{Share: 0.1}, Duplicate: lab.Chance{Share: 0.1, Correlation: 0.2},
		Corrupt: lab.Chance{Share: 0.1}, Limit: 1000,
	}}},
	{"rules", lab.Path{Down: lab.Way{
		Delay: 20 * time.Millisecond, Rules: "drop udp above 1412B 1.5%; drop initial nth 2; outage from 1h to 2h; drop every 5s",
	}}},
	{"rebind", lab.Path{Down: lab.Way{Delay: 20 * time.Millisecond}, Rebind: lab.Rebind{Every: time.Second, Transport: lab.UDP}}},
}

// offering returns a function that offers a packet to a busy way and takes out
// what is due.
func offering(path lab.Path) func() {
	packet, arrives := build{transport: lab.UDP, d: lab.Down, size: 1500, payload: oneRTT}.bytes(), make([]byte, 1500)
	link, now := New[int](path, 1), time.Duration(0)
	link.Offer(lab.Up, now, build{transport: lab.UDP}.bytes(), false, 0) // so that the answer's flow is known
	return func() {
		now += 119 * time.Microsecond
		link.Offer(lab.Down, now, packet, false, 1)
		for out, ok := link.Pop(lab.Down, now); ok; out, ok = link.Pop(lab.Down, now) {
			if out.Changed() {
				out.Apply(arrives)
			}
		}
	}
}

func BenchmarkOffer(b *testing.B) {
	for _, busy := range busyPaths {
		b.Run(busy.name, func(b *testing.B) {
			b.ReportAllocs()
			offer := offering(busy.path)
			for b.Loop() {
				offer()
			}
		})
	}
}

// In steady state a packet costs no allocation.
func TestOfferAllocatesNothing(t *testing.T) {
	for _, busy := range busyPaths {
		offer := offering(busy.path)
		for range 10000 {
			offer()
		}
		if n := testing.AllocsPerRun(10000, offer); n != 0 {
			t.Errorf("%s: %v allocations for a packet", busy.name, n)
		}
	}
}
