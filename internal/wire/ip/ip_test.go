package ip_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/wire/hostile"
	"github.com/samewire/samewire/internal/wire/ip"
)

// build serializes layers with their lengths and checksums.
func build(t testing.TB, list ...gopacket.SerializableLayer) []byte {
	t.Helper()
	buffer := gopacket.NewSerializeBuffer()
	options := gopacket.SerializeOptions{FixLengths: true}
	if err := gopacket.SerializeLayers(buffer, options, list...); err != nil {
		t.Fatal(err)
	}
	return append([]byte(nil), buffer.Bytes()...)
}

func v4(proto layers.IPProtocol) *layers.IPv4 {
	return &layers.IPv4{Version: 4, TTL: 64, Protocol: proto, TOS: 2,
		SrcIP: net.IP{10, 0, 0, 1}, DstIP: net.IP{10, 0, 0, 2}}
}

func v6(proto layers.IPProtocol) *layers.IPv6 {
	return &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: proto, TrafficClass: 1,
		SrcIP: net.ParseIP("fd00::1"), DstIP: net.ParseIP("fd00::2")}
}

func TestParseTCPWithOptions(t *testing.T) {
	segment := &layers.TCP{SrcPort: 1234, DstPort: 443, Seq: 7, Ack: 9, SYN: true, ACK: true, ECE: true, Window: 500,
		Options: []layers.TCPOption{
			{OptionType: layers.TCPOptionKindMSS, OptionLength: 4, OptionData: []byte{5, 0xb4}},
			{OptionType: layers.TCPOptionKindSACKPermitted, OptionLength: 2},
			{OptionType: layers.TCPOptionKindNop},
			{OptionType: layers.TCPOptionKindWindowScale, OptionLength: 3, OptionData: []byte{9}},
			{OptionType: layers.TCPOptionKindTimestamps, OptionLength: 10, OptionData: []byte{0, 0, 0, 3, 0, 0, 0, 4}},
			{OptionType: layers.TCPOptionKindSACK, OptionLength: 10, OptionData: []byte{0, 0, 0, 1, 0, 0, 0, 2}},
		}}
	got, err := ip.Parse(build(t, v4(layers.IPProtocolTCP), segment, gopacket.Payload("hello")))
	if err != nil {
		t.Fatal(err)
	}
	want := ip.Packet{Version: 4, Proto: ip.ProtoTCP, ECN: 2, Size: 5, Payload: []byte("hello"),
		Source: netip.MustParseAddrPort("10.0.0.1:1234"), Dest: netip.MustParseAddrPort("10.0.0.2:443"),
		TCP: ip.TCP{Seq: 7, Ack: 9, Flags: ip.SYN | ip.ACK | ip.ECE, Window: 500, MSS: 1460, WindowScale: 9,
			SACKPermitted: true, SACKs: 1, SACK: [4]ip.Block{{Left: 1, Right: 2}}, Timestamps: true, TSval: 3, TSecr: 4}}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" {
		t.Error(d)
	}
}

func TestParse(t *testing.T) {
	udp := &layers.UDP{SrcPort: 5, DstPort: 6}
	plain := build(t, v6(layers.IPProtocolUDP), udp, gopacket.Payload("abcdef"))
	extended := append([]byte(nil), plain[:40]...)
	extended[6] = 0 // hop-by-hop, then destination options, a first fragment, then UDP
	extended = append(extended, 60, 0, 1, 4, 0, 0, 0, 0, 44, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		17, 0, 0, 1, 0, 0, 0, 1)
	extended[5] += 32
	extended = append(extended, plain[40:]...)
	later := append([]byte(nil), extended...)
	later[40+24+3] = 8

	first4 := v4(layers.IPProtocolUDP)
	first4.Flags = layers.IPv4MoreFragments
	cut := build(t, first4, udp, gopacket.Payload("abcdef"))
	cut[20+4] = 9 // the datagram is longer than its first fragment
	later4 := v4(layers.IPProtocolUDP)
	later4.FragOffset = 1

	tests := []struct {
		name     string
		data     []byte
		payload  string
		size     int
		fragment bool
		fault    string
	}{
		{name: "whole", data: plain, payload: "abcdef", size: 6},
		{name: "cut by the log", data: plain[:len(plain)-4], payload: "ab", size: 6},
		{name: "cut to the header", data: plain[:48], size: 6},
		{name: "padded", data: append(append([]byte(nil), plain...), 0, 0), payload: "abcdef", size: 6},
		{name: "extension headers", data: extended, payload: "abcdef", size: 6, fragment: true},
		{name: "first fragment", data: cut, payload: "abcdef", size: 6, fragment: true},
		{name: "ICMPv6", data: build(t, v6(58), gopacket.Payload("\x80\x00\x00\x00")), payload: "\x80\x00\x00\x00", size: 4},
		{name: "later fragment 6", data: later, fault: "later fragment"},
		{name: "later fragment 4", data: build(t, later4, udp), fault: "later fragment"},
		{name: "header cut", data: plain[:47], fault: "UDP header: cut short at 7 bytes of 8"},
		{name: "IPv6 cut", data: plain[:39], fault: "IPv6 header: cut short at 39 bytes"},
		{name: "version", data: []byte{0x50}, fault: "version 5, want 4 or 6"},
		{name: "empty", fault: "empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ip.Parse(tt.data)
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Fatalf("error %v, want %q", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Payload) != tt.payload || got.Size != tt.size || got.Fragment != tt.fragment {
				t.Errorf("payload %q, size %d, fragment %v", got.Payload, got.Size, got.Fragment)
			}
		})
	}
	if _, err := ip.Parse(later); !errors.Is(err, ip.ErrFragment) {
		t.Errorf("a later fragment's error is %v", err)
	}
}

