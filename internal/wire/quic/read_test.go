package quic

import (
	"bytes"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

var ping = []byte{1, 0, 0, 0}

// RFC 9000, appendix A.3.
func TestDecodeNumber(t *testing.T) {
	for _, c := range []struct {
		largest   int64
		truncated uint64
		bytes     int
		want      uint64
	}{
		{0xa82f30ea, 0x9b32, 2, 0xa82f9b32},
		{-1, 0, 1, 0},
		{-1, 0xff, 1, 0xff},
		{254, 0, 1, 256},
		{256, 0xff, 1, 255},
		{1 << 40, 5, 4, 1<<40 + 5},
		{maxVarint - 1, 0xffffffff, 4, maxVarint},
	} {
		if got := decodeNumber(c.largest, c.truncated, c.bytes); got != c.want {
			t.Errorf("after %#x, %#x of %d bytes is %#x, want %#x", c.largest, c.truncated, c.bytes, got, c.want)
		}
	}
}

// A damaged packet is told, and harms nothing: not the numbers, not the keys.
func TestDamagedPackets(t *testing.T) {
	c, keys := established(aes128)
	id := []byte{1, 1, 1, 1}
	c.Read(lab.Down, sealShort(keys[1].now, id, false, 7, 2, ping))
	whole := sealShort(keys[1].now, id, false, 8, 2, ping)
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x10
		p := c.Read(lab.Down, damaged)
		if len(p) != 1 || p[0].Opened || p[0].Problem == "" || p[0].NumberKnown {
			t.Errorf("byte %d: %+v", i, p)
		}
		if c.spaces[lab.Down][2].largest != 7 || c.KeyUpdates(lab.Down) != 0 {
			t.Fatalf("byte %d: the connection's state changed", i)
		}
	}
	if p := c.Read(lab.Down, whole); !opened(p) {
		t.Errorf("%s", summary(p))
	}
}

func TestKeyUpdates(t *testing.T) {
	for _, s := range []*suite{aes128, aes256, chacha} {
		c, keys := established(s)
		id := []byte{1, 1, 1, 1}
		k := keys[lab.Down]
		var late []byte
		for phase := range 4 {
			for n := range uint64(5) {
				packet := sealShort(k.now, id, k.phase, uint64(phase)*10+n, 2, ping)
				if n == 4 {
					packet, late = late, packet
				}
				if packet == nil {
					continue
				}
				if p := c.Read(lab.Down, packet); !opened(p) || n < 4 && p[0].KeyPhase != k.phase {
					t.Errorf("suite %x phase %d number %d: %s", s.id, phase, n, summary(p))
				}
			}
			k.enter(0)
		}
		if c.KeyUpdates(lab.Down) != 3 || c.KeyUpdates(lab.Up) != 0 {
			t.Errorf("suite %x: %d and %d updates, want 3 and 0", s.id, c.KeyUpdates(lab.Down), c.KeyUpdates(lab.Up))
		}
	}
}

// What the log cut short has its number and phase; a whole packet after many of
// them opens, even phases later.
func TestPacketsCutShort(t *testing.T) {
	c, keys := established(aes128)
	id := []byte{1, 1, 1, 1}
	k := keys[lab.Down]
	plain := make([]byte, 1000)
	number := uint64(0)
	for range 3 {
		for range 40000 {
			packet := sealShort(k.now, id, k.phase, number, 2, plain)
			p := c.ReadCut(lab.Down, packet[:52], len(packet))
			if p[0].Opened || !p[0].NumberKnown || p[0].Number != number || p[0].KeyPhase != k.phase ||
				p[0].Size != len(packet) || p[0].Problem != cutShort {
				t.Fatalf("packet %d: %+v", number, p[0])
			}
			number++
		}
		k.enter(0)
	}
	if p := c.Read(lab.Down, sealShort(k.now, id, k.phase, number, 2, plain)); !opened(p) || p[0].Number != number {
		t.Errorf("%s", summary(p))
	}
	if c.KeyUpdates(lab.Down) != 3 {
		t.Errorf("%d key updates, want 3", c.KeyUpdates(lab.Down))
	}
	p := c.ReadCut(lab.Down, sealShort(k.now, id, k.phase, number, 2, plain)[:20], 1000)
	if p[0].NumberKnown || p[0].Problem != cutShort {
		t.Errorf("without the sample: %+v", p[0])
	}
}

