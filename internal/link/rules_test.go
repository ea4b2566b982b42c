package link

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// The first bytes of QUIC packets, of version 1.
var (
	initial   = []byte{0xc0, 0, 0, 0, 1, 8}
	zeroRTT   = []byte{0xd0, 0, 0, 0, 1, 8}
	handshake = []byte{0xe0, 0, 0, 0, 1, 8}
	retry     = []byte{0xf0, 0, 0, 0, 1, 8}
	oneRTT    = []byte{0x40, 1, 2, 3}
)

func udp(payload []byte) []byte { return build{transport: lab.UDP, payload: payload}.bytes() }

var (
	segment = build{transport: lab.TCP}.bytes()
	syn     = build{transport: lab.TCP, syn: true}.bytes()
)

// step is one packet offered to a direction, and the reason for its drop.
type step struct {
	d      lab.Direction
	now    time.Duration
	packet []byte
	want   lab.Reason
}

func sized(size int) []byte { return build{transport: lab.UDP, size: size}.bytes() }

func TestRules(t *testing.T) {
	const drop, up, down = lab.DropRule, lab.Up, lab.Down
	large, small := sized(1413), sized(1412)
	for _, tt := range []struct {
		name     string
		up, down lab.Rules
		steps    []step
	}{
		{"drop", "drop", "", []step{{up, 0, udp(nil), drop}, {up, 0, segment, drop}, {up, 0, zeros[:3], drop}, {down, 0, segment, ""}}},
		{"outage", "outage", "", []step{{up, 0, segment, lab.DropOutage}}},
		{"reject", "reject udp", "", []step{{up, 0, udp(nil), lab.DropReject}, {up, 0, segment, ""}}},
		{"transport", "drop tcp", "drop udp", []step{
			{up, 0, segment, drop}, {up, 0, udp(nil), ""}, {down, 0, segment, ""}, {down, 0, udp(nil), drop}, {down, 0, zeros[:100], ""},
		}},
		{"above", "drop above 1412B", "", []step{{up, 0, large, drop}, {up, 0, small, ""}}},
		{"SYN", "drop syn", "", []step{{up, 0, syn, drop}, {up, 0, segment, ""}, {up, 0, udp(initial), ""}}},
		{"Initial", "drop initial", "", []step{{up, 0, udp(initial), drop}, {up, 0, udp(handshake), ""}, {up, 0, udp(oneRTT), ""}, {up, 0, udp(nil), ""}}},
		{"0-RTT", "drop 0rtt", "", []step{{up, 0, udp(zeroRTT), drop}, {up, 0, udp(initial), ""}}},
		{"Handshake", "drop handshake", "", []step{{up, 0, udp(handshake), drop}, {up, 0, udp(retry), ""}}},
		{"Retry", "drop retry", "", []step{{up, 0, udp(retry), drop}, {up, 0, udp(zeroRTT), ""}}},
		{"1-RTT", "drop 1rtt", "", []step{{up, 0, udp(oneRTT), drop}, {up, 0, udp(initial), ""}, {up, 0, segment, ""}}},
		{"every third", "drop udp every 3", "", []step{
			{up, 0, udp(nil), ""}, {up, 0, udp(nil), ""}, {up, 0, segment, ""}, {up, 0, udp(nil), drop},
			{up, 0, udp(nil), ""}, {up, 0, udp(nil), ""}, {up, 0, udp(nil), drop},
		}},
		{"the server's second Initial", "", "drop initial nth 2", []step{
			{up, 0, udp(initial), ""}, {down, 0, udp(initial), ""}, {down, 0, udp(handshake), ""}, {up, 0, udp(initial), ""},
			{down, 0, udp(initial), drop}, {down, 0, udp(initial), ""},
		}},
		{"a list", "drop nth 1,3", "", []step{{up, 0, segment, drop}, {up, 0, segment, ""}, {up, 0, segment, drop}, {up, 0, segment, ""}}},
		{"from, to", "outage from 1s to 2s", "", []step{
			{up, 5 * time.Second, segment, ""}, // the path's clock starts here
			{up, 6*time.Second - 1, segment, ""}, {up, 6 * time.Second, segment, lab.DropOutage},
			{up, 7*time.Second - 1, segment, lab.DropOutage}, {up, 7 * time.Second, segment, ""},
		}},
		{"the clock starts with the other direction", "drop from 1s", "", []step{
			{down, time.Second, segment, ""}, {up, 2*time.Second - 1, segment, ""}, {up, 2 * time.Second, segment, drop},
		}},
		{"to alone", "drop to 1s", "", []step{{up, 0, segment, drop}, {up, time.Second, segment, ""}}},
		// F04: one packet every 5 s.
		{"every 5 s", "drop every 5s", "", []step{
			{up, 0, segment, ""}, {up, 5*time.Second - 1, segment, ""}, {up, 5 * time.Second, segment, drop}, {up, 5 * time.Second, segment, ""},
			{up, 9 * time.Second, segment, ""}, {up, 12 * time.Second, segment, drop}, {up, 14 * time.Second, segment, ""},
			{up, 31 * time.Second, segment, drop}, {up, 31 * time.Second, segment, ""}, // silence does not add up
			{up, 35 * time.Second, segment, drop},
		}},
		{"every 5 s of the window", "drop every 5s from 12s", "", []step{
			{up, 0, segment, ""}, {up, 12 * time.Second, segment, ""}, {up, 15 * time.Second, segment, drop}, {up, 19 * time.Second, segment, ""},
		}},
		{"every 5 s, where the window begins", "drop every 5s from 10s", "", []step{
			{up, 0, segment, ""}, {up, 9 * time.Second, segment, ""}, {up, 10 * time.Second, segment, drop}, {up, 11 * time.Second, segment, ""},
		}},
		{"nth in the window", "drop nth 2 from 1s", "", []step{
			{up, 0, segment, ""}, {up, 0, segment, ""}, {up, time.Second, segment, ""}, {up, time.Second, segment, drop},
		}},
		// F13: the client's datagrams between 60 kB and 200 ms later.
		{"after bytes of the other direction", "drop udp after 3kB down for 200ms", "", []step{
			{up, 0, udp(nil), ""}, {down, 10 * ms, sized(1500), ""}, {up, 20 * ms, udp(nil), ""}, {down, 30 * ms, sized(1500), ""},
			{up, 30 * ms, udp(nil), drop}, {up, 40 * ms, segment, ""}, {down, 50 * ms, sized(1500), ""},
			{up, 230*ms - 1, udp(nil), drop}, {up, 230 * ms, udp(nil), ""}, {down, 240 * ms, sized(1500), ""}, {up, 250 * ms, udp(nil), ""},
		}},
		{"after bytes of its own direction", "drop after 1000B", "", []step{
			{up, 0, sized(600), ""}, {down, 0, sized(1500), ""}, {up, 0, sized(600), ""}, {up, 0, sized(600), drop}, {up, time.Hour, sized(60), drop},
		}},
		{"after bytes of the direction named", "drop after 1000B up", "", []step{
			{up, 0, sized(1000), ""}, {up, 0, sized(60), drop},
		}},
		{"bytes that were dropped count", "drop nth 1; drop after 1000B", "", []step{
			{up, 0, sized(1000), drop}, {up, 0, sized(60), drop},
		}},
		// Each rule counts what comes to it, whatever the others did.
		{"the first that takes it decides", "outage nth 2; drop every 2", "", []step{
			{up, 0, segment, ""}, {up, 0, segment, lab.DropOutage}, {up, 0, segment, ""}, {up, 0, segment, drop},
		}},
		// F15: UDP dropped after the handshake; above N bytes.
		{"UDP after the handshake", "drop udp 1rtt", "drop udp 1rtt", []step{
			{up, 0, udp(initial), ""}, {down, ms, udp(initial), ""}, {up, 2 * ms, udp(handshake), ""}, {up, 3 * ms, udp(oneRTT), drop},
			{down, 4 * ms, udp(oneRTT), drop}, {up, 5 * ms, segment, ""},
		}},
		{"UDP above 1228 B", "drop udp above 1228B", "", []step{
			{up, 0, sized(1228), ""}, {up, 0, sized(1229), drop}, {up, 0, build{transport: lab.TCP, size: 1500}.bytes(), ""},
		}},
	} {
		link := New[int](lab.Path{Up: lab.Way{Rules: tt.up}, Down: lab.Way{Rules: tt.down}}, 1)
		for i, s := range tt.steps {
			if got := link.Offer(s.d, s.now, s.packet, false, 0).Drop; got != s.want {
				t.Errorf("%s: step %d, %s at %v: %q, want %q", tt.name, i, s.d, s.now, got, s.want)
			}
		}
	}
}

