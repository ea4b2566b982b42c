package wire

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/hostile"
)

const flagRST = 0x04

// ip4 and ip6 put an IP header before a transport segment.
func ip4(proto byte, segment []byte) []byte {
	p := make([]byte, 20, 20+len(segment))
	p[0], p[9] = 0x45, proto
	binary.BigEndian.PutUint16(p[2:], uint16(20+len(segment)))
	return append(p, segment...)
}

func ip6(proto byte, segment []byte) []byte {
	p := make([]byte, 40, 40+len(segment))
	p[0], p[6] = 0x60, proto
	binary.BigEndian.PutUint16(p[4:], uint16(len(segment)))
	return append(p, segment...)
}

func tcp(source, dest uint16, seq uint32, flags byte, payload int) []byte {
	b := make([]byte, 32+payload) // with 12 bytes of options, as timestamps are
	binary.BigEndian.PutUint16(b, source)
	binary.BigEndian.PutUint16(b[2:], dest)
	binary.BigEndian.PutUint32(b[4:], seq)
	b[12], b[13] = 8<<4, flags
	return b
}

func udp(source, dest uint16, payload []byte) []byte {
	b := make([]byte, 8, 8+len(payload))
	binary.BigEndian.PutUint16(b, source)
	binary.BigEndian.PutUint16(b[2:], dest)
	binary.BigEndian.PutUint16(b[4:], uint16(8+len(payload)))
	return append(b, payload...)
}

// long is a QUIC long-header packet.
func long(version uint32, kind byte, dest, source string) []byte {
	b := []byte{0xc0 | kind<<4}
	b = binary.BigEndian.AppendUint32(b, version)
	b = append(append(b, byte(len(dest))), dest...)
	b = append(append(b, byte(len(source))), source...)
	return append(b, make([]byte, 20)...)
}

// up and down show packets of a TCP connection from port 5000.
type conversation struct {
	w   *Witness
	now time.Duration
}

func (c *conversation) up(seq uint32, flags byte, payload int) {
	c.now++
	c.w.See(lab.Up, c.now, ip4(protoTCP, tcp(5000, 443, seq, flags, payload)), lab.Fate{})
}

func (c *conversation) down(seq uint32, flags byte, payload int) {
	c.now++
	c.w.See(lab.Down, c.now, ip4(protoTCP, tcp(443, 5000, seq, flags, payload)), lab.Fate{})
}

