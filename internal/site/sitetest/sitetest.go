// Package sitetest holds all sites to one contract. A test of the roof gives
// it a site's Carrier; the suite carries out runs and looks at their records.
//
// What differs between sites is only how exact their clocks are: see
// Site.Slack.
package sitetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
	"github.com/samewire/samewire/internal/runner"
)

// Site is a site under test.
type Site struct {
	Name    lab.SiteName
	Carrier runner.Carrier
	// Slack is how much longer than on the path alone a handshake and a tiny
	// request may take here.
	Slack time.Duration
}

// Test runs the whole suite.
func Test(t *testing.T, s Site) {
	t.Run("speaks", s.speaks)
	t.Run("ipv6", s.ipv6)
	t.Run("round trips", s.roundTrips)
	t.Run("loads", s.loads)
	t.Run("connections", s.connections)
	t.Run("fates", s.fates)
	t.Run("rate", s.rate)
	t.Run("queue", s.queue)
	t.Run("senders", s.senders)
	t.Run("timeout", s.timeout)
	t.Run("stall", s.stall)
	t.Run("warm-up", s.warmUp)
	t.Run("unsupported", s.unsupported)
	t.Run("interrupted", s.interrupted)
}

// Run returns a run of the default stack: one object of 1000 bytes over a path
// of 20 ms RTT.
func (s Site) Run(p lab.Protocol) lab.Run {
	cell := lab.Cell{
		Path: lab.Path{
			Name: "test",
			Up:   lab.Way{Delay: 10 * time.Millisecond}, Down: lab.Way{Delay: 10 * time.Millisecond},
		},
		Load:  lab.Load{Name: "test", Objects: 1, Size: 1000},
		Stack: lab.DefaultStack, Site: s.Name, Protocol: p,
	}
	return lab.Run{
		ID: lab.RunID(cell, 1), Cell: cell, Rep: 1, Order: 1, Seed: 7,
		Timeout: 20 * time.Second, Lateness: time.Second, Authority: 3,
	}
}

func (s Site) carry(t *testing.T, run lab.Run) lab.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return s.Carrier.CarryOut(ctx, lab.Order{Run: run, Attempt: 1})
}

func (s Site) carryOK(t *testing.T, run lab.Run) lab.Record {
	t.Helper()
	r := s.carry(t, run)
	for n := 0; n < 3 && r.Outcome == lab.Invalid; n++ { // the machine was too busy
		t.Logf("again: %s", r.Reason)
		r = s.carry(t, run)
	}
	if r.Outcome != lab.OK {
		t.Fatalf("%s: %s: %s", run.Cell.Protocol, r.Outcome, r.Reason)
	}
	return r
}

// firstByte carries out a run until its first byte comes within a limit, in s, and
// returns the soonest: in real time whatever else the machine does makes some runs
// slower, and none faster.
func (s Site) firstByte(t *testing.T, run lab.Run, limit float64) (soonest float64) {
	t.Helper()
	for n := range 4 {
		if got := *s.carryOK(t, run).Value(lab.TTFB); n == 0 || got < soonest {
			soonest = got
		}
		if soonest <= limit {
			break
		}
	}
	return soonest
}

func each(t *testing.T, f func(*testing.T, lab.Protocol)) {
	for _, p := range lab.Protocols() {
		t.Run(string(p), func(t *testing.T) { f(t, p) })
	}
}

func (s Site) speaks(t *testing.T) {
	each(t, func(t *testing.T, p lab.Protocol) {
		r := s.carryOK(t, s.Run(p))
		q := r.Requests[0]
		if q.Protocol != string(p) || q.Status != 200 || q.Bytes != 1000 {
			t.Errorf("got protocol %s, status %d, %d bytes", q.Protocol, q.Status, q.Bytes)
		}
		if r.Wire.Up.Packets == 0 || r.Wire.Down.Packets == 0 || r.Wire.Digest == "" {
			t.Errorf("the witness saw nothing: %+v", r.Wire)
		}
		udp := r.Wire.Up.UDPPackets > 0
		if tcp := r.Wire.Up.TCPPackets > 0; udp == tcp || udp != (p == lab.H3) {
			t.Errorf("tcp %v, udp %v on the wire", tcp, udp)
		}
	})
}

func (s Site) ipv6(t *testing.T) {
	each(t, func(t *testing.T, p lab.Protocol) {
		run := s.Run(p)
		run.Cell.Path.Family = lab.IPv6
		r := s.carryOK(t, run)
		if r.Wire.Up.TCPPackets+r.Wire.Up.UDPPackets == 0 {
			t.Error("the witness read no IPv6 packet")
		}
	})
}

