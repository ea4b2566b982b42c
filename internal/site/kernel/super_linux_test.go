package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
)

// draft is a super-packet to be made.
type draft struct {
	six, tcp bool
	payload  []byte
	size     int // payload bytes of a wire packet
	options  int // bytes of TCP options
	flags    byte
	seq      uint32
	id       uint16
	ecn      byte // the IP header's two bits
	down     bool
}

// random draws a draft.
func random(t *rapid.T) draft {
	d := draft{
		six: rapid.Bool().Draw(t, "six"), tcp: rapid.Bool().Draw(t, "tcp"),
		size:    rapid.OneOf(rapid.IntRange(1, 64), rapid.IntRange(536, 1448)).Draw(t, "size"),
		options: 4 * rapid.IntRange(0, 10).Draw(t, "options"),
		flags:   rapid.Byte().Draw(t, "flags"), seq: rapid.Uint32().Draw(t, "seq"),
		id: rapid.Uint16().Draw(t, "id"), ecn: rapid.ByteRange(0, 3).Draw(t, "ecn"),
	}
	n := rapid.IntRange(1, 24*d.size).Draw(t, "payload")
	d.payload = make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(d.seq), byte(d.id)})
	_, _ = r.Read(d.payload)
	return d
}

// packet makes an IP packet, in the plainest way, of some payload of the draft;
// the nth of its wire packets, or all in one for n < 0. Its checksums are
// complete.
func (d draft) packet(payload []byte, n, offset int, last bool) []byte {
	var ip, transport []byte
	client, server := lab.IPv4.Hosts()
	if d.six {
		client, server = lab.IPv6.Hosts()
	}
	if d.down {
		client, server = server, client
	}
	if d.tcp {
		flags := d.flags
		if n > 0 {
			flags &^= 0x80
		}
		if !last {
			flags &^= 0x09
		}
		transport = make([]byte, 20+d.options)
		binary.BigEndian.PutUint16(transport, 40000)
		binary.BigEndian.PutUint16(transport[2:], 443)
		binary.BigEndian.PutUint32(transport[4:], d.seq+uint32(offset))
		binary.BigEndian.PutUint32(transport[8:], 77)
		transport[12], transport[13] = byte(5+d.options/4)<<4, flags
		for i := range d.options {
			transport[20+i] = byte(i)
		}
	} else {
		transport = make([]byte, 8)
		binary.BigEndian.PutUint16(transport, 40000)
		binary.BigEndian.PutUint16(transport[2:], 443)
		binary.BigEndian.PutUint16(transport[4:], uint16(8+len(payload)))
	}
	body := append(transport, payload...)
	if d.six {
		ip = make([]byte, 40)
		ip[0], ip[1], ip[6], ip[7] = 0x60, d.ecn<<4, d.proto(), 64
		binary.BigEndian.PutUint16(ip[4:], uint16(len(body)))
		copy(ip[8:], client.AsSlice())
		copy(ip[24:], server.AsSlice())
	} else {
		ip = make([]byte, 20)
		ip[0], ip[1], ip[6], ip[8], ip[9] = 0x45, d.ecn, 0x40, 64, d.proto()
		binary.BigEndian.PutUint16(ip[2:], uint16(20+len(body)))
		binary.BigEndian.PutUint16(ip[4:], d.id+uint16(max(n, 0)))
		copy(ip[12:], client.AsSlice())
		copy(ip[16:], server.AsSlice())
		binary.BigEndian.PutUint16(ip[10:], plainChecksum(ip))
	}
	pseudo := append(append(client.AsSlice(), server.AsSlice()...), 0, d.proto(), byte(len(body)>>8), byte(len(body)))
	if len(pseudo)%2 != 0 {
		panic("odd pseudo-header")
	}
	binary.BigEndian.PutUint16(body[d.check():], 0)
	check := plainChecksum(append(pseudo, body...))
	if !d.tcp && check == 0 {
		check = 0xffff
	}
	binary.BigEndian.PutUint16(body[d.check():], check)
	return append(ip, body...)
}

func (d draft) proto() byte {
	if d.tcp {
		return 6
	}
	return 17
}

func (d draft) check() int {
	if d.tcp {
		return 16
	}
	return 6
}

// plainChecksum is RFC 1071's, word by word.
func plainChecksum(b []byte) uint16 {
	s := 0
	for i := 0; i < len(b); i += 2 {
		word := int(b[i]) << 8
		if i+1 < len(b) {
			word += int(b[i+1])
		}
		if s += word; s > 0xffff {
			s -= 0xffff
		}
	}
	return ^uint16(s)
}

// wire returns the wire packets, as a sender without offload makes them.
func (d draft) wire() [][]byte {
	var all [][]byte
	for offset := 0; offset < len(d.payload); offset += d.size {
		end := min(offset+d.size, len(d.payload))
		all = append(all, d.packet(d.payload[offset:end], len(all), offset, end == len(d.payload)))
	}
	return all
}