func TestTCPRetransmits(t *testing.T) {
	const data = 1000
	for _, tt := range []struct {
		name     string
		talk     func(*conversation)
		up, down int
	}{
		{"none", func(c *conversation) {
			c.up(100, flagSYN, 0)
			c.down(900, flagSYN|flagACK, 0)
			c.up(101, flagACK, 0)
			c.up(101, flagACK, data)
			c.up(1101, flagACK, data)
			c.down(901, flagACK, data)
			c.up(2101, flagACK|flagFIN, 0)
			c.down(1901, flagACK|flagFIN, 0)
			c.up(2102, flagACK, 0)
		}, 0, 0},
		{"acknowledgements are none", func(c *conversation) {
			c.up(100, flagSYN, 0)
			for range 5 {
				c.up(101, flagACK, 0)
			}
			c.up(50, flagACK, 0) // not even old ones
		}, 0, 0},
		{"a whole segment", func(c *conversation) {
			c.up(100, flagSYN, 0)
			c.up(101, flagACK, data)
			c.up(1101, flagACK, data)
			c.up(101, flagACK, data)
		}, 1, 0},
		{"a part of a segment, with new data", func(c *conversation) {
			c.up(100, flagSYN, 0)
			c.up(101, flagACK, data)
			c.up(600, flagACK, data)
			c.up(1600, flagACK, data) // goes on after it
		}, 1, 0},
		{"the SYN", func(c *conversation) {
			c.up(100, flagSYN, 0)
			c.up(100, flagSYN, 0)
			c.down(900, flagSYN|flagACK, 0)
			c.down(900, flagSYN|flagACK, 0)
		}, 1, 1},
		{"the FIN", func(c *conversation) {
			c.up(100, flagSYN, 0)
			c.up(101, flagACK|flagFIN, 0)
			c.up(101, flagACK|flagFIN, 0)
		}, 1, 0},
		{"data and FIN", func(c *conversation) {
			c.up(100, flagSYN, 0)
			c.up(101, flagACK|flagFIN, data)
			c.up(1101, flagACK|flagFIN, 0)
		}, 1, 0},
		{"across the wrap of sequence numbers", func(c *conversation) {
			c.up(0xffffff00, flagSYN, 0)
			c.up(0xffffff01, flagACK, data) // ends at 0x2e9
			c.up(0x2e9, flagACK, data)
			c.up(0xffffff01, flagACK, data)
			c.up(0x2e9, flagACK, data)
			c.up(0x6d1, flagACK, data)
		}, 2, 0},
		{"each direction for itself", func(c *conversation) {
			c.up(100, flagSYN, 0)
			c.down(100, flagSYN|flagACK, 0)
			c.down(101, flagACK, data)
			c.up(101, flagACK, data)
			c.down(101, flagACK, data)
		}, 0, 1},
		{"a connection that was there already", func(c *conversation) {
			c.down(5000, flagACK, data)
			c.down(6000, flagACK, data)
			c.down(5000, flagACK, data)
		}, 0, 1},
	} {
		c := &conversation{w: New()}
		tt.talk(c)
		f := c.w.Facts(c.now, 0)
		if f.Up.TCPRetransmits != tt.up || f.Down.TCPRetransmits != tt.down {
			t.Errorf("%s: %d up, %d down; want %d, %d", tt.name, f.Up.TCPRetransmits, f.Down.TCPRetransmits, tt.up, tt.down)
		}
	}
}

func TestTCPConnections(t *testing.T) {
	w := New()
	see := func(d lab.Direction, source, dest uint16, seq uint32, flags byte) {
		w.See(d, 1, ip6(protoTCP, tcp(source, dest, seq, flags, 0)), lab.Fate{})
	}
	for i := range 6 {
		port := uint16(5000 + i)
		see(lab.Up, port, 443, 100, flagSYN)
		see(lab.Up, port, 443, 100, flagSYN) // again
		see(lab.Down, 443, port, 900, flagSYN|flagACK)
		see(lab.Up, port, 443, 101, flagACK)
	}
	if got := w.Facts(1, 0).Connections; got != 6 {
		t.Errorf("%d connections, want 6", got)
	}
	see(lab.Up, 5000, 443, 101, flagRST)
	see(lab.Up, 5000, 443, 77_000, flagSYN) // the port is used again
	f := w.Facts(1, 0)
	if f.Connections != 7 || f.Up.TCPRetransmits != 6 || f.Down.TCPRetransmits != 0 {
		t.Errorf("%d connections, want 7; %d retransmits, want 6", f.Connections, f.Up.TCPRetransmits)
	}
}

