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
	d    lab.Direction // up, if not said
}{
	{name: "rate, loss", path: lab.Path{Up: lab.Way{
		Delay: 20 * time.Millisecond, Rate: 1e8, Loss: lab.Loss{Share: 0.01}, Queue: lab.Queue{Packets: 100},
	}}},
	{name: "delay", path: lab.Path{Up: lab.Way{Delay: 20 * time.Millisecond}}},
	{name: "Gilbert", path: lab.Path{Up: lab.Way{
		Delay: 20 * time.Millisecond, Rate: 1e8, Loss: lab.Loss{Gilbert: lab.Gilbert{P: 0.01, R: 0.3, Bad: 0.9, Good: 0.001}},
	}}},
	{name: "jitter", path: lab.Path{Up: lab.Way{
		Delay: 20 * time.Millisecond, Rate: 1e8, Jitter: lab.Jitter{Spread: 2 * time.Millisecond, Distribution: lab.Normal, Correlation: 0.5},
	}}},
	{name: "jitter in order", path: lab.Path{Up: lab.Way{
		Delay: 20 * time.Millisecond, Jitter: lab.Jitter{Spread: 2 * time.Millisecond, InOrder: true},
	}}},
	{name: "reorder, duplicate, corrupt, limit", path: lab.Path{Up: lab.Way{
		Delay: 20 * time.Millisecond, Reorder: lab.Reorder{Share: 0.1}, Duplicate: lab.Chance{Share: 0.1, Correlation: 0.2},
		Corrupt: lab.Chance{Share: 0.1}, Limit: 1000,
	}}},
	{name: "rules", path: lab.Path{Up: lab.Way{
		Delay: 20 * time.Millisecond, Rules: "drop udp above 1412B 1.5%; drop initial nth 2; outage from 1h to 2h; drop every 5s",
	}}},
	{name: "rebind", path: lab.Path{Up: lab.Way{Delay: 20 * time.Millisecond}, Rebind: lab.Rebind{At: time.Second, Transport: lab.UDP}}},
	{name: "rebind, back", path: lab.Path{Down: lab.Way{Delay: 20 * time.Millisecond}, Rebind: lab.Rebind{At: 1}}, d: lab.Down},
}

// offering returns a function that offers a packet to a busy way and takes out
// what is due.
func offering(path lab.Path, d lab.Direction) func() {
	link, now := New[int](path, 1), time.Duration(0)
	up := build{transport: lab.UDP, size: 1500, payload: oneRTT}.bytes()
	link.Offer(lab.Up, now, up, false, 1)
	link.Offer(lab.Up, now+1, up, false, 1) // rebound: the answer's mapping is that of this one
	for _, ok := link.Pop(lab.Up, time.Second); ok; _, ok = link.Pop(lab.Up, time.Second) {
	}
	packet, arrives := build{transport: lab.UDP, d: d, size: 1500, payload: oneRTT}.bytes(), make([]byte, 1500)
	if f := link.ways[d].nat; f != nil && d == lab.Down {
		mapped := f.flows[uint32(protoUDP)<<16|50000].at.port
		packet = build{transport: lab.UDP, d: d, size: 1500, payload: oneRTT, port: mapped}.bytes()
	}
	return func() {
		now += 119 * time.Microsecond
		link.Offer(d, now, packet, false, 1)
		for out, ok := link.Pop(d, now); ok; out, ok = link.Pop(d, now) {
			if out.Changed() {
				copy(arrives, packet[:80])
				out.Apply(arrives)
			}
		}
	}
}

func BenchmarkOffer(b *testing.B) {
	for _, busy := range busyPaths {
		b.Run(busy.name, func(b *testing.B) {
			b.ReportAllocs()
			offer := offering(busy.path, busy.d)
			for b.Loop() {
				offer()
			}
		})
	}
}

// In steady state a packet costs no allocation.
func TestOfferAllocatesNothing(t *testing.T) {
	for _, busy := range busyPaths {
		offer := offering(busy.path, busy.d)
		for range 10000 {
			offer()
		}
		if n := testing.AllocsPerRun(10000, offer); n != 0 {
			t.Errorf("%s: %v allocations for a packet", busy.name, n)
		}
	}
}