// super returns what a device gives: header and super-packet, or a packet that
// is one, without a checksum.
func (d draft) super() []byte {
	p := d.packet(d.payload, -1, 0, true)
	start := len(p) - len(d.payload) - 8
	if d.tcp {
		start -= 12 + d.options
	}
	v := vnet{flags: needsChecksum, start: uint16(start), offset: uint16(d.check())}
	if len(d.payload) > d.size {
		v.size, v.header = uint16(d.size), uint16(len(p)) // the kernel's header length is no header's
		switch {
		case !d.tcp:
			v.gso = gsoUDP
		case d.six:
			v.gso = gsoTCP6
		default:
			v.gso = gsoTCP4
		}
		if d.tcp && d.flags&0x80 != 0 {
			v.gso |= gsoECN
		}
	}
	source, dest := p[12:16], p[16:20]
	if d.six {
		source, dest = p[8:24], p[24:40]
	}
	length := len(p) - start
	pseudo := append(append(bytes.Clone(source), dest...), 0, d.proto(), byte(length>>8), byte(length))
	binary.BigEndian.PutUint16(p[start+d.check():], ^plainChecksum(pseudo))
	b := make([]byte, vnetSize, vnetSize+len(p))
	v.put(b)
	return append(b, p...)
}

// cut makes wire packets of what was written to a device, in the plainest way,
// as the receiver's kernel would.
func cut(t interface{ Fatalf(string, ...any) }, b []byte) [][]byte {
	v, p := parseVnet(b), bytes.Clone(b[vnetSize:])
	if v.flags&^needsChecksum != 0 {
		t.Fatalf("flags %#x", v.flags)
	}
	if v.flags == 0 {
		if v != (vnet{}) {
			t.Fatalf("a whole packet with the header %+v", v)
		}
		return [][]byte{p}
	}
	d := draft{six: p[0]>>4 == 6, tcp: v.offset == 16, size: int(v.size), ecn: p[1] & 3}
	source, dest := p[12:16], p[16:20]
	if d.six {
		source, dest, d.ecn = p[8:24], p[24:40], p[1]>>4
	}
	client, _ := lab.IPv4.Hosts()
	if d.six {
		client, _ = lab.IPv6.Hosts()
	}
	d.down = !bytes.Equal(source, client.AsSlice())
	start, header := int(v.start), int(v.start)+8
	if d.tcp {
		header = start + int(p[start+12]>>4)*4
		d.options, d.flags, d.seq = header-start-20, p[start+13], binary.BigEndian.Uint32(p[start+4:])
	}
	if !d.six {
		d.id = binary.BigEndian.Uint16(p[4:])
	}
	length := len(p) - start
	pseudo := append(append(bytes.Clone(source), dest...), 0, d.proto(), byte(length>>8), byte(length))
	if have, want := binary.BigEndian.Uint16(p[start+d.check():]), ^plainChecksum(pseudo); have != want {
		t.Fatalf("the pseudo-header's sum is %#x, want %#x", have, want)
	}
	d.payload = p[header:]
	if v.gso == gsoNone {
		d.size = len(d.payload)
	} else if int(v.header) != header {
		t.Fatalf("the header has %d bytes, not %d", header, v.header)
	}
	if ecn := v.gso&gsoECN != 0; v.gso != gsoNone && ecn != (d.tcp && d.flags&0x80 != 0) {
		t.Fatalf("ECN %v with the flags %#x", ecn, d.flags)
	}
	return d.wire()
}

// A super-packet lies in its buffer as the wire packets that its sender would
// have made without offload, and any run of them as one goes to pieces again the
// same way. The buffer is as before, each time.
func TestSuperIsItsWirePackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := random(t)
		want := d.wire()
		b := bufferOf(t, d.super())
		if b.count != len(want) {
			t.Fatalf("%d wire packets, want %d", b.count, len(want))
		}
		i := rapid.IntRange(0, b.count-1).Draw(t, "first")
		n := rapid.IntRange(1, b.count-i).Draw(t, "joined")
		if rapid.Bool().Draw(t, "shrunk") && b.header > 0 {
			var free buffers
			defer free.release()
			free.shrink(b, i, i+n-1)
		}
		before := bytes.Clone(b.data)
		var s saved
		for k := i; k < i+n; k++ {
			packet := bytes.Clone(b.lay(k, 1, &s)[vnetSize:])
			b.lift(k, &s)
			finishChecksum(packet, int(b.vnet.start), int(b.vnet.offset))
			if !bytes.Equal(packet, want[k]) {
				t.Fatalf("packet %d is\n%x, want\n%x", k, packet, want[k])
			}
			if len(packet) != b.bytes(k, 1) {
				t.Fatalf("packet %d has %d bytes, it is said to have %d", k, len(packet), b.bytes(k, 1))
			}
		}
		joined := b.lay(i, n, &s)
		b.vnetOf(i, n).put(joined)
		for k, packet := range cut(t, joined) {
			if !bytes.Equal(packet, want[i+k]) {
				t.Fatalf("packet %d of %d to %d is\n%x, want\n%x", i+k, i, i+n-1, packet, want[i+k])
			}
		}
		b.lift(i, &s)
		if !bytes.Equal(b.data, before) {
			t.Fatal("the buffer is not as it was")
		}
	})
}

