package cli

import (
	"fmt"
	"math"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/worker"
)

// What the wire shows of senders whose ways are known: gVisor's TCP has an
// initial window of ten segments and the congestion control that it is told;
// quic-go has 32 packets, Reno with a factor of 0.7, and paces.

// sending carries out one download and returns the server as a sender.
func sending(t *testing.T, c *worker.Pool, notation, cc string, p lab.Protocol, size float64) (lab.Record, lab.SenderFacts) {
	t.Helper()
	stack := lab.DefaultStack
	stack.CC = cc
	r := mustOK(t, c.Carry(t.Context(), runOf(lab.Cell{
		Path: notedPath(t, "sender", notation), Stack: stack, Site: lab.Virtual, Protocol: p,
		Load: lab.Load{Name: "one", Objects: 1, Size: int64(size)},
	}, 1)))
	if len(r.Wire.Conversations) != 1 || r.Wire.Conversations[0].Down.Recoveries == nil {
		t.Fatalf("%s, %s: the packets were not read: %+v", notation, p, r.Wire.Conversations)
	}
	return r, r.Wire.Conversations[0].Down
}

func TestVirtualInitialWindows(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	for _, path := range []string{"rtt 40ms", "rtt 40ms rate 100mbit", "rtt 150ms rate 20mbit"} {
		for p, want := range map[lab.Protocol]int{lab.H1: 10, lab.H2: 10, lab.H3: 32} {
			r, s := sending(t, c, path, "cubic", p, 1e6)
			if s.InitialWindowPackets == nil || *s.InitialWindowPackets != want {
				t.Errorf("%s, %s: initial window %v packets, want %d", path, p, s.InitialWindowPackets, want)
			}
			if *s.Recoveries != (lab.Recoveries{}) || *s.Retransmitted != 0 || *s.Payload < 1e6 || s.Backoff != nil || s.CC != "" {
				t.Errorf("%s, %s: %+v: nothing was lost", path, p, s)
			}
			b := r.Wire.Down.Bursts
			if paced := p == lab.H3; (b.Paced != nil && *b.Paced) != paced || (b.PacingRate != nil) != paced {
				t.Errorf("%s, %s: paced %v, want %v", path, p, b.Paced, paced)
			}
		}
	}
	if _, s := sending(t, c, "rtt 40ms", "cubic", lab.H1, 5000); s.InitialWindow != nil {
		t.Errorf("5 kB show an initial window of %d", *s.InitialWindow)
	}
}

func TestVirtualRecoveries(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	const path = "rtt 40ms rate 100mbit"
	for _, p := range lab.Protocols() {
		if _, s := sending(t, c, path+" down{drop nth 60}", "cubic", p, 200e3); *s.Recoveries != (lab.Recoveries{Fast: 1}) {
			t.Errorf("%s, one packet lost: %+v", p, *s.Recoveries)
		}
		// The last packets are lost, whatever their number is.
		whole, _ := sending(t, c, path, "cubic", p, 200e3)
		tail := fmt.Sprintf("%s down{drop after %dB down for 50ms}", path, whole.Wire.Down.Bytes-4000)
		// gVisor takes the one block of SACK that the probe brings for no loss.
		want := lab.Recoveries{TLP: 1, RTO: 1}
		if p == lab.H3 {
			want = lab.Recoveries{PTO: 1}
		}
		r, s := sending(t, c, tail, "cubic", p, 200e3)
		if *s.Recoveries != want || len(r.Wire.Down.Drops) == 0 {
			t.Errorf("%s, the tail lost (%v): %+v, want %+v", p, r.Wire.Down.Drops, *s.Recoveries, want)
		}
	}
}

func TestVirtualCongestionControls(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	// Few losses, far from each other, and many, on paths whose queue overflows not
	// or late.
	const few, many = "rtt 40ms rate 100mbit queue 4bdp down{drop nth 400,3000,6000,9000,12000,15000,18000}", "rtt 40ms rate 100mbit loss 0.3%"
	for _, tt := range []struct {
		path   string
		p      lab.Protocol
		set    string
		factor float64
		want   string
	}{
		{few, lab.H1, "cubic", 0.7, "cubic"},
		{few, lab.H3, "cubic", 0.7, "reno"},
		{many, lab.H1, "reno", 0.5, "reno"},
	} {
		_, s := sending(t, c, tt.path, tt.set, tt.p, 30e6)
		if s.Backoff == nil || math.Abs(*s.Backoff-tt.factor) > 0.05 {
			t.Errorf("%s with %s: back-off %v, want %.1f", tt.p, tt.set, s.Backoff, tt.factor)
		}
		t.Logf("%s with %s: %+v %s", tt.p, tt.set, *s.Recoveries, s.CCWhy)
		if s.CC != tt.want || s.CCWhy == "" {
			t.Errorf("%s with %s: %q (%s), want %s", tt.p, tt.set, s.CC, s.CCWhy, tt.want)
		}
	}
}

// A queue of 40 packets overflows: its delay is at most 40 packets' time, and the
// link is busy to the end.
func TestVirtualUsage(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	for _, p := range []lab.Protocol{lab.H1, lab.H3} {
		r, _ := sending(t, c, "rtt 20ms rate 10mbit queue 40", "cubic", p, 20e6)
		u := r.Wire.Down.Usage
		if u == nil || u.Busy == nil || u.QueueDelayMax == nil || u.InFlightPeak == nil {
			t.Fatalf("%s: %+v", p, u)
		}
		longest := 40 * 1500 * 8 / 10e6
		if *u.QueuePackets != 40 || *u.QueueDelayMax > longest || *u.QueueDelayMax < 0.8*longest || *u.QueueDelayP99 > *u.QueueDelayMax {
			t.Errorf("%s: %d packets and %.4f s in the queue, want 40 and a little less than %.4f", p, *u.QueuePackets, *u.QueueDelayMax, longest)
		}
		if *u.Busy < 0.95 || *u.Busy > 1 || *u.Idle > 0.06 {
			t.Errorf("%s: busy %.3f, idle for %.4f s", p, *u.Busy, *u.Idle)
		}
		if n := len(u.InFlight); n == 0 || n > 64 || *u.InFlightPeak < 30*1200 {
			t.Errorf("%s: %d points, at most %d bytes in flight", p, n, *u.InFlightPeak)
		}
		if up := r.Wire.Up.Usage; up.Busy == nil || *up.Busy > 0.2 {
			t.Errorf("%s: upstream %+v", p, up)
		}
	}
}
