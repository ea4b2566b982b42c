package link

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
)

// translated offers a packet to direction d of the link at time now, takes it
// out, and returns it as it arrives.
func translated(t reporter, link *Link[int], d lab.Direction, now time.Duration, packet []byte) ([]byte, lab.Reason) {
	t.Helper()
	if fate := link.Offer(d, now, packet, false, 0); fate.Drop != lab.NotDropped {
		return nil, fate.Drop
	}
	out, ok := link.Pop(d, now)
	if !ok {
		t.Fatal("a packet is not there")
	}
	arrives := bytes.Clone(packet)
	out.Apply(arrives)
	if out.Changed() == bytes.Equal(arrives, packet) {
		t.Errorf("changed is %v", out.Changed())
	}
	return arrives, ""
}

// external sends a packet of the client's port and returns how the server sees
// where it is from.
func external(t reporter, link *Link[int], now time.Duration, p build) netip.AddrPort {
	t.Helper()
	p.d = lab.Up
	sent := p.bytes()
	b, reason := translated(t, link, lab.Up, now, sent)
	if reason != "" {
		t.Fatalf("dropped: %s", reason)
	}
	got, before := see(t, b), see(t, sent)
	if got.dst != before.dst || got.ecn != before.ecn || !bytes.Equal(b[len(b)-len(p.payload):], p.payload) {
		t.Errorf("more than the source has changed: %+v, was %+v", got, before)
	}
	return got.src
}

// comesBack says whether an answer to an external address arrives at the client,
// and is then for the port given.
func comesBack(t reporter, link *Link[int], now time.Duration, p build, to netip.AddrPort) bool {
	t.Helper()
	client, _ := p.family.Hosts()
	want := netip.AddrPortFrom(client, p.port)
	p.d, p.client, p.port = lab.Down, to.Addr(), to.Port()
	b, reason := translated(t, link, lab.Down, now, p.bytes())
	if reason != "" {
		if reason != lab.DropNAT {
			t.Errorf("dropped: %s", reason)
		}
		return false
	}
	if got := see(t, b); got.dst != want {
		t.Errorf("an answer to %s arrives at %s, want %s", to, got.dst, want)
	}
	return true
}

// everyPacket calls f for each family and transport.
func everyPacket(f func(p build)) {
	for _, family := range []lab.Family{lab.IPv4, lab.IPv6} {
		for _, transport := range []lab.Transport{lab.UDP, lab.TCP} {
			f(build{family: family, transport: transport, port: 50000, payload: []byte("seven b")})
		}
	}
}

// F18 (a): the port, or the address, changes at a time.
func TestRebindAt(t *testing.T) {
	for _, address := range []bool{false, true} {
		everyPacket(func(p build) {
			link := New[int](lab.Path{Rebind: lab.Rebind{At: time.Second, Address: address}}, 1)
			client, _ := p.family.Hosts()
			own := netip.AddrPortFrom(client, p.port)
			for _, now := range []time.Duration{0, time.Second - 1} {
				if got := external(t, link, now, p); got != own {
					t.Errorf("at %v the server sees %s, want %s", now, got, own)
				}
				if !comesBack(t, link, now, p, own) {
					t.Errorf("at %v no answer comes back", now)
				}
			}
			if comesBack(t, link, time.Second, p, own) {
				t.Error("an answer comes back to a mapping that has changed")
			}
			now := external(t, link, time.Second, p)
			if now == own || (now.Addr() == client) != !address || (now.Port() == p.port) != address {
				t.Errorf("rebound to %s, was %s, address %v", now, own, address)
			}
			if address && now.Addr() != p.family.Alias(1) {
				t.Errorf("the address is %s, want the first alias", now.Addr())
			}
			if comesBack(t, link, time.Second, p, own) || !comesBack(t, link, time.Hour, p, now) {
				t.Error("the old mapping is still there, or the new one is not")
			}
			if again := external(t, link, time.Hour, p); again != now {
				t.Errorf("rebound a second time, to %s", again)
			}
		})
	}
}