// bufferOf is a buffer with what a device gave.
func bufferOf(t interface{ Fatal(...any) }, given []byte) *buffer {
	s, err := parseSuper(parseVnet(given), given[vnetSize:])
	if err != nil {
		t.Fatal(err)
	}
	b := &buffer{super: s, data: make([]byte, classSizes[bigClass]), class: bigClass}
	copy(b.data, given)
	b.vnet.put(b.data)
	return b
}

// Sums agree with the plain way, for all lengths.
func TestChecksums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes")
		if have, want := ^fold(sum(b)), plainChecksum(b); have != want && have|want != 0xffff {
			t.Fatalf("%x: %#x, want %#x", b, have, want)
		}
	})
	full := bytes.Repeat([]byte{0xff}, 65536)
	if s := fold(sum(full)); s != 0xffff {
		t.Errorf("the sum of ones is %#x", s)
	}
}

func TestMalformedSupers(t *testing.T) {
	tcp := draft{tcp: true, payload: make([]byte, 3000), size: 1000, flags: 0x10}
	udp := draft{six: true, payload: make([]byte, 3000), size: 1000}
	for name, spoil := range map[string]func(v *vnet, p []byte) []byte{
		"no size":             func(v *vnet, p []byte) []byte { v.size = 0; return p },
		"fragments (UFO)":     func(v *vnet, p []byte) []byte { v.gso = 3; return p },
		"other IP version":    func(v *vnet, p []byte) []byte { p[0] ^= 0x20; return p },
		"cut short":           func(v *vnet, p []byte) []byte { return p[:len(p)-1] },
		"header cut short":    func(v *vnet, p []byte) []byte { return p[:25] },
		"one byte":            func(v *vnet, p []byte) []byte { return p[:1] },
		"complete checksum":   func(v *vnet, p []byte) []byte { v.flags = 2; return p },
		"checksum elsewhere":  func(v *vnet, p []byte) []byte { v.offset = 8; return p },
		"checksum far out":    func(v *vnet, p []byte) []byte { v.start = 65535; return p },
		"starts elsewhere":    func(v *vnet, p []byte) []byte { v.start -= 4; return p },
		"other protocol":      func(v *vnet, p []byte) []byte { p[9], p[6] = 1, 1; return p },
		"reserved type flags": func(v *vnet, p []byte) []byte { v.gso |= 0x20; return p },
	} {
		for _, d := range []draft{tcp, udp} {
			given := d.super()
			v := parseVnet(given)
			p := spoil(&v, given[vnetSize:])
			if _, err := parseSuper(v, p); !errors.Is(err, errMalformed) {
				t.Errorf("%s: %+v: %v", name, v, err)
			}
		}
	}
	given := tcp.super()
	given[vnetSize+20+12] = 0x40
	if _, err := parseSuper(parseVnet(given), given[vnetSize:]); !errors.Is(err, errMalformed) {
		t.Errorf("a TCP header of 16 bytes: %v", err)
	}
	given = tcp.super()
	given[vnetSize+6] |= 0x20
	if _, err := parseSuper(parseVnet(given), given[vnetSize:]); !errors.Is(err, errMalformed) {
		t.Errorf("a fragment: %v", err)
	}
}

// Whatever a device gives: an error, or wire packets that lie within the packet,
// leave it as it was, and add up to it.
func FuzzSuper(f *testing.F) {
	for _, d := range []draft{
		{tcp: true, payload: make([]byte, 3000), size: 1000, options: 12, flags: 0x99},
		{tcp: true, six: true, payload: make([]byte, 100), size: 7},
		{payload: make([]byte, 3001), size: 1000},
		{six: true, payload: make([]byte, 10), size: 1000},
	} {
		f.Add(d.super())
	}
	f.Fuzz(func(t *testing.T, given []byte) {
		if len(given) <= vnetSize || len(given) > vnetSize+65535 {
			return
		}
		s, err := parseSuper(parseVnet(given), given[vnetSize:])
		if err != nil {
			if !errors.Is(err, errMalformed) {
				t.Fatal(err)
			}
			return
		}
		b := bufferOf(t, given)
		before := bytes.Clone(b.data)
		payload := 0
		var kept saved
		for i := range s.count {
			packet := b.lay(i, 1, &kept)[vnetSize:]
			if len(packet) == 0 || len(packet) != b.bytes(i, 1) {
				t.Fatalf("packet %d of %d has %d bytes", i, s.count, len(packet))
			}
			payload += len(packet) - s.header
			if s.vnet.flags != 0 {
				finishChecksum(bytes.Clone(packet), int(s.vnet.start), int(s.vnet.offset))
			}
			b.lift(i, &kept)
		}
		if !bytes.Equal(b.data, before) {
			t.Fatal("the buffer is not as it was")
		}
		if s.header+payload != len(given)-vnetSize {
			t.Fatalf("%d wire packets have %d bytes of payload and a header of %d; given were %d", s.count, payload, s.header, len(given)-vnetSize)
		}
	})
}
