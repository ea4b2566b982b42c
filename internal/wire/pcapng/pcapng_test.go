package pcapng

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/hostile"
)

// genPacket makes packets with any content: what they hold is not looked at.
func genPacket(n int, at time.Duration) *rapid.Generator[wire.Packet] {
	return rapid.Custom(func(t *rapid.T) wire.Packet {
		maybe := func(name string) time.Duration {
			return time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 1e12)).Draw(t, name))
		}
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		p := wire.Packet{
			N: n, Way: lab.Direction(rapid.IntRange(0, 1).Draw(t, "way")), At: at, Left: at + maybe("left"),
			Waited: maybe("waited"), Sending: maybe("sending"),
			Data: append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data")...),
			Fate: lab.Fate{
				Drop:       rapid.SampledFrom(append(lab.Reasons(), lab.NotDropped, lab.NotDropped, lab.DropNetem)).Draw(t, "drop"),
				Duplicated: flag("duplicated"), Corrupted: flag("corrupted"), Reordered: flag("reordered"), Marked: flag("marked"),
			},
		}
		p.Size = len(p.Data) + rapid.SampledFrom([]int{0, 0, 1, 65000}).Draw(t, "cut")
		if p.Fate.Drop != lab.NotDropped || flag("under way") {
			p.Left = wire.Never
		}
		return p
	})
}

func genCapture(t *rapid.T) *wire.Capture {
	c := &wire.Capture{
		Start: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "start")),
		End:   time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "end")),
		Name:  rapid.String().Draw(t, "name"),
	}
	if s := rapid.SliceOf(rapid.Byte()).Draw(t, "secrets"); len(s) > 0 {
		c.Secrets = s
	}
	number, at := 0, time.Duration(0)
	for range rapid.IntRange(0, 20).Draw(t, "packets") {
		number += rapid.IntRange(1, 3).Draw(t, "step")
		at += time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "later"))
		c.Packets = append(c.Packets, genPacket(number, at).Draw(t, "packet"))
	}
	if n := len(c.Packets); n > 0 && rapid.Bool().Draw(t, "gap") {
		c.Gap, c.Skipped = rapid.IntRange(0, n-1).Draw(t, "gap at"), rapid.IntRange(1, 1e6).Draw(t, "skipped")
	}
	return c
}

func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genCapture(t)
		var file bytes.Buffer
		if err := Write(&file, want); err != nil {
			t.Fatal(err)
		}
		got, err := Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("written and read back (-want +got):\n%s", d)
		}
	})
}

// TestComments is what a person sees in Wireshark.
func TestComments(t *testing.T) {
	p := wire.Packet{N: 7, Size: 1500, Data: make([]byte, 80), Left: wire.Never, Fate: lab.Fate{Drop: lab.DropQueue, Marked: true}}
	want := []string{
		"12 packets before this one were not kept",
		"dropped by the link: queue",
		"marked by the link: it arrives with congestion experienced",
		"the first 80 of 1500 bytes were kept",
		"samewire: n=7 drop=queue marked",
	}
	if got := packetComments(&p, 12); !slices.Equal(got, want) {
		t.Errorf("have %q", got)
	}
	p = wire.Packet{N: 8, Size: 3, Data: make([]byte, 3), At: 1e9, Left: 2e9, Waited: 5, Sending: 6}
	if got := packetComments(&p, 0); !slices.Equal(got, []string{"samewire: n=8 left=2000000000 waited=5 sending=6"}) {
		t.Errorf("have %q", got)
	}
	p = wire.Packet{N: 9, Left: wire.Never}
	if got := packetComments(&p, 0); !slices.Equal(got, []string{"not delivered: still under way when the run ended", "samewire: n=9"}) {
		t.Errorf("have %q", got)
	}
	section := sectionComment(&wire.Capture{Name: "slow one h3 virtual", Start: 1e9, End: 2e9, Skipped: 3, Gap: 4})
	for _, want := range []string{"slow one h3 virtual\n", "1970-01-01", "1.000000 s and ended at 2.000000 s", "3 packets were not kept, after the first 4"} {
		if !strings.Contains(section, want) {
			t.Errorf("the section's comment lacks %q: %s", want, section)
		}
	}
}

// serialize makes a packet of its layers.
func serialize(t testing.TB, list ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, list...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var client, server = []byte{10, 0, 0, 1}, []byte{10, 0, 0, 2}

func ipv4(up bool, proto layers.IPProtocol) *layers.IPv4 {
	p := &layers.IPv4{Version: 4, TTL: 64, Protocol: proto, SrcIP: client, DstIP: server}
	if !up {
		p.SrcIP, p.DstIP = server, client
	}
	return p
}

func ethernet() *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4}
}