func TestQUICConnections(t *testing.T) {
	const initial1, initial2 = 0, 1 // the types of versions 1 and 2
	client := func(port uint16, payload []byte) func(*Witness) {
		return func(w *Witness) { w.See(lab.Up, 1, ip4(protoUDP, udp(port, 443, payload)), lab.Fate{}) }
	}
	for _, tt := range []struct {
		name string
		see  []func(*Witness)
		want int
	}{
		{"one", []func(*Witness){client(1, long(quicV1, initial1, "12345678", "abcd"))}, 1},
		{"again, after Retry or a loss", []func(*Witness){
			client(1, long(quicV1, initial1, "12345678", "abcd")), client(1, long(quicV1, initial1, "other", "abcd")),
		}, 1},
		{"two on one port", []func(*Witness){
			client(1, long(quicV1, initial1, "12345678", "abcd")), client(1, long(quicV1, initial1, "12345678", "efgh")),
		}, 2},
		{"two ports, empty IDs", []func(*Witness){
			client(1, long(quicV1, initial1, "12345678", "")), client(2, long(quicV1, initial1, "12345678", "")),
			client(1, long(quicV1, initial1, "87654321", "")),
		}, 2},
		{"version 2", []func(*Witness){client(1, long(quicV2, initial2, "12345678", "abcd"))}, 1},
		{"other long headers", []func(*Witness){
			client(1, long(quicV1, 1, "12345678", "abcd")), client(1, long(quicV1, 2, "12345678", "efgh")),
			client(1, long(quicV1, 3, "12345678", "ijkl")), client(1, long(quicV2, 0, "12345678", "mnop")),
			client(1, long(0, 0, "12345678", "qrst")), client(1, long(0xff00001d, 0, "12345678", "uvwx")),
		}, 0},
		{"a short header", []func(*Witness){client(1, append([]byte{0x40}, make([]byte, 30)...))}, 0},
		{"the server's", []func(*Witness){func(w *Witness) {
			w.See(lab.Down, 1, ip4(protoUDP, udp(443, 1, long(quicV1, initial1, "abcd", "server"))), lab.Fate{})
		}}, 0},
		{"IDs that are too long, or cut", []func(*Witness){
			client(1, long(quicV1, initial1, "123456789012345678901", "abcd")),
			client(1, long(quicV1, initial1, "12345678", "123456789012345678901")),
			client(1, long(quicV1, initial1, "12345678", "abcd")[:17]), client(1, nil), client(1, []byte{0xc0, 0, 0, 0, 1, 0}),
		}, 0},
		{"lost on the way", []func(*Witness){func(w *Witness) {
			w.See(lab.Up, 1, ip4(protoUDP, udp(1, 443, long(quicV1, initial1, "12345678", "abcd"))), lab.Fate{Drop: "loss"})
		}}, 1},
	} {
		w := New()
		for _, see := range tt.see {
			see(w)
		}
		if got := w.Facts(1, 0).Connections; got != tt.want {
			t.Errorf("%s: %d connections, want %d", tt.name, got, tt.want)
		}
	}
}

func TestCounts(t *testing.T) {
	w := New()
	segment := ip4(protoTCP, tcp(5000, 443, 100, flagSYN, 0))
	datagram := ip6(protoUDP, udp(5000, 443, make([]byte, 100)))
	w.See(lab.Up, 1, segment, lab.Fate{})
	w.See(lab.Up, 2, segment, lab.Fate{Drop: "loss"})
	w.See(lab.Up, 3, segment, lab.Fate{Drop: "queue"})
	w.See(lab.Up, 4, datagram, lab.Fate{Drop: "loss"})
	w.See(lab.Down, 5, datagram, lab.Fate{})
	w.See(lab.Down, 6, ip4(1, make([]byte, 8)), lab.Fate{}) // ICMP
	w.Foreign(lab.Down)
	f := w.Facts(time.Second, 0)
	up := lab.WireWay{
		Packets: 4, Bytes: int64(3*len(segment) + len(datagram)), Drops: map[string]int{"loss": 2, "queue": 1},
		TCPPackets: 3, UDPPackets: 1, TCPRetransmits: 2, Payload: 100, LossRuns: []lab.LossRun{{Length: 3, Count: 1}},
	}
	down := lab.WireWay{Packets: 2, Bytes: int64(len(datagram) + 28), Drops: map[string]int{}, UDPPackets: 1, Foreign: 1, Payload: 100, LossRuns: []lab.LossRun{}}
	if !reflect.DeepEqual(f.Up, up) || !reflect.DeepEqual(f.Down, down) {
		t.Errorf("up   %+v, want %+v\ndown %+v, want %+v", f.Up, up, f.Down, down)
	}
	if want := (time.Second - 6).Seconds(); f.Silence != want {
		t.Errorf("silence %v, want %v", f.Silence, want)
	}
	if f.RoundTrips != nil {
		t.Errorf("round trips %v", *f.RoundTrips)
	}
	f.Up.Drops["loss"] = 99
	if w.Facts(time.Second, 0).Up.Drops["loss"] != 2 {
		t.Error("who asks for facts can change them")
	}
	if got := New().Facts(time.Second, 0); got.Silence != 0 || got.Up.Drops == nil {
		t.Errorf("of nothing: %+v", got)
	}
}