// roundTrips: a tiny request on a new connection takes three round trips over
// TCP and TLS 1.3, four over TLS 1.2, and two over QUIC.
func (s Site) roundTrips(t *testing.T) {
	cases := []struct {
		p     lab.Protocol
		tls   string
		trips float64
	}{
		{lab.H1, "1.3", 3}, {lab.H2, "1.3", 3}, {lab.H3, "1.3", 2}, {lab.H1, "1.2", 4}, {lab.H2, "1.2", 4},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.p, " TLS ", c.tls), func(t *testing.T) {
			run := s.Run(c.p)
			run.Cell.Path.Up.Delay, run.Cell.Path.Down.Delay = 50*time.Millisecond, 50*time.Millisecond
			run.Cell.Stack.TLS = c.tls
			want := c.trips * 0.1
			if got := s.firstByte(t, run, want+s.Slack.Seconds()); got < want-1e-6 || got > want+s.Slack.Seconds() {
				t.Errorf("first byte after %.1f ms, want %.0f to %.1f", got*1e3, want*1e3, (want+s.Slack.Seconds())*1e3)
			}
		})
	}
}

func (s Site) loads(t *testing.T) {
	cases := []lab.Load{
		{Name: "empty", Objects: 1, Size: 0},
		{Name: "many", Objects: 50, Size: 8192},
		{Name: "big", Objects: 1, Size: 1_000_000},
		{Name: "warm", Objects: 1, Size: 1000, Warm: true},
		{Name: "upload", Objects: 2, Size: 200_000, Upload: true},
	}
	for _, load := range cases {
		t.Run(load.Name, func(t *testing.T) {
			each(t, func(t *testing.T, p lab.Protocol) {
				run := s.Run(p)
				run.Cell.Load = load
				r := s.carryOK(t, run)
				for i, q := range r.Requests {
					if q.Bytes != load.Size || q.Outcome != lab.OK {
						t.Errorf("request %d: %d of %d bytes, %s", i, q.Bytes, load.Size, q.Outcome)
					}
				}
				if !load.Warm {
					return
				}
				if limit := 0.02 + s.Slack.Seconds(); *r.Value(lab.TTFB) > limit && s.firstByte(t, run, limit) > limit {
					t.Errorf("first byte on a warm connection after %.1f ms: more than one round trip", *r.Value(lab.TTFB)*1e3)
				}
			})
		})
	}
}

func (s Site) connections(t *testing.T) {
	cases := []struct {
		p               lab.Protocol
		objects, wanted int
	}{{lab.H1, 12, 6}, {lab.H1, 2, 2}, {lab.H2, 12, 1}, {lab.H3, 12, 1}, {lab.H2, 12, 3}, {lab.H3, 12, 3}}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %d of %d", c.p, c.wanted, c.objects), func(t *testing.T) {
			run := s.Run(c.p)
			run.Cell.Load.Objects = c.objects
			if c.p != lab.H1 {
				run.Cell.Load.Connections = lab.Connections{H2: c.wanted, H3: c.wanted}
			}
			r := s.carryOK(t, run)
			if *r.Connections != c.wanted || r.Wire.Connections != c.wanted {
				t.Errorf("client says %d connections, wire %d, want %d", *r.Connections, r.Wire.Connections, c.wanted)
			}
		})
	}
}

// fates: the link dropped exactly the packets that the model says, whatever
// the protocol.
func (s Site) fates(t *testing.T) {
	each(t, func(t *testing.T, p lab.Protocol) {
		run := s.Run(p)
		run.Cell.Load.Size = 300_000
		run.Cell.Path.Up.Loss.Share, run.Cell.Path.Down.Loss.Share = 0.02, 0.03
		r := s.carryOK(t, run)
		for d, way := range map[lab.Direction]lab.WireWay{lab.Up: r.Wire.Up, lab.Down: r.Wire.Down} {
			if want := lostOf(run, d, way.Packets); way.Drops[string(lab.DropLoss)] != want {
				t.Errorf("%s: %d of %d packets lost, the seed says %d", d, way.Drops[string(lab.DropLoss)], way.Packets, want)
			}
		}
	})
}

func lostOf(run lab.Run, d lab.Direction, packets int) (lost int) {
	model, packet := link.New[int](run.Cell.Path, run.Seed), make([]byte, 100)
	for range packets {
		if model.Offer(d, 0, packet, false, 0).Drop == lab.DropLoss {
			lost++
		}
	}
	return lost
}

