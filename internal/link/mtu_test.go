package link

import (
	"bytes"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"

	"github.com/samewire/samewire/internal/lab"
)

// The MTU shrinks at a time of the path's own clock; what was on its way
// arrives.
func TestMTUShrinks(t *testing.T) {
	link := New[int](lab.Path{Up: lab.Way{Delay: 100 * ms, Shrink: lab.Shrink{MTU: 1280, At: time.Second}}}, 1)
	start := time.Minute
	for _, tt := range []struct {
		now  time.Duration
		size int
		want lab.Reason
	}{
		{0, 1500, ""}, {time.Second - 1, 1500, ""}, {time.Second, 1500, lab.DropMTU}, {time.Second, 1281, lab.DropMTU},
		{time.Second, 1280, ""}, {time.Hour, 1281, lab.DropMTU},
	} {
		if got := link.Offer(lab.Up, start+tt.now, zeros[:tt.size], false, 0).Drop; got != tt.want {
			t.Errorf("%d bytes at %v: %q, want %q", tt.size, tt.now, got, tt.want)
		}
	}
	for i := range 3 {
		if _, ok := link.Pop(lab.Up, start+2*time.Second); !ok {
			t.Errorf("packet %d did not arrive", i)
		}
	}
}

// F10: datagrams of a first packet of 1200 or 1280 B of UDP payload, over paths of
// smaller and smaller MTUs.
func TestMTUsOfF10(t *testing.T) {
	for _, tt := range []struct{ mtu, most int }{{1500, 1472}, {1328, 1300}, {1308, 1280}, {1280, 1252}, {1228, 1200}, {1220, 1192}} {
		for _, size := range []int{1192, 1200, 1252, 1280, 1300, 1472} {
			link := New[int](lab.Path{Up: lab.Way{MTU: tt.mtu}}, 1)
			fate := link.Offer(lab.Up, 0, build{transport: lab.UDP, payload: zeros[:size]}.bytes(), false, 0)
			if passes := fate.Drop == lab.NotDropped; passes != (size <= tt.most) {
				t.Errorf("MTU %d, %d bytes: passes %v", tt.mtu, size, passes)
			}
			if _, ok := link.Next(lab.Down); ok {
				t.Errorf("MTU %d is a black hole, but there is an answer", tt.mtu)
			}
		}
	}
}

// answered offers a packet that is answered, and returns the answer, which comes
// after half a round trip whatever the rate and loss of its direction.
func answered(t *testing.T, way lab.Way, d lab.Direction, packet []byte, want lab.Reason) []byte {
	t.Helper()
	other := lab.Way{Delay: 30 * ms, Rate: 1, Loss: lab.Loss{Share: 1}, Rules: "drop", MTU: 30}
	way.Delay = 10 * ms
	path := lab.Path{Up: way, Down: other}
	if d == lab.Down {
		path = lab.Path{Up: other, Down: way}
	}
	link := New[int](path, 1)
	link.Offer(1-d, time.Second, zeros[:20], false, 0)
	const now = time.Minute
	if fate := link.Offer(d, now, packet, false, 0); fate != (lab.Fate{Drop: want}) {
		t.Errorf("the fate is %+v, want %q", fate, want)
	}
	if _, ok := link.Next(d); ok {
		t.Error("something is on its way in the packet's own direction")
	}
	at, ok := link.Next(1 - d)
	if first, _ := link.First(); !ok || at != now+20*ms || first != 1-d {
		t.Fatalf("the answer is due at %v (%v), want half a round trip after the offer", at, ok)
	}
	if _, ok := link.Pop(1-d, at-1); ok {
		t.Error("the answer came too early")
	}
	out, ok := link.Pop(1-d, at)
	if !ok || out.Router == nil || !out.Last || out.Changed() || out.At != at {
		t.Fatalf("not an answer: %+v", out)
	}
	if _, ok := link.Next(1 - d); ok {
		t.Error("there is a second answer")
	}
	return out.Router
}

