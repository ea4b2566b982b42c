package link

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
)

func TestReadHeaders(t *testing.T) {
	for _, family := range []lab.Family{lab.IPv4, lab.IPv6} {
		for _, transport := range []lab.Transport{lab.UDP, lab.TCP} {
			for ecn := range uint8(4) {
				b := build{family: family, transport: transport, port: 1234, ecn: ecn}.bytes()
				h := readHeaders(b)
				if h.transport() != transport || h.ecn != ecn || !h.ports || h.src != 1234 || h.dst != lab.Port || h.fragment {
					t.Errorf("%s %s with ECN %d: %+v", family, transport, ecn, h)
				}
			}
		}
	}
}

// Options and extension headers are walked over, and fragments are known.
func TestReadHeadersBehindOthers(t *testing.T) {
	plain4, plain6 := udp(initial), build{family: lab.IPv6, transport: lab.UDP, payload: initial}.bytes()
	options := append(append([]byte{0x46}, plain4[1:20]...), append([]byte{1, 1, 1, 1}, plain4[20:]...)...)
	insert := func(first byte, extension ...byte) []byte {
		b := append([]byte{}, plain6[:40]...)
		b[6] = first
		return append(append(b, extension...), plain6[40:]...)
	}
	fragment4 := func(offset uint16) []byte {
		b := append([]byte{}, plain4...)
		binary.BigEndian.PutUint16(b[6:], offset)
		return b
	}
	for name, tt := range map[string]struct {
		b         []byte
		transport lab.Transport
		kind      lab.PacketKind
		fragment  bool
	}{
		"IPv4":                         {plain4, lab.UDP, lab.KindInitial, false},
		"IPv4 with options":            {options, lab.UDP, lab.KindInitial, false},
		"a first fragment":             {fragment4(0x2000), lab.UDP, lab.KindInitial, false},
		"a later fragment":             {fragment4(0x0010), lab.UDP, "", true},
		"IPv6":                         {plain6, lab.UDP, lab.KindInitial, false},
		"hop-by-hop options":           {insert(0, 17, 0, 1, 4, 0, 0, 0, 0), lab.UDP, lab.KindInitial, false},
		"16 bytes of options":          {insert(60, 17, 1, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), lab.UDP, lab.KindInitial, false},
		"two extension headers":        {insert(0, 43, 0, 1, 4, 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 0), lab.UDP, lab.KindInitial, false},
		"IPv6: a first fragment":       {insert(44, 17, 0, 0, 1, 0, 0, 0, 9), lab.UDP, lab.KindInitial, false},
		"IPv6: a later fragment":       {insert(44, 17, 0, 0, 8, 0, 0, 0, 9), lab.UDP, "", true},
		"an extension header too long": {insert(0, 17, 255, 1, 4, 0, 0, 0, 0), lab.UDP, "", false},
		"another transport":            {insert(132), "", "", false},
	} {
		h := readHeaders(tt.b)
		if h.transport() != tt.transport || h.kind(tt.b) != tt.kind || h.fragment != tt.fragment {
			t.Errorf("%s: %q %q %v, want %q %q %v", name, h.transport(), h.kind(tt.b), h.fragment, tt.transport, tt.kind, tt.fragment)
		}
	}
}

func TestKinds(t *testing.T) {
	for name, tt := range map[string]struct {
		payload []byte
		want    lab.PacketKind
	}{
		"v1 initial":          {[]byte{0xc0, 0, 0, 0, 1}, lab.KindInitial},
		"v1 0-RTT":            {[]byte{0xd3, 0, 0, 0, 1}, lab.KindZeroRTT},
		"v1 handshake":        {[]byte{0xef, 0, 0, 0, 1}, lab.KindHandshake},
		"v1 retry":            {[]byte{0xf0, 0, 0, 0, 1}, lab.KindRetry},
		"v2 initial":          {[]byte{0xd0, 0x6b, 0x33, 0x43, 0xcf}, lab.KindInitial},
		"v2 0-RTT":            {[]byte{0xe0, 0x6b, 0x33, 0x43, 0xcf}, lab.KindZeroRTT},
		"v2 handshake":        {[]byte{0xf0, 0x6b, 0x33, 0x43, 0xcf}, lab.KindHandshake},
		"v2 retry":            {[]byte{0xc0, 0x6b, 0x33, 0x43, 0xcf}, lab.KindRetry},
		"greased":             {[]byte{0x80, 0, 0, 0, 1}, lab.KindInitial},
		"version negotiation": {[]byte{0xc0, 0, 0, 0, 0}, ""},
		"another version":     {[]byte{0xc0, 0xff, 0, 0, 29}, ""},
		"half a version":      {[]byte{0xc0, 0, 0, 0}, ""},
		"short":               {[]byte{0x40}, lab.KindOneRTT},
		"short and greased":   {[]byte{0x00}, lab.KindOneRTT},
		"empty":               {nil, ""},
	} {
		b := udp(tt.payload)
		if h := readHeaders(b); h.kind(b) != tt.want {
			t.Errorf("%s: %q, want %q", name, h.kind(b), tt.want)
		}
	}
}

// A flow's hash is that of its addresses, ports and protocol, and of nothing else.
func TestFlowHash(t *testing.T) {
	hashes := map[uint32]string{}
	for _, family := range []lab.Family{lab.IPv4, lab.IPv6} {
		for _, transport := range []lab.Transport{lab.UDP, lab.TCP} {
			for _, d := range []lab.Direction{lab.Up, lab.Down} {
				for port := range uint16(100) {
					one := build{family: family, transport: transport, d: d, port: port + 1}.bytes()
					two := build{family: family, transport: transport, d: d, port: port + 1, ecn: 2, payload: []byte("x")}.bytes()
					h, other := readHeaders(one), readHeaders(two)
					if h.flow(one) != other.flow(two) {
						t.Fatalf("port %d: one flow has two hashes", port)
					}
					if before, taken := hashes[h.flow(one)]; taken {
						t.Fatalf("port %d has the hash of %s", port, before)
					}
					hashes[h.flow(one)] = string(family) + string(transport)
				}
			}
		}
	}
}

// Whatever the bytes are, no reading goes beyond their end, and none panics.
func TestReadingNeverPanics(t *testing.T) {
	whole := [][]byte{
		udp(initial), segment, build{family: lab.IPv6, transport: lab.UDP, payload: oneRTT}.bytes(),
		build{family: lab.IPv6, transport: lab.TCP}.bytes(),
	}
	rapid.Check(t, func(t *rapid.T) {
		b := append([]byte{}, rapid.SampledFrom(whole).Draw(t, "packet")...)
		for range rapid.IntRange(0, 6).Draw(t, "edits") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
		b = b[:len(b):len(b)]
		h := readHeaders(b)
		h.kind(b)
		h.flow(b)
		_ = message{tooBig: true, mtu: 1280}.bytes(b, &h)
		for _, c := range []change{
			{mark: true}, {flip: 9999}, {nat: translateSource, alias: 7, port: 9}, {nat: translateDestination, port: 9},
		} {
			c.apply(b)
		}
	})
}