func (s Site) rate(t *testing.T) {
	each(t, func(t *testing.T, p lab.Protocol) {
		run := s.Run(p)
		run.Cell.Load.Size = 1_000_000
		run.Cell.Path.Down.Rate = 8e6
		r := s.carryOK(t, run)
		share := *r.Value(lab.Goodput) / 8e6
		// Never more than the rate. How much less is the stacks' affair, and in real
		// time that of whatever else the machine does.
		if share > 1 || share < 0.5 {
			t.Errorf("goodput is %.2f of the rate", share)
		}
	})
}

func (s Site) queue(t *testing.T) {
	each(t, func(t *testing.T, p lab.Protocol) {
		run := s.Run(p)
		run.Cell.Load.Size = 500_000
		run.Cell.Path.Down.Rate = 8e6
		run.Cell.Path.Down.Queue = lab.Queue{Packets: 8}
		r := s.carryOK(t, run)
		if r.Wire.Down.Drops[string(lab.DropQueue)] == 0 {
			t.Errorf("a queue of 8 packets never overflowed: %+v", r.Wire.Down)
		}
	})
}

// senders: what really sends is read back, not believed.
func (s Site) senders(t *testing.T) {
	for _, cc := range []string{"cubic", "reno"} {
		run := s.Run(lab.H2)
		run.Cell.Stack.CC = cc
		r := s.carryOK(t, run)
		if len(r.Server.Senders) == 0 {
			t.Fatalf("%s: no sender was read back", cc)
		}
		got := r.Server.Senders[0]
		if got.CC != cc || got.InitialWindow != 10 || got.Source != "socket" {
			t.Errorf("the server's sender is %+v, want %s with 10 packets", got, cc)
		}
	}
}

func (s Site) timeout(t *testing.T) {
	each(t, func(t *testing.T, p lab.Protocol) {
		run := s.Run(p)
		run.Cell.Load.Size = 10_000_000
		run.Cell.Path.Down.Rate = 8e6
		run.Timeout = time.Second
		r := s.carry(t, run)
		if r.Outcome != lab.Timeout || r.Reason == "" {
			t.Errorf("got %s (%s), want timeout", r.Outcome, r.Reason)
		}
		if r.Value(lab.Duration) != nil || len(r.Requests) != 1 || r.Requests[0].Bytes == 0 {
			t.Errorf("the record must say how far it came, without a duration: %+v", r.Requests)
		}
	})
}

// stall: nothing comes back, and the client's probes come ever more rarely, at
// 0 and 1 s and then not before 3 s.
func (s Site) stall(t *testing.T) {
	each(t, func(t *testing.T, p lab.Protocol) {
		run := s.Run(p)
		run.Cell.Path.Down.Loss.Share = 1
		run.Timeout = 2 * time.Second
		r := s.carry(t, run)
		if r.Outcome != lab.Stalled || r.Wire.Silence < 0.3 || r.Wire.Silence > 2 {
			t.Errorf("got %s (%s) after a silence of %.2f s, want stalled", r.Outcome, r.Reason, r.Wire.Silence)
		}
		if r.Wire.Down.Drops[string(lab.DropLoss)] != r.Wire.Down.Packets {
			t.Errorf("not all was lost: %+v", r.Wire.Down)
		}
	})
}

// warmUp: a warm-up that the path defeats is the protocol's failure, not the lab's.
func (s Site) warmUp(t *testing.T) {
	each(t, func(t *testing.T, p lab.Protocol) {
		run := s.Run(p)
		run.Cell.Path.Down.Loss.Share = 1
		run.Cell.Load.Warm = true
		run.Timeout = 2 * time.Second
		if r := s.carry(t, run); r.Outcome != lab.Stalled {
			t.Errorf("got %s (%s), want stalled", r.Outcome, r.Reason)
		}
	})
}

func (s Site) unsupported(t *testing.T) {
	run := s.Run(lab.H1)
	run.Cell.Stack.CC = "nonesuch"
	r := s.carry(t, run)
	if r.Outcome != lab.Unsupported || r.Reason == "" {
		t.Errorf("got %s (%s), want unsupported", r.Outcome, r.Reason)
	}
}

// interrupted: a run given up in the middle does not harm the next.
func (s Site) interrupted(t *testing.T) {
	run := s.Run(lab.H2)
	run.Cell.Path.Down.Loss.Share = 1
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if r := s.Carrier.CarryOut(ctx, lab.Order{Run: run, Attempt: 1}); r.Outcome == lab.OK {
		t.Errorf("a run without an answer is ok: %+v", r)
	}
	s.carryOK(t, s.Run(lab.H2))
}