func TestRebindEvery(t *testing.T) {
	for name, tt := range map[string]struct {
		rebind lab.Rebind
		epochs map[time.Duration]int // when, and after how many changes
	}{
		"at and every":   {lab.Rebind{At: 10 * time.Second, Every: time.Second}, map[time.Duration]int{0: 0, 9: 0, 10: 1, 11: 2, 15: 6}},
		"every":          {lab.Rebind{Every: 5 * time.Second}, map[time.Duration]int{0: 0, 4: 0, 5: 1, 9: 1, 10: 2, 15: 3}},
		"at":             {lab.Rebind{At: 5 * time.Second}, map[time.Duration]int{0: 0, 4: 0, 5: 1, 1000: 1}},
		"idle, not idle": {lab.Rebind{Idle: 5 * time.Second}, map[time.Duration]int{0: 0, 1: 0, 5: 0, 9: 0}},
	} {
		tt.rebind.Address = true
		link, p := New[int](lab.Path{Rebind: tt.rebind}, 1), build{transport: lab.UDP, port: 50000}
		client, _ := p.family.Hosts()
		for second := range time.Duration(20) {
			got := external(t, link, second*time.Second, p)
			changes, asked := tt.epochs[second]
			if !asked {
				continue
			}
			want := client
			if changes > 0 {
				want = lab.IPv4.Alias(uint16(changes))
			}
			if got != netip.AddrPortFrom(want, 50000) {
				t.Errorf("%s: at %d s the server sees %s, want %s", name, second, got, want)
			}
		}
	}
}

// F18 (b): a flow is rebound after 35 s without a packet, either way; others are
// not.
func TestRebindIdle(t *testing.T) {
	const idle = 35 * time.Second
	everyPacket(func(p build) {
		link := New[int](lab.Path{Rebind: lab.Rebind{Idle: idle}}, 1)
		busy := p
		busy.port = 50001
		first, second := external(t, link, 0, p), external(t, link, 0, busy)
		now := idle - 1
		if got := external(t, link, now, busy); got != second {
			t.Errorf("a busy flow was rebound to %s", got)
		}
		if !comesBack(t, link, now, p, first) { // which keeps it
			t.Error("an answer does not come back in time")
		}
		now += idle - 1
		if got := external(t, link, now, p); got != first {
			t.Errorf("a flow with answers was rebound to %s", got)
		}
		external(t, link, now, busy)
		now += idle
		if comesBack(t, link, now, p, first) {
			t.Error("an answer comes back to a flow that has been idle for too long")
		}
		rebound := external(t, link, now, p)
		if rebound == first || rebound.Addr() != first.Addr() {
			t.Errorf("rebound to %s, was %s", rebound, first)
		}
		if comesBack(t, link, now, p, first) || !comesBack(t, link, now, p, rebound) {
			t.Error("the old mapping is still there, or the new one is not")
		}
	})
}

// Only the transport named is rebound; and a flow that begins later has the
// client's own port.
func TestRebindConcernsItsTransport(t *testing.T) {
	link := New[int](lab.Path{Rebind: lab.Rebind{At: time.Second, Transport: lab.UDP}}, 1)
	client, _ := lab.IPv4.Hosts()
	datagram, segment := build{transport: lab.UDP, port: 50000}, build{transport: lab.TCP, port: 50000}
	external(t, link, 0, datagram)
	external(t, link, 0, segment)
	later := build{transport: lab.UDP, port: 50007}
	for name, tt := range map[string]struct {
		p    build
		same bool
	}{"UDP": {datagram, false}, "TCP": {segment, true}, "UDP of a later flow": {later, true}} {
		if got := external(t, link, time.Second, tt.p); (got == netip.AddrPortFrom(client, tt.p.port)) != tt.same {
			t.Errorf("%s: %s", name, got)
		}
	}
	if _, reason := translated(t, link, lab.Down, time.Second, build{transport: lab.TCP, d: lab.Down, port: 9}.bytes()); reason != "" {
		t.Errorf("a segment to a port of which nothing is known is dropped: %s", reason)
	}
}

// A new flow has the address that all have by then.
func TestAddressIsAllFlows(t *testing.T) {
	link := New[int](lab.Path{Rebind: lab.Rebind{At: time.Second, Address: true}}, 1)
	external(t, link, 0, build{transport: lab.UDP, port: 50000})
	if got := external(t, link, 2*time.Second, build{transport: lab.UDP, port: 50001}); got != netip.AddrPortFrom(lab.IPv4.Alias(1), 50001) {
		t.Errorf("a new flow comes from %s", got)
	}
}

