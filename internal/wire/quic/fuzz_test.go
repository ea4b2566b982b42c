package quic

import (
	"net/netip"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/hostile"
)

// datagramsOf cuts fuzzed bytes into datagrams: a byte with the direction and the
// port of the client, two with the length, the datagram.
func datagramsOf(b []byte, read func(d lab.Direction, port uint16, payload []byte)) {
	for len(b) >= 3 {
		n := min(int(b[1])<<8|int(b[2]), len(b)-3)
		read(lab.Direction(b[0]&1), uint16(b[0]>>1), b[3:3+n])
		b = b[3+n:]
	}
}

func written(datagrams []sentDatagram) []byte {
	var b []byte
	for _, d := range datagrams {
		b = append(b, byte(d.way), byte(len(d.payload)>>8), byte(len(d.payload)))
		b = append(b, d.payload...)
	}
	return b
}

// checkPackets checks what holds for any datagram.
func checkPackets(t *testing.T, payload []byte, packets []Packet) {
	t.Helper()
	size := 0
	for _, p := range packets {
		size += p.Size
		if p.Size < 1 || p.Opened && !p.NumberKnown || !p.Opened && len(p.Frames) > 0 {
			t.Fatalf("%+v", p)
		}
		for _, f := range p.Frames {
			if len(f.Data) != f.Length && f.Kind != Padding {
				t.Fatalf("%+v", f)
			}
		}
	}
	if size != len(payload) {
		t.Fatalf("packets of %d bytes in a datagram of %d", size, len(payload))
	}
}

// FuzzRead reads arbitrary datagrams, with and without secrets.
func FuzzRead(tf *testing.F) {
	f := hostile.Wrap(tf)
	crafted := kept(f)
	for _, version := range []uint32{Version1, Version2} {
		f.Add(written(crafted.packets(version)))
	}
	for _, packet := range vectors(f) {
		f.Add(written([]sentDatagram{{way: lab.Up, payload: packet}}))
		f.Add(written([]sentDatagram{{way: lab.Down, payload: packet}}))
	}
	f.Add([]byte("\x01\x00\x11\x80\x00\x00\x00\x00\x01\x05\x01\x06\x00\x00\x00\x01\x6b\x33\x43\xcf"))
	f.Fuzz(func(t *testing.T, b []byte) {
		with, _ := established(aes128)
		x := NewDemux(crafted.secrets)
		server := netip.MustParseAddrPort("198.18.0.2:443")
		datagramsOf(b, func(d lab.Direction, port uint16, payload []byte) {
			checkPackets(t, payload, with.Read(d, payload))
			with.ReadCut(d, payload[:len(payload)/2], len(payload))
			if len(payload)%7 == 0 {
				with.Missed()
			}
			from, to := netip.AddrPortFrom(netip.MustParseAddr("198.18.0.1"), port), server
			if d == lab.Down {
				from, to = to, from
			}
			if c := x.Find(d, from, to, payload); c != nil {
				checkPackets(t, payload, c.Read(d, payload))
			}
		})
	})
}

// FuzzPlain reads arbitrary plaintext in packets that authenticate: frames,
// CRYPTO streams and what follows from them.
func FuzzPlain(tf *testing.F) {
	f := hostile.Wrap(tf)
	for _, good := range goodFrames {
		f.Add(unhex(f, good.digits), byte(0))
	}
	crafted := kept(f)
	f.Add(cryptoFrame(crafted.data[lab.Up][levelInitial], 0, 16000), byte(1))
	f.Add(cryptoFrame(crafted.data[lab.Down][levelInitial], 0, 16000), byte(3))
	f.Fuzz(func(t *testing.T, plain []byte, how byte) {
		if len(plain) > 16000 {
			return
		}
		c, keys := established(aes128)
		first := initialKeys(Version1, firstID)
		c.Read(lab.Up, sealLong(first[0], Initial, Version1, firstID, clientID, 0, ping))
		d := lab.Direction(how >> 1 & 1)
		padded := append(append([]byte(nil), plain...), make([]byte, max(0, 4-len(plain)))...)
		payload := sealShort(keys[d].now, [][]byte{{2, 2, 2, 2, 2, 2, 2, 2}, {1, 1, 1, 1}}[d], false, 1, 4, padded)
		if how&1 != 0 {
			payload = sealLong(first[d], Initial, Version1, firstID, clientID, 1, padded)
		}
		for range 2 {
			p := c.Read(d, payload)
			checkPackets(t, payload, p)
			if how&1 != 0 && !p[0].Opened {
				t.Fatalf("%+v", p[0])
			}
		}
	})
}

func FuzzParams(tf *testing.F) {
	f := hostile.Wrap(tf)
	f.Add(unhex(f, "0002aabb01024e20030245ac0401050c000f001001cc11086b3343cf00000001"))
	f.Add(unhex(f, "0d2dc6120002005000000000000000000000000000000000000004010203040102030405060708090a0b0c0d0e0f10"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ReadParams(b)
		if p == nil || err == nil && (p.AckDelayExponent > 20 || p.ActiveConnectionIDLimit < 2) {
			t.Fatalf("%+v, %v", p, err)
		}
	})
}