// What is cut short, fragmented or neither TCP nor UDP is counted as a packet,
// and as nothing else.
func TestBrokenPackets(t *testing.T) {
	good := ip4(protoTCP, tcp(5000, 443, 100, flagSYN, 10))
	change := func(i int, b byte) []byte {
		p := append([]byte(nil), good...)
		p[i] = b
		return p
	}
	for name, p := range map[string][]byte{
		"empty": nil, "one byte": {0x45}, "cut in the IP header": good[:19], "cut in TCP": good[:39],
		"IP version": change(0, 0x55), "IP header length too short": change(0, 0x44), "IP header length too long": change(0, 0x4f),
		"total length": change(3, 0xff), "total length too short": change(3, 10), "fragment": change(7, 1), "TCP offset too short": change(32, 4<<4),
		"TCP offset too long": change(32, 15<<4), "IPv6 cut": ip6(protoTCP, tcp(1, 2, 3, 4, 5))[:39], "IPv6 length": ip6(protoTCP, tcp(1, 2, 3, 4, 5))[:60],
		"UDP cut": ip4(protoUDP, make([]byte, 7)), "IPv6 extension header": ip6(0, make([]byte, 40)),
	} {
		w := New()
		w.See(lab.Up, 1, p, lab.Fate{})
		f := w.Facts(1, 0)
		if f.Up.Packets != 1 || f.Up.TCPPackets+f.Up.UDPPackets+f.Connections != 0 || f.Up.Bytes != int64(len(p)) {
			t.Errorf("%s: %+v", name, f.Up)
		}
	}
	// The first fragment, and padding after the packet, are read.
	for name, p := range map[string][]byte{"first fragment": change(6, 0x20), "padding": append(append([]byte(nil), good...), make([]byte, 6)...)} {
		w := New()
		w.See(lab.Up, 1, p, lab.Fate{})
		if f := w.Facts(1, 0); f.Connections != 1 {
			t.Errorf("%s: not read", name)
		}
	}
}

type seen struct {
	d    lab.Direction
	at   time.Duration
	size int
	drop string
}

func digestOf(end time.Duration, packets ...seen) string {
	w := New()
	for _, p := range packets {
		w.See(p.d, p.at, make([]byte, p.size), lab.Fate{Drop: lab.Reason(p.drop)})
	}
	return w.Facts(end, 0).Digest
}

func TestDigest(t *testing.T) {
	base := []seen{{lab.Up, 10, 60, ""}, {lab.Down, 20, 1500, ""}, {lab.Up, 30, 40, "loss"}}
	want := digestOf(100, base...)
	if len(want) != 16 || digestOf(100, base...) != want {
		t.Errorf("equal packets: %s and %s", want, digestOf(100, base...))
	}
	distinct := map[string]string{want: "nothing"}
	for name, change := range map[string]func(p []seen) []seen{
		"direction":    func(p []seen) []seen { p[0].d = lab.Down; return p },
		"time":         func(p []seen) []seen { p[0].at = 11; return p },
		"size":         func(p []seen) []seen { p[1].size = 1499; return p },
		"fate":         func(p []seen) []seen { p[2].drop = ""; return p },
		"reason":       func(p []seen) []seen { p[2].drop = "queue"; return p },
		"order":        func(p []seen) []seen { p[0].at = 20; p[0], p[1] = p[1], p[0]; return p },
		"one less":     func(p []seen) []seen { return p[:2] },
		"one more":     func(p []seen) []seen { return append(p, seen{lab.Up, 40, 40, ""}) },
		"none at all":  func([]seen) []seen { return nil },
		"another size": func(p []seen) []seen { p[1].size = 1500 - 256; return p },
	} {
		got := digestOf(100, change(append([]seen(nil), base...))...)
		if other, ok := distinct[got]; ok {
			t.Errorf("a change of %s gives the digest of a change of %s", name, other)
		}
		distinct[got] = name
	}
}

