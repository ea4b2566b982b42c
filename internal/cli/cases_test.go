package cli

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/worker"
)

// Faults from the field as conditions of a path, each with its control: the
// smallest input that shows them, on real stacks in virtual time.

func carryOver(t *testing.T, c *worker.Pool, notation string, p lab.Protocol, l lab.Load) lab.Record {
	t.Helper()
	run := runOf(lab.Cell{Path: notedPath(t, "case", notation), Load: l, Stack: lab.DefaultStack, Site: lab.Virtual, Protocol: p}, 1)
	return c.Carry(t.Context(), run)
}

// F04: one packet lost every 5 s limits a long download, and nothing else does.
func TestCaseOneLossEveryFiveSeconds(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	load := lab.Load{Name: "long", Objects: 1, Size: 100e6, Connections: lab.Connections{H1: 1}}
	for _, p := range []lab.Protocol{lab.H1, lab.H3} {
		lossy := mustOK(t, carryOver(t, c, "rtt 95ms rate 100mbit queue 1bdp down{drop every 5s}", p, load))
		took := *lossy.Value(lab.Duration)
		if n := lossy.Wire.Down.Drops[string(lab.DropRule)]; math.Abs(float64(n)-took/5) > 1.5 {
			t.Errorf("%s: %d packets were dropped in %.1f s, want one every 5 s", p, n, took)
		}
		if rate := *lossy.Value(lab.Goodput); rate > 93e6 {
			t.Errorf("%s: %.1f Mbit/s: the losses cost nothing", p, rate/1e6)
		}
	}
}

// F10: what a datagram needs. quic-go sends 1280 bytes at first: 1308 with the
// headers of IPv4. Below, h3 fails, while TCP learns of the MTU by ICMP.
func TestCasePathMTU(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	for _, tt := range []struct {
		mtu int
		h3  bool
	}{{1500, true}, {1328, true}, {1308, true}, {1307, false}, {1280, false}, {1228, false}, {1220, false}} {
		path := fmt.Sprintf("rtt 40ms mtu %d icmp", tt.mtu)
		if r := carryOver(t, c, path, lab.H3, small); (r.Outcome == lab.OK) != tt.h3 || !tt.h3 && !dropped(lab.DropMTU)(r) {
			t.Errorf("MTU %d: h3 works: want %v, got %s", tt.mtu, tt.h3, describeWire(r))
		}
		if r := carryOver(t, c, path, lab.H2, file); r.Outcome != lab.OK {
			t.Errorf("MTU %d: h2 is to work: %s", tt.mtu, describeWire(r))
		}
	}
}

// F11: large datagrams are lost now and then, small ones never. 1412 bytes of
// payload are 1440 with the headers of IPv4.
func TestCaseLossDependsOnSize(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	load := lab.Load{Name: "file", Objects: 1, Size: 20e6}
	r := mustOK(t, carryOver(t, c, "rtt 40ms rate 50mbit queue 1MB down{drop udp above 1440B 1.5%}", lab.H3, load))
	// quic-go needs a while until it has found out how large its datagrams may be.
	if n := r.Wire.Down.Drops[string(lab.DropRule)]; n < r.Wire.Down.Packets/300 || n > r.Wire.Down.Packets/50 {
		t.Errorf("%d of %d packets were dropped, want 1.5 %% of the large ones", n, r.Wire.Down.Packets)
	}
	if r := mustOK(t, carryOver(t, c, "rtt 40ms rate 50mbit queue 1MB down{drop udp above 1480B 1.5%}", lab.H3, load)); !clean(r) {
		t.Errorf("no packet is larger than 1480 B, but some were dropped: %s", describeWire(r))
	}
}

// F15: the ways in which UDP does not get through leave different traces.
func TestCaseUDPBlocked(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	for _, tt := range []struct {
		name, path string
		works      bool // h3
		shook      bool // the handshake was done
		icmp       bool
	}{
		{"open", "rtt 40ms", true, true, false},
		{"dropped", "rtt 40ms drop udp", false, false, false},
		{"rejected", "rtt 40ms reject udp", false, false, true},
		{"dropped after the handshake", "rtt 40ms drop udp 1rtt", false, true, false},
		{"dropped above a size", "rtt 40ms drop udp above 1250B", false, false, false},
	} {
		r := carryOver(t, c, tt.path, lab.H3, small)
		shook := r.Requests[0].AppConnect != nil
		if icmp := r.Wire.Down.Router > 0; (r.Outcome == lab.OK) != tt.works || shook != tt.shook || icmp != tt.icmp {
			t.Errorf("%s: handshake done %v, ICMP %v: %s", tt.name, shook, icmp, describeWire(r))
		}
		if r := carryOver(t, c, tt.path, lab.H2, small); r.Outcome != lab.OK {
			t.Errorf("%s: h2 is to work: %s", tt.name, describeWire(r))
		}
	}
}

// F18: the client's port changes, in mid-download or while the connection
// rests: QUIC goes on, and TCP ends.
func TestCaseRebinding(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	resting := func(d time.Duration) lab.Load {
		l := file
		l.Warm, l.Idle = true, d
		return l
	}
	const shaped = "rtt 40ms rate 20mbit queue 1MB "
	for _, tt := range []struct {
		name, path string
		protocol   lab.Protocol
		load       lab.Load
		ok         bool
	}{
		{"control, h1", shaped, lab.H1, file, true},
		{"in mid-download, h1", shaped + "rebind at 250ms", lab.H1, file, false},
		{"in mid-download, h3", shaped + "rebind at 250ms", lab.H3, file, true},
		{"after 20 s, h3", shaped + "rebind idle 15s", lab.H3, resting(20 * time.Second), true},
		{"after 20 s, h1", shaped + "rebind idle 15s", lab.H1, resting(20 * time.Second), false},
		{"after 20 s, h1, control", shaped, lab.H1, resting(20 * time.Second), true},
		{"after 35 s, h3", shaped + "rebind idle 30s", lab.H3, resting(35 * time.Second), true},
	} {
		if r := carryOver(t, c, tt.path, tt.protocol, tt.load); (r.Outcome == lab.OK) != tt.ok {
			t.Errorf("%s: want it to work: %v; %s", tt.name, tt.ok, describeWire(r))
		}
	}
}

// F20: netem's limit counts what is under way: 1000 packets on a path of 100 ms
// are 1000 × 1500 B / 50 ms = 240 Mbit/s at most, and what is dropped is named.
func TestCaseNetemLimit(t *testing.T) {
	t.Parallel()
	c := carrierOf(t, lab.Virtual, 1)
	load := lab.Load{Name: "long", Objects: 1, Size: 30e6, Connections: lab.Connections{H1: 1}}
	r := mustOK(t, carryOver(t, c, "rtt 100ms rate 1gbit limit 1000", lab.H1, load))
	if !dropped(lab.DropLimit)(r) {
		t.Errorf("want drops by the limit: %s", describeWire(r))
	}
	if rate := *r.Value(lab.Goodput); rate > 240e6 {
		t.Errorf("%.0f Mbit/s is more than the limit lets pass", rate/1e6)
	}
	if r := mustOK(t, carryOver(t, c, "rtt 100ms rate 1gbit queue 20MB", lab.H1, load)); !clean(r) {
		t.Errorf("the control dropped something: %s", describeWire(r))
	}
}