func TestAnswersIPv4(t *testing.T) {
	for _, d := range []lab.Direction{lab.Up, lab.Down} {
		for _, transport := range []lab.Transport{lab.UDP, lab.TCP} {
			for _, size := range []int{60, 548, 549, 1500} {
				packet := build{transport: transport, d: d, ecn: 2, payload: []byte("what was sent"), size: size}.bytes()
				checkICMPv4(t, answered(t, lab.Way{Rules: "reject"}, d, packet, lab.DropReject), packet, header.ICMPv4PortUnreachable, 0)
				if size > 59 {
					way := lab.Way{MTU: 59, TooBig: true}
					checkICMPv4(t, answered(t, way, d, packet, lab.DropMTU), packet, header.ICMPv4FragmentationNeeded, 59)
				}
			}
		}
	}
}

func checkICMPv4(t *testing.T, b, packet []byte, code header.ICMPv4Code, mtu uint16) {
	t.Helper()
	ip, offered := header.IPv4(b), header.IPv4(packet)
	if !ip.IsValid(len(b)) || !ip.IsChecksumValid() || ip.TransportProtocol() != header.ICMPv4ProtocolNumber || ip.TTL() == 0 {
		t.Fatalf("not a sound IPv4 packet: %x", b)
	}
	if ip.SourceAddress() != offered.DestinationAddress() || ip.DestinationAddress() != offered.SourceAddress() {
		t.Errorf("from %s to %s", ip.SourceAddress(), ip.DestinationAddress())
	}
	icmp := header.ICMPv4(ip.Payload())
	if checksum.Checksum(icmp, 0) != 0xffff {
		t.Errorf("wrong ICMP checksum: %x", []byte(icmp))
	}
	if icmp.Type() != header.ICMPv4DstUnreachable || icmp.Code() != code || icmp.MTU() != mtu {
		t.Errorf("type %d, code %d, MTU %d", icmp.Type(), icmp.Code(), icmp.MTU())
	}
	if quote := icmp.Payload(); !bytes.Equal(quote, packet[:min(len(packet), 548)]) || len(b) > 576 {
		t.Errorf("of %d bytes %d are quoted, in %d", len(packet), len(quote), len(b))
	}
}

func TestAnswersIPv6(t *testing.T) {
	for _, d := range []lab.Direction{lab.Up, lab.Down} {
		for _, transport := range []lab.Transport{lab.UDP, lab.TCP} {
			for _, size := range []int{80, 1231, 1232, 1233, 1500} {
				packet := build{family: lab.IPv6, transport: transport, d: d, payload: []byte("what was sent"), size: size}.bytes()
				checkICMPv6(t, answered(t, lab.Way{Rules: "reject"}, d, packet, lab.DropReject), packet,
					header.ICMPv6DstUnreachable, header.ICMPv6PortUnreachable, 0)
				if size > 79 {
					way := lab.Way{MTU: 79, TooBig: true}
					checkICMPv6(t, answered(t, way, d, packet, lab.DropMTU), packet, header.ICMPv6PacketTooBig, 0, 79)
				}
			}
		}
	}
}

func checkICMPv6(t *testing.T, b, packet []byte, kind header.ICMPv6Type, code header.ICMPv6Code, mtu uint32) {
	t.Helper()
	ip, offered := header.IPv6(b), header.IPv6(packet)
	if !ip.IsValid(len(b)) || ip.NextHeader() != uint8(header.ICMPv6ProtocolNumber) || ip.HopLimit() == 0 {
		t.Fatalf("not a sound IPv6 packet: %x", b)
	}
	if ip.SourceAddress() != offered.DestinationAddress() || ip.DestinationAddress() != offered.SourceAddress() {
		t.Errorf("from %s to %s", ip.SourceAddress(), ip.DestinationAddress())
	}
	icmp := header.ICMPv6(ip.Payload())
	want := header.ICMPv6Checksum(header.ICMPv6ChecksumParams{Header: icmp, Src: ip.SourceAddress(), Dst: ip.DestinationAddress()})
	if icmp.Checksum() != want {
		t.Errorf("ICMP checksum %04x, want %04x", icmp.Checksum(), want)
	}
	if icmp.Type() != kind || icmp.Code() != code || icmp.TypeSpecific() != mtu {
		t.Errorf("type %d, code %d, MTU %d", icmp.Type(), icmp.Code(), icmp.TypeSpecific())
	}
	if quote := icmp.Payload(); !bytes.Equal(quote, packet[:min(len(packet), 1232)]) || len(b) > 1280 {
		t.Errorf("of %d bytes %d are quoted, in %d", len(packet), len(quote), len(b))
	}
}