// TestForeign holds what is made of captures of others: who began is the client,
// even at the lower port; link layers and their filling are taken off.
func TestForeign(t *testing.T) {
	tcp := func(up bool, syn, ack bool) []byte {
		h := &layers.TCP{SrcPort: 100, DstPort: 4433, SYN: syn, ACK: ack}
		if !up {
			h.SrcPort, h.DstPort = h.DstPort, h.SrcPort
		}
		return serialize(t, ethernet(), ipv4(up, layers.IPProtocolTCP), h)
	}
	udp := func(up bool, first byte) []byte {
		h := &layers.UDP{SrcPort: 100, DstPort: 4433}
		if !up {
			h.SrcPort, h.DstPort = h.DstPort, h.SrcPort
		}
		return serialize(t, ethernet(), ipv4(up, layers.IPProtocolUDP), h, gopacket.Payload{first, 0, 0, 0, 1})
	}
	frames := [][]byte{tcp(true, true, false), tcp(false, true, true), tcp(true, false, true), udp(true, 0xc0), udp(false, 0xc0), udp(false, 0x40)}
	want := []lab.Direction{lab.Up, lab.Down, lab.Up, lab.Up, lab.Down, lab.Down}
	for name, write := range writers() {
		var file bytes.Buffer
		if err := write(&file, frames); err != nil {
			t.Fatal(name, err)
		}
		c, err := Read(&file)
		if err != nil || len(c.Packets) != len(frames) {
			t.Fatal(name, err, len(c.Packets))
		}
		for i, p := range c.Packets {
			at := time.Duration(i) * time.Millisecond
			size := int(binary.BigEndian.Uint16(frames[i][16:])) // in the IP header
			if p.N != i+1 || p.At != at || p.Left != at || p.Way != want[i] || p.Size != size || !bytes.Equal(p.Data, frames[i][14:14+size]) {
				t.Errorf("%s, packet %d: %+v; want direction %v, size %d", name, i+1, p, want[i], size)
			}
		}
	}
}

// writers write Ethernet frames one millisecond apart, as others do.
func writers() map[string]func(io.Writer, [][]byte) error {
	base := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	each := func(frames [][]byte, write func(gopacket.CaptureInfo, []byte) error) error {
		for i, f := range frames {
			f = append(slices.Clone(f), make([]byte, max(0, 60-len(f)))...)
			info := gopacket.CaptureInfo{Timestamp: base.Add(time.Duration(i) * time.Millisecond), CaptureLength: len(f), Length: len(f)}
			if err := write(info, f); err != nil {
				return err
			}
		}
		return nil
	}
	return map[string]func(io.Writer, [][]byte) error{
		"pcap": func(w io.Writer, frames [][]byte) error {
			out := pcapgo.NewWriter(w)
			if err := out.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
				return err
			}
			return each(frames, out.WritePacket)
		},
		"pcapng": func(w io.Writer, frames [][]byte) error {
			out, err := pcapgo.NewNgWriter(w, layers.LinkTypeEthernet)
			if err != nil {
				return err
			}
			if err := each(frames, out.WritePacket); err != nil {
				return err
			}
			return out.Flush()
		},
	}
}

func TestNoCapture(t *testing.T) {
	for _, text := range []string{"", "abc", "GIF89a................", "\x1f\x8b\x08\x00\x00\x00\x00\x00"} {
		if c, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read as %+v", text, c)
		}
	}
}

// FuzzRead holds that nothing panics, and that what was read can be written and
// read again.
func FuzzRead(tf *testing.F) {
	f := hostile.Wrap(tf)
	small := &wire.Capture{
		Name: "seed", Secrets: []byte("CLIENT_RANDOM 01 02\n"), Skipped: 3, Gap: 1,
		Packets: []wire.Packet{
			{N: 1, Size: 30, Data: serialize(f, ipv4(true, layers.IPProtocolUDP), &layers.UDP{SrcPort: 1, DstPort: 2}), Left: 5},
			{N: 5, Way: lab.Down, At: 9, Size: 1500, Data: []byte{0x45}, Left: wire.Never, Fate: lab.Fate{Drop: lab.DropLoss}},
		},
	}
	var b bytes.Buffer
	if err := Write(&b, small); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:len(b.Bytes())-9])
	for _, write := range writers() {
		var b bytes.Buffer
		if err := write(&b, [][]byte{serialize(f, ethernet(), ipv4(true, layers.IPProtocolTCP), &layers.TCP{SYN: true})}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, c); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Read(&b)
		if err != nil || len(again.Packets) != len(c.Packets) {
			t.Fatalf("written and read again: %v, %d packets, not %d", err, len(again.Packets), len(c.Packets))
		}
	})
}