// F11: datagrams above 1412 B are lost at 1.5 %, smaller ones never; which of
// them depends on their number alone.
func TestRuleShare(t *testing.T) {
	const n, p = 200_000, 0.015
	way := lab.Way{Rules: "drop udp above 1412B 1.5%"}
	link, all, large := New[int](lab.Path{Up: way}, 3), New[int](lab.Path{Up: way}, 3), 0
	lost, big, small := 0, sized(1413), sized(1412)
	for i := range n {
		packet := small
		if i%3 > 0 {
			packet = big
			large++
		}
		got := link.Offer(lab.Up, time.Duration(i), packet, false, 0).Drop == lab.DropRule
		if want := all.Offer(lab.Up, 0, big, false, 0).Drop == lab.DropRule && i%3 > 0; got != want {
			t.Fatalf("packet %d: dropped %v, want %v", i, got, want)
		}
		if got {
			lost++
		}
		link.Pop(lab.Up, time.Hour)
		all.Pop(lab.Up, time.Hour)
	}
	near(t, "lost", lost, float64(large)*p, math.Sqrt(float64(large)*p*(1-p)))
}

// Rules of a share draw each from a stream of their own.
func TestRuleSharesAreIndependent(t *testing.T) {
	const n = 100_000
	link, counts := New[int](lab.Path{Up: lab.Way{Rules: "drop 50%; outage 50%; reject 50%"}}, 3), map[lab.Reason]int{}
	for range n {
		counts[link.Offer(lab.Up, 0, zeros[:100], false, 0).Drop]++
		link.Pop(lab.Up, 0)
	}
	for reason, share := range map[lab.Reason]float64{lab.DropRule: 0.5, lab.DropOutage: 0.25, lab.DropReject: 0.125, "": 0.125} {
		near(t, fmt.Sprintf("%q", reason), counts[reason], n*share, math.Sqrt(n*share*(1-share)))
	}
}

// F04 on a busy path: one packet in 5 s, however many there are.
func TestOnePacketEveryFiveSeconds(t *testing.T) {
	link, drops := New[int](lab.Path{Down: lab.Way{Rules: "drop every 5s"}}, 1), []time.Duration{}
	for now := time.Duration(0); now < 61*time.Second; now += 120 * time.Microsecond {
		if link.Offer(lab.Down, now, zeros[:1500], false, 0).Drop != lab.NotDropped {
			drops = append(drops, now.Truncate(ms))
		}
		link.Pop(lab.Down, now)
	}
	want := []time.Duration{}
	for at := 5 * time.Second; at < 61*time.Second; at += 5 * time.Second {
		want = append(want, at)
	}
	if !slices.Equal(drops, want) {
		t.Errorf("drops at %v", drops)
	}
}

// Rules that nobody has read are a fault of the program.
func TestNewRefusesUnreadRules(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New took rules that ParseRules refuses")
		}
	}()
	New[int](lab.Path{Up: lab.Way{Rules: "drop everything"}}, 1)
}