// TestAgreesWithGopacket: another reader sees the same in segments with any
// header fields and any options.
func TestAgreesWithGopacket(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		segment := make([]byte, 20, 80)
		copy(segment, rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(rt, "header"))
		for range rapid.IntRange(0, 3).Draw(rt, "options") {
			v := rapid.SampledFrom([]string{"\x01", "\x02\x04\x05\xb4", "\x03\x03\x07", "\x04\x02", "\x08\x0a12345678", "\x05\x0a12345678", "\xfd\x04\x12\x34"}).Draw(rt, "option")
			segment = append(segment, v...)
		}
		for len(segment)%4 != 0 {
			segment = append(segment, 1)
		}
		segment[12] = byte(len(segment)/4)<<4 | segment[12]&0x0f
		segment = append(segment, rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(rt, "payload")...)
		var data []byte
		if rapid.Bool().Draw(rt, "IPv6") {
			data = build(t, v6(layers.IPProtocolTCP), gopacket.Payload(segment))
		} else {
			data = build(t, v4(layers.IPProtocolTCP), gopacket.Payload(segment))
		}
		agree(rt, data)
	})
}

// agree compares a TCP segment's reading with that of gopacket.
func agree(t *rapid.T, data []byte) {
	var first gopacket.Decoder = layers.LayerTypeIPv4
	if data[0]>>4 == 6 {
		first = layers.LayerTypeIPv6
	}
	theirs, ok := gopacket.NewPacket(data, first, gopacket.Default).Layer(layers.LayerTypeTCP).(*layers.TCP)
	if !ok {
		t.Fatal("gopacket found no TCP")
	}
	ours, err := ip.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if uint16(theirs.SrcPort) != ours.Source.Port() || uint16(theirs.DstPort) != ours.Dest.Port() ||
		theirs.Seq != ours.TCP.Seq || theirs.Ack != ours.TCP.Ack || theirs.Window != ours.TCP.Window ||
		theirs.SYN != (ours.TCP.Flags&ip.SYN != 0) || theirs.FIN != (ours.TCP.Flags&ip.FIN != 0) ||
		theirs.RST != (ours.TCP.Flags&ip.RST != 0) || theirs.CWR != (ours.TCP.Flags&ip.CWR != 0) ||
		string(theirs.Payload) != string(ours.Payload) || len(theirs.Payload) != ours.Size {
		t.Errorf("gopacket %+v\nours %+v", theirs, ours)
	}
	want := ip.TCP{WindowScale: -1}
	for _, o := range theirs.Options {
		switch o.OptionType {
		case layers.TCPOptionKindMSS:
			want.MSS = 1460
		case layers.TCPOptionKindWindowScale:
			want.WindowScale = int8(o.OptionData[0])
		case layers.TCPOptionKindSACKPermitted:
			want.SACKPermitted = true
		case layers.TCPOptionKindTimestamps:
			want.Timestamps = true
		case layers.TCPOptionKindSACK:
			want.SACKs = 1
		}
	}
	g := ours.TCP
	if g.MSS != want.MSS || g.WindowScale != want.WindowScale || g.SACKPermitted != want.SACKPermitted ||
		g.Timestamps != want.Timestamps || g.SACKs != want.SACKs {
		t.Errorf("options %+v, gopacket %+v", g, want)
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	data := build(t, v6(layers.IPProtocolTCP), &layers.TCP{}, gopacket.Payload("x"))
	if n := testing.AllocsPerRun(100, func() { _, _ = ip.Parse(data) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzParse(tf *testing.F) {
	f := hostile.Wrap(tf)
	f.Add(build(f, v4(layers.IPProtocolTCP), &layers.TCP{}, gopacket.Payload("x")))
	f.Add(build(f, v6(layers.IPProtocolUDP), &layers.UDP{}, gopacket.Payload("x")))
	f.Add(build(f, v6(0), gopacket.Payload("\x3c\x00\x01\x04\x00\x00\x00\x00\x2c\x00\x01\x04\x00\x00\x00\x00\x11\x00\x00\x01\x00\x00\x00\x01\x00\x05\x00\x06\x00\x08\x00\x00")))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := ip.Parse(data)
		if err != nil {
			return
		}
		if len(k.Payload) > k.Size || k.Size > 65535 || k.TCP.SACKs > len(k.TCP.SACK) || !k.Source.IsValid() {
			t.Errorf("%+v", k)
		}
	})
}
