package inproc

import (
	"context"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
	"github.com/samewire/samewire/internal/wire"
)

// asTheModel makes sure that each packet of a capture was offered in its order,
// and has the fate and the times that the path's model gives it, the time of its
// delivery once and for all. What the model delivers after the last delivery that
// was noted may be under way.
func asTheModel(t *testing.T, run lab.Run, c *wire.Capture) {
	t.Helper()
	model, noted := link.New[int](run.Cell.Path, run.Seed), [2]time.Duration{}
	want := make([]wire.Packet, len(c.Packets))
	for i, p := range c.Packets {
		if p.N != i+1 || i > 0 && p.At < c.Packets[i-1].At {
			t.Fatalf("in place %d: packet %d of %v", i, p.N, p.At)
		}
		if p.Delivered() {
			noted[p.Way] = max(noted[p.Way], p.Left)
		}
		whole := append(append([]byte(nil), p.Data...), make([]byte, p.Size-len(p.Data))...)
		want[i] = wire.Packet{Left: wire.Never, Fate: model.Offer(p.Way, p.At, whole, false, i)}
	}
	for d := range noted {
		for out, ok := model.Pop(lab.Direction(d), math.MaxInt64); ok; out, ok = model.Pop(lab.Direction(d), math.MaxInt64) {
			p, w := c.Packets[out.Hold], &want[out.Hold]
			switch {
			case w.Left != wire.Never || !p.Delivered() && p.Fate == w.Fate && out.At >= noted[d]:
			case out.Drop != lab.NotDropped:
				w.Fate.Drop = out.Drop
			default:
				w.Left, w.Waited, w.Sending = out.At, out.Waited, out.Sending
				w.Fate.Marked = w.Fate.Marked || out.Marked
			}
		}
	}
	for i, p := range c.Packets {
		w := want[i]
		if p.Left != w.Left || p.Waited != w.Waited || p.Sending != w.Sending || p.Fate != w.Fate {
			t.Fatalf("packet %d %s of %v: left %v, waited %v, sent for %v, fate %+v; the model says %v, %v, %v, %+v",
				p.N, p.Way, p.At, p.Left, p.Waited, p.Sending, p.Fate, w.Left, w.Waited, w.Sending, w.Fate)
		}
	}
}

func TestCaptureIsAsTheModel(t *testing.T) {
	for name, way := range map[string]lab.Way{
		"delay":            {Delay: 2 * time.Millisecond},
		"rate, loss":       {Delay: time.Millisecond, Rate: 50e6, Loss: lab.Loss{Share: 0.02}, Queue: lab.Queue{Packets: 20}},
		"jitter, twice":    {Delay: time.Millisecond, Jitter: lab.Jitter{Spread: time.Millisecond}, Duplicate: lab.Chance{Share: 0.1}},
		"queue management": {Delay: time.Millisecond, Rate: 20e6, AQM: lab.AQM{Kind: lab.CoDel, Target: time.Millisecond, Interval: 10 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			p := lab.Path{Up: way, Down: way}
			client := plainClient{size: 400e3, datagram: 100}
			h := open(t, p, func(ctx context.Context, host *Host, server netip.AddrPort) error {
				_ = client.get(ctx, host, server) // the datagram may be lost
				return nil
			})
			if h.Capture() != nil {
				t.Error("a capture before the load")
			}
			before := h.pump.now()
			report, err := h.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c, f := h.Capture(), h.Facts().Wire
			if len(c.Packets) < f.Up.Packets+f.Down.Packets || c.Skipped != 0 || f.Up.Packets == 0 {
				t.Fatalf("%d packets, facts of %d and %d", len(c.Packets), f.Up.Packets, f.Down.Packets)
			}
			if got := (c.End - c.Start).Seconds(); c.Start < before || math.Abs(got-report.Duration) > 1e-8 {
				t.Errorf("a load from %v to %v, which took %v s", c.Start, c.End, report.Duration)
			}
			asTheModel(t, h.run, c)
			drops := map[string]int{}
			for _, p := range c.Packets {
				if p.Fate.Drop != "" {
					drops[string(p.Fate.Drop)]++
				}
			}
			for reason, n := range drops {
				if have := f.Up.Drops[reason] + f.Down.Drops[reason]; have > n {
					t.Errorf("%d packets dropped by %s, facts say %d", n, reason, have)
				}
			}
			t.Logf("%d packets, drops %v", len(c.Packets), drops)
		})
	}
}