// What nobody translates passes, or is dropped, as the documentation says.
func TestNotTranslated(t *testing.T) {
	fragment := func(b []byte) []byte { b[6], b[7] = 0, 100; return b }
	echo := func(b []byte) []byte { b[9] = protoICMP; return b }
	for name, tt := range map[string]struct {
		d      lab.Direction
		packet []byte
		want   lab.Reason
	}{
		"no IP packet":                    {lab.Up, []byte{0, 1, 2}, ""},
		"ICMP of the client":              {lab.Up, echo(udp(nil)), ""},
		"ICMP to the client":              {lab.Down, echo(build{d: lab.Down}.bytes()), ""},
		"ICMP to an alias":                {lab.Down, echo(build{d: lab.Down, client: lab.IPv4.Alias(3)}.bytes()), lab.DropNAT},
		"a later fragment":                {lab.Up, fragment(udp(nil)), lab.DropNAT},
		"to a port nobody has used":       {lab.Down, build{transport: lab.UDP, d: lab.Down, port: 5}.bytes(), lab.DropNAT},
		"to an alias nobody has":          {lab.Down, build{transport: lab.UDP, d: lab.Down, client: lab.IPv4.Alias(1)}.bytes(), lab.DropNAT},
		"of the client, as from an alias": {lab.Up, build{transport: lab.UDP, client: lab.IPv4.Alias(1)}.bytes(), lab.DropNAT},
		"of another host":                 {lab.Up, build{transport: lab.UDP, client: netip.MustParseAddr("192.0.2.7")}.bytes(), ""},
	} {
		link := New[int](lab.Path{Rebind: lab.Rebind{At: 1}}, 1)
		if got, reason := translated(t, link, tt.d, 0, tt.packet); reason != tt.want || reason == "" && !bytes.Equal(got, tt.packet) {
			t.Errorf("%s: %q, want %q", name, reason, tt.want)
		}
	}
}

// A datagram without a checksum keeps none, and one whose checksum becomes 0
// carries all ones (RFC 768).
func TestUDPChecksumsThatAreZero(t *testing.T) {
	link := New[int](lab.Path{Rebind: lab.Rebind{At: 1}}, 1)
	p := build{transport: lab.UDP, port: 50000, noSum: true, payload: []byte("x")}
	external(t, link, 0, p)
	b, _ := translated(t, link, lab.Up, time.Second, p.bytes())
	if b[26]|b[27] != 0 {
		t.Errorf("a datagram without a checksum has got %x", b[26:28])
	}
	p.noSum = false
	zeros := 0
	for i := range 1 << 16 {
		p.payload = []byte{byte(i >> 8), byte(i)}
		b := p.bytes()
		c := change{nat: translateSource, alias: 3, port: 1234}
		c.apply(b)
		if b[26]|b[27] == 0 {
			t.Fatalf("payload %x: the checksum became 0", p.payload)
		}
		if b[26] == 0xff && b[27] == 0xff {
			see(t, b)
			zeros++
		}
	}
	if zeros == 0 {
		t.Error("the test has seen no checksum that would be 0")
	}
}

// Whatever a path rebinds, and when: each packet of the client gets through, what
// the server answers at once comes back to where it came from, and what it
// answers later does so too or is dropped: no two flows look alike to it.
func TestRebindIsInjective(t *testing.T) {
	// Ports that would meet if each were mapped on its own.
	list := []uint16{1, 1024, 50000, 50001}
	for k := range 3 {
		list = append(list, uint16(firstPort+(50000+(k+1)*portStep)%ports))
	}
	rapid.Check(t, func(t *rapid.T) {
		duration := func(name string) time.Duration {
			return time.Duration(rapid.IntRange(0, 5).Draw(t, name)) * time.Second
		}
		rebind := lab.Rebind{At: duration("at"), Every: duration("every"), Idle: duration("idle"), Address: rapid.Bool().Draw(t, "address")}
		family := rapid.SampledFrom([]lab.Family{lab.IPv4, lab.IPv6}).Draw(t, "family")
		link, now, known := New[int](lab.Path{Rebind: rebind}, 1), time.Duration(0), map[uint16]netip.AddrPort{}
		for range 40 {
			now += time.Duration(rapid.IntRange(0, 3000).Draw(t, "wait")) * ms
			p := build{family: family, transport: lab.UDP, port: rapid.SampledFrom(list).Draw(t, "port"), payload: []byte{1, 2, 3}}
			known[p.port] = external(t, link, now, p)
			if !comesBack(t, link, now, p, known[p.port]) {
				t.Fatal("an answer at once does not come back")
			}
			for p.port = range known {
				comesBack(t, link, now, p, known[p.port])
			}
		}
	})
}

// More flows than there are ports for: those that get none are dropped, and no
// search goes on for ever.
func TestMoreFlowsThanPorts(t *testing.T) {
	link, b := New[int](lab.Path{Rebind: lab.Rebind{At: time.Second}}, 1), build{transport: lab.UDP}.bytes()
	offer := func(now time.Duration, port int) lab.Reason {
		b[20], b[21] = byte(port>>8), byte(port)
		reason := link.Offer(lab.Up, now, b, false, 0).Drop
		link.Pop(lab.Up, now)
		return reason
	}
	for port := range 1 << 16 {
		if reason := offer(0, port); reason != "" {
			t.Fatalf("port %d: %s", port, reason)
		}
	}
	if reason := offer(time.Second, 100); reason != lab.DropNAT { // all that it could get are taken
		t.Errorf("a flow that was to get a port where there is none: %q", reason)
	}
}