// What happens at the very instant of the load's end does not count.
func TestDigestIsCutAtTheEnd(t *testing.T) {
	base := []seen{{lab.Up, 10, 60, ""}, {lab.Down, 20, 1500, ""}}
	want := digestOf(30, base...)
	at30 := func(size int) seen { return seen{lab.Up, 30, size, ""} }
	for _, after := range [][]seen{{at30(40)}, {at30(50), at30(60)}, {{lab.Up, 31, 40, ""}}} {
		if got := digestOf(30, append(base[:2:2], after...)...); got != want {
			t.Errorf("%v after the end changes the digest", after)
		}
	}
	if got := digestOf(31, append(base[:2:2], at30(40))...); got == want {
		t.Error("a packet before the end is cut off")
	}
	if got := digestOf(20, base...); got != digestOf(20, base[0]) {
		t.Error("a packet at the end counts")
	}
	if digestOf(0, seen{lab.Up, 0, 40, ""}) != digestOf(0) {
		t.Error("a packet at the very start and end counts")
	}
}

func FuzzSee(tf *testing.F) {
	f := hostile.Wrap(tf)
	f.Add(ip4(protoTCP, tcp(5000, 443, 100, flagSYN, 10)), false)
	f.Add(ip6(protoTCP, tcp(5000, 443, 100, flagSYN, 10)), true)
	f.Add(ip4(protoUDP, udp(1, 443, long(quicV1, 0, "12345678", "abcd"))), false)
	f.Add(ip6(protoUDP, udp(1, 443, long(quicV2, 1, "", ""))), false)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, p []byte, down bool) {
		d := lab.Up
		if down {
			d = lab.Down
		}
		before := fmt.Sprintf("%x", p)
		w := New()
		w.See(d, 1, p, lab.Fate{})
		w.See(d, 2, p, lab.Fate{Drop: "loss"})
		if fmt.Sprintf("%x", p) != before {
			t.Fatal("the packet was changed")
		}
		facts := w.Facts(3, 0)
		way := facts.Up
		if down {
			way = facts.Down
		}
		if way.Packets != 2 || way.Bytes != int64(2*len(p)) || way.TCPPackets+way.UDPPackets > 2 || facts.Connections > 1 {
			t.Fatalf("%+v", facts)
		}
	})
}

// What follows a load's end closes its connections: it changes neither the
// digest nor the silence, and in real time neither does what comes just before.
func TestFactsAreCutAtTheLoadsEnd(t *testing.T) {
	at := func(times ...time.Duration) *Witness {
		w := New()
		for _, now := range times {
			w.See(lab.Up, now*time.Millisecond, make([]byte, 40), lab.Fate{})
		}
		return w
	}
	end := 1000 * time.Millisecond
	plain, closing := at(100, 400).Facts(end, 0), at(100, 400, 1000, 1001, 1002).Facts(end, 0)
	if plain.Digest != closing.Digest || plain.Silence != 0.6 || closing.Silence != 0.6 {
		t.Errorf("silence %v and %v, digests %s and %s", plain.Silence, closing.Silence, plain.Digest, closing.Digest)
	}
	for margin, want := range map[time.Duration]float64{0: 0.01, 30 * time.Millisecond: 0.6} {
		if got := at(100, 400, 990, 1005).Facts(end, margin).Silence; got != want {
			t.Errorf("margin %s: silence of %v s, want %v", margin, got, want)
		}
	}
	if got := at(1000).Facts(end, 0); got.Silence != 0 || got.Digest != New().Facts(end, 0).Digest {
		t.Errorf("nothing came before the end: %+v", got)
	}
}