// No error is sent about an error, about a fragment but the first, or to what is
// no single host.
func TestWhatIsNotAnswered(t *testing.T) {
	v4 := func(edit func(header.IPv4)) []byte {
		b := build{transport: lab.UDP, size: 100}.bytes()
		edit(header.IPv4(b))
		return b
	}
	v6 := func(edit func(header.IPv6)) []byte {
		b := build{family: lab.IPv6, transport: lab.UDP, size: 100}.bytes()
		edit(header.IPv6(b))
		return b
	}
	icmp4 := func(kind byte) []byte {
		return v4(func(h header.IPv4) { h[9] = 1; h.Payload()[0] = kind })
	}
	icmp6 := func(kind byte) []byte {
		return v6(func(h header.IPv6) { h[6] = 58; h.Payload()[0] = kind })
	}
	for name, tt := range map[string]struct {
		packet []byte
		want   bool
	}{
		"a datagram":                 {v4(func(header.IPv4) {}), true},
		"an echo request":            {icmp4(8), true},
		"unreachable":                {icmp4(3), false},
		"time exceeded":              {icmp4(11), false},
		"a first fragment":           {v4(func(h header.IPv4) { h.SetFlagsFragmentOffset(1, 0) }), true},
		"a later fragment":           {v4(func(h header.IPv4) { h.SetFlagsFragmentOffset(0, 800) }), false},
		"to a group":                 {v4(func(h header.IPv4) { h.SetDestinationAddress(tcpip.AddrFrom4([4]byte{224, 0, 0, 1})) }), false},
		"to all":                     {v4(func(h header.IPv4) { h.SetDestinationAddress(header.IPv4Broadcast) }), false},
		"from nobody":                {v4(func(h header.IPv4) { h.SetSourceAddress(header.IPv4Any) }), false},
		"IPv6: a datagram":           {v6(func(header.IPv6) {}), true},
		"IPv6: an echo request":      {icmp6(128), true},
		"IPv6: packet too big":       {icmp6(2), false},
		"IPv6: a redirect":           {icmp6(137), false},
		"IPv6: to a group":           {v6(func(h header.IPv6) { h.SetDestinationAddress(header.IPv6AllNodesMulticastAddress) }), false},
		"IPv6: from nobody":          {v6(func(h header.IPv6) { h.SetSourceAddress(header.IPv6Any) }), false},
		"nothing of an IP packet":    {zeros[:100], false},
		"half an IPv4 header":        {v4(func(header.IPv4) {})[:19], false},
		"an IPv4 header alone":       {v4(func(header.IPv4) {})[:20], true},
		"half an IPv6 header":        {v6(func(header.IPv6) {})[:39], false},
		"an IPv6 header and nothing": {v6(func(header.IPv6) {})[:40], false},
	} {
		link := New[int](lab.Path{Up: lab.Way{Rules: "reject"}}, 1)
		if fate := link.Offer(lab.Up, 0, tt.packet, false, 0); fate.Drop != lab.DropReject {
			t.Errorf("%s: %+v", name, fate)
		}
		if _, got := link.Pop(lab.Down, time.Hour); got != tt.want {
			t.Errorf("%s: answered %v", name, got)
		}
	}
}

// A flood that is rejected costs no more memory than maxMessages do; what comes
// later is answered again.
func TestMessagesAreBounded(t *testing.T) {
	link, packet := New[int](lab.Path{Up: lab.Way{Delay: ms, Rules: "reject"}}, 1), udp(nil)
	for range 2 {
		for range 10 * maxMessages {
			link.Offer(lab.Up, 0, packet, false, 0)
		}
		got := 0
		for _, ok := link.Pop(lab.Down, time.Hour); ok; _, ok = link.Pop(lab.Down, time.Hour) {
			got++
		}
		if got != maxMessages {
			t.Errorf("%d answers, want %d", got, maxMessages)
		}
	}
}