// After packets that were not kept at all, one with a number far ahead, phases
// later, opens where that was said.
func TestPacketsMissed(t *testing.T) {
	for _, said := range []bool{false, true} {
		c, keys := established(aes128)
		id := []byte{1, 1, 1, 1}
		k := keys[lab.Down]
		c.Read(lab.Down, sealShort(k.now, id, false, 5, 2, ping))
		k.enter(0)
		k.enter(0)
		k.enter(0)
		if said {
			c.Missed()
		}
		p := c.Read(lab.Down, sealShort(k.now, id, k.phase, 1_000_003, 2, ping))
		if opened(p) != said || said && (p[0].Number != 1_000_003 || c.KeyUpdates(lab.Down) != 3) {
			t.Errorf("said %v: %s, %d key updates", said, summary(p), c.KeyUpdates(lab.Down))
		}
		if p := c.Read(lab.Down, sealShort(k.now, id, k.phase, 1_000_004, 2, ping)); opened(p) != said {
			t.Errorf("said %v: then %s", said, summary(p))
		}
	}
}

func TestWhatIsNoPacketToOpen(t *testing.T) {
	initial := vectors(t)["client-initial-1"]
	reset := append([]byte{0x40, 9, 9, 9, 9, 9, 9, 9, 9, 9}, "0123456789abcdefghijABCDEFGHIJKLMNOP"...)
	unknown := append([]byte{0xc0, 0xaa, 0xbb, 0xcc, 0xdd, 1, 5, 1, 6}, make([]byte, 30)...)
	negotiation := []byte{0x80, 0, 0, 0, 0, 1, 5, 1, 6, 0, 0, 0, 1, 0x6b, 0x33, 0x43, 0xcf}
	long := bytes.Clone(initial)
	long[17]++ // its length
	for _, tt := range []struct {
		name    string
		d       lab.Direction
		payload []byte
		want    string
	}{
		{"padding after a packet", lab.Up, append(bytes.Clone(initial), 0, 0, 0), "Initial 2: CRYPTO 0+241, PADDING 917; Unknown"},
		{"noise after a packet", lab.Up, append(bytes.Clone(initial), 1, 2, 3), "Initial 2: CRYPTO 0+241, PADDING 917; Unknown (no known connection ID, and it could not be opened)"},
		{"a stateless reset", lab.Down, reset, "StatelessReset"},
		{"one without a known token", lab.Up, reset, "Unknown (no known connection ID, and it could not be opened)"},
		{"another version", lab.Up, unknown, "Unknown (version 0xaabbccdd is not known)"},
		{"version negotiation", lab.Down, negotiation, "VersionNegotiation"},
		{"half a version", lab.Down, negotiation[:16], "VersionNegotiation (the list of versions is not whole)"},
		{"a length beyond the datagram", lab.Up, long, "Initial (the header says 1183 bytes, the datagram has 1182)"},
		{"half a header", lab.Up, initial[:10], "Unknown (the header ends beyond the datagram)"},
		{"1-RTT of nothing known", lab.Up, []byte{0x40, 1, 2}, "Unknown (no known connection ID, and it could not be opened)"},
		{"half a 1-RTT packet", lab.Down, []byte{0x40, 1, 1, 1, 1, 0, 0}, "1-RTT (it is too short for a protected packet)"},
	} {
		c, _ := established(aes128)
		c.resetBy(lab.Down, [16]byte([]byte("ABCDEFGHIJKLMNOP")))
		if got := summary(c.Read(tt.d, tt.payload)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	c := NewConn(nil)
	if p := c.Read(lab.Down, negotiation); len(p[0].Supported) != 2 || p[0].Supported[1] != Version2 {
		t.Errorf("%+v", p[0])
	}
}

func TestFixedBit(t *testing.T) {
	for _, grease := range []bool{false, true} {
		c, keys := established(aes128)
		c.params[lab.Up] = &Params{GreaseQUICBit: grease}
		p := c.Read(lab.Down, seal(keys[1].now, []byte{0, 1, 1, 1, 1}, 0, 2, ping))
		if !p[0].Opened || (p[0].Problem == "") != grease {
			t.Errorf("grease_quic_bit %v: %s", grease, summary(p))
		}
	}
}

func TestReservedBitsAndEmptyPackets(t *testing.T) {
	c, keys := established(aes128)
	p := c.Read(lab.Down, seal(keys[1].now, []byte{0x58, 1, 1, 1, 1}, 0, 2, ping))
	if !strings.Contains(p[0].Problem, "reserved") || len(p[0].Frames) != 2 {
		t.Errorf("%s", summary(p))
	}
	p = c.Read(lab.Down, seal(keys[1].now, []byte{0x40, 1, 1, 1, 1}, 1, 4, nil))
	if !p[0].Opened || p[0].Problem == "" {
		t.Errorf("%s", summary(p))
	}
}
