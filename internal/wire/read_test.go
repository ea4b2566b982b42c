package wire

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/hostile"
	"github.com/samewire/samewire/internal/wire/ip"
)

// Each byte is new once, however it is cut and repeated, and its carrier is the
// packet that came with it first.
func TestSpansKnowWhoCameFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s spans
		var set ranges
		first := map[int64]int{}
		for i := range rapid.IntRange(1, 30).Draw(t, "packets") {
			begin := rapid.Int64Range(0, 40).Draw(t, "begin")
			end := begin + rapid.Int64Range(0, 15).Draw(t, "size")
			want := int64(0)
			for o := begin; o < end; o++ {
				if _, ok := first[o]; !ok {
					first[o] = i
					want++
				}
			}
			fresh := int64(0)
			for _, n := range set.add(begin, end) {
				fresh += n.end - n.begin
			}
			if got := s.add(begin, end, i); got != want || fresh != want {
				t.Fatalf("[%d, %d): %d and %d new bytes, want %d", begin, end, got, fresh, want)
			}
			if !set.covers(begin, end) {
				t.Fatalf("[%d, %d) is not in %v", begin, end, set)
			}
		}
		for o := range int64(60) {
			want, ok := first[o]
			if !ok {
				want = -1
			}
			if got := s.carrier(o); got != want || set.covers(o, o+1) != ok {
				t.Fatalf("byte %d: carried first by %d, want %d", o, got, want)
			}
			if _, whole := s.firsts(o, o+1); whole != ok {
				t.Fatalf("byte %d: seen %v, want %v", o, whole, ok)
			}
		}
	})
}

// Whatever the order of the pieces, the bytes come in order.
func TestAssembler(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 50).Draw(t, "size")
		var a assembler
		var got []byte
		give := func(begin, end int) {
			data := make([]byte, 0, end-begin)
			for i := begin; i < end; i++ {
				data = append(data, byte(i))
			}
			a.take(int64(begin), data, itself, func(b []byte) { got = append(got, b...) })
		}
		for range rapid.IntRange(0, 20).Draw(t, "pieces") {
			begin := rapid.IntRange(0, size-1).Draw(t, "begin")
			give(begin, rapid.IntRange(begin+1, size).Draw(t, "end"))
		}
		give(0, size)
		if len(got) != size || len(a.held) != 0 || a.bytes != 0 {
			t.Fatalf("got %d bytes of %d, %d are still held", len(got), size, a.bytes)
		}
		for i, b := range got {
			if b != byte(i) {
				t.Fatalf("byte %d is %d", i, b)
			}
		}
	})
}

func TestReadTCP(t *testing.T) {
	const up, down = lab.Up, lab.Down
	r := Read(capture([]seg{
		{up, 0, 10, syn, 0, 0, 0}, {down, 10, 20, syn, 0, 0, 1}, {up, 20, 30, 0, 1, 100, 1},
		{down, 30, 40, 0, 1, 1000, 101}, {down, 30, lost, 0, 1001, 1000, 101}, {down, 30, 42, 0, 2001, 1000, 101},
		{up, 42, 52, 0, 101, 0, 1001}, {down, 60, 70, 0, 1001, 1500, 101}, {up, 70, 80, fin, 101, 0, 3001},
		{up, 100, 110, syn, 5000, 0, 0}, // another connection with the same addresses
	}))
	if len(r.Connections) != 2 || len(r.Connections[0].Events) != 9 || r.Connections[1].Opened != 100*time.Millisecond {
		t.Fatalf("connections: %+v", r.Connections)
	}
	c := r.Connections[0]
	for i, want := range []struct {
		offset, ack int64
		fresh, old  int
	}{
		{0, -1, 0, 0}, {0, 1, 0, 0}, {1, 1, 100, 0}, {1, 101, 1000, 0}, {1001, 101, 1000, 0}, {2001, 101, 1000, 0},
		{101, 1001, 0, 0}, {1001, 101, 0, 1500}, {101, 3001, 0, 0},
	} {
		if e := r.Events[i]; e.Offset != want.offset || e.AckOffset != want.ack || e.New != want.fresh || e.Again != want.old {
			t.Errorf("event %d: offset %d, ack %d, new %d, again %d; want %+v", i, e.Offset, e.AckOffset, e.New, e.Again, want)
		}
	}
	if c.Client != client4 || c.Server != server4 {
		t.Errorf("client %s, server %s", c.Client, c.Server)
	}
	var acked []time.Duration
	for _, s := range c.Sent[down] {
		acked = append(acked, s.Acked/time.Millisecond)
	}
	// The SYN-ACK, the first segment, the lost one, the third, and the repeated one.
	if fmt.Sprint(acked) != fmt.Sprint([]time.Duration{30, 52, 80, 80, 80}) {
		t.Errorf("acknowledged at %v", acked)
	}
	bytes := 0
	for _, a := range c.Acks[down] {
		bytes += a.Bytes
	}
	if bytes != 4500 {
		t.Errorf("%d bytes were acknowledged, want all 4500 that were sent", bytes)
	}
	if last := c.Credit[down][len(c.Credit[down])-1]; last.Max != 3001+65535 {
		t.Errorf("credit up to %d", last.Max)
	}
}

// Each direction is seen before its translation: the server answers an address
// that the client does not send from.
func TestReadTranslatedTCP(t *testing.T) {
	const up, down = lab.Up, lab.Down
	for _, same := range []bool{true, false} { // the address, and another port
		c := capture([]seg{
			{up, 0, 10, syn, 0, 0, 0}, {down, 10, 20, syn, 0, 0, 1}, {up, 20, 30, 0, 1, 100, 1},
			{down, 30, 40, 0, 1, 1000, 101}, {up, 42, 52, 0, 101, 0, 1001},
		})
		for i := range c.Packets {
			if p := &c.Packets[i]; p.Way == down && same {
				p.Data[20+3]++ // the port
			} else if p.Way == down {
				p.Data[19]++
			}
		}
		r := Read(c)
		if len(r.Connections) != 1 || r.Connections[0].Client != client4 {
			t.Fatalf("connections: %+v", r.Connections)
		}
		for _, s := range append(r.Connections[0].Sent[up], r.Connections[0].Sent[down]...) {
			if s.Acked == Never {
				t.Errorf("event %d was not acknowledged", s.Event)
			}
		}
	}
}

// A server resets what comes from an address that it does not know: the client's
// connection is over, the server's is not.
func TestResetOfTranslatedTCP(t *testing.T) {
	const up, down = lab.Up, lab.Down
	for _, arrives := range []bool{true, false} {
		reset := seg{down, 70, 80, ip.RST, 1001, 0, 0}
		if !arrives {
			reset.left = lost
		}
		c := capture([]seg{
			{up, 0, 10, syn, 0, 0, 0}, {down, 10, 20, syn, 0, 0, 1}, {up, 20, 30, 0, 1, 100, 1},
			{down, 30, 40, 0, 1, 1000, 101}, {up, 42, 52, 0, 101, 0, 1001}, {up, 60, 70, 0, 101, 50, 1001}, reset,
		})
		c.End = 20 * time.Second
		c.Packets[6].Data[19]++ // the client's address
		r := Read(c)
		if len(r.Connections) != 1 {
			t.Fatalf("%d connections", len(r.Connections))
		}
		f := &lab.Wire{}
		r.stalls(About{RTT: 20 * time.Millisecond}, f)
		if accused := len(f.Stalls) > 0 && f.Stalls[0].ShouldAct == "client"; accused == arrives {
			t.Errorf("the reset arrives %v: %+v", arrives, f.Stalls)
		}
	}
}

func TestReadSACK(t *testing.T) {
	const up, down = lab.Up, lab.Down
	segs := []seg{
		{up, 0, 10, syn, 0, 0, 0}, {down, 10, 20, syn, 0, 0, 1}, {up, 20, 30, 0, 1, 100, 1},
		{down, 30, lost, 0, 1, 1000, 101}, {down, 30, 40, 0, 1001, 1000, 101}, {up, 40, 50, 0, 101, 0, 1},
	}
	c := capture(segs)
	// A SACK option takes the place of the four bytes of padding, and 8 more.
	p := c.Packets[5].Data
	option := make([]byte, 12)
	option[0], option[1], option[2], option[3] = 1, 1, 5, 10
	binary.BigEndian.PutUint32(option[4:], isns[down]+1001)
	binary.BigEndian.PutUint32(option[8:], isns[down]+2001)
	p = append(p[:40:40], option...)
	p[32] = 8 << 4
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	c.Packets[5].Data, c.Packets[5].Size = p, len(p)
	r := Read(c)
	a := r.Connections[0].Acks[down]
	last := a[len(a)-1]
	if sent := r.Connections[0].Sent[down]; !last.Sacked || last.Bytes != 1000 || sent[1].Acked != Never || sent[2].Acked != 50*time.Millisecond {
		t.Errorf("%+v; sent %+v", last, sent)
	}
}

// Of a segment of which the log has the headers only, all is known but what it
// carried.
func TestReadCutSegments(t *testing.T) {
	const up, down = lab.Up, lab.Down
	segs := []seg{
		{up, 0, 10, syn, 0, 0, 0}, {down, 10, 20, syn, 0, 0, 1}, {up, 20, 30, 0, 1, 100, 1},
		{down, 30, 40, 0, 1, 1000, 101}, {down, 30, 40, 0, 1001, 1000, 101}, {up, 40, 50, 0, 101, 0, 2001},
	}
	whole, cut := capture(segs), capture(segs)
	for i := range cut.Packets {
		cut.Packets[i].Data = cut.Packets[i].Data[:44]
	}
	a, b := Read(whole), Read(cut)
	for d := range a.Connections[0].Sent {
		x, y := a.Connections[0], b.Connections[0]
		if fmt.Sprint(x.Sent, x.Acks, x.Credit) != fmt.Sprint(y.Sent, y.Acks, y.Credit) {
			t.Errorf("direction %d: %+v\n%+v", d, x, y)
		}
	}
	for i := range b.Events {
		if b.Events[i].Problem != "" {
			t.Errorf("event %d was not kept whole, and is a problem: %s", i, b.Events[i].Problem)
		}
	}
}

// A corrupted segment did not arrive, unless its sound copy did.
func TestArrived(t *testing.T) {
	for _, c := range []struct {
		fate lab.Fate
		want bool
	}{{lab.Fate{}, true}, {lab.Fate{Corrupted: true}, false}, {lab.Fate{Corrupted: true, Duplicated: true}, true}} {
		e := Event{Packet: &Packet{Fate: c.fate}}
		if e.arrived() != c.want {
			t.Errorf("%+v: arrived %v", c.fate, e.arrived())
		}
	}
}

// FuzzRead reads arbitrary packets: bytes are cut into packets, each with its
// length, direction, time and fate before it.
func FuzzRead(tf *testing.F) {
	f := hostile.Wrap(tf)
	var seed []byte
	for _, s := range flightOf(10, 2) {
		p := s.packet()
		seed = append(seed, byte(s.way), byte(len(p)>>8), byte(len(p)), byte(s.left-s.at))
		seed = append(seed, p...)
	}
	f.Add(seed, []byte("CLIENT_RANDOM 00 00\n"))
	f.Add([]byte{0, 0, 20, 0, 0x45}, []byte(nil))
	f.Fuzz(func(t *testing.T, b, secrets []byte) {
		c := &Capture{Secrets: secrets, End: time.Second}
		for now := time.Duration(0); len(b) >= 4; now += time.Millisecond {
			n := min(int(b[1])<<8|int(b[2]), len(b)-4)
			p := Packet{N: len(c.Packets) + 1, Way: lab.Direction(b[0] & 1), At: now, Left: Never, Size: n, Data: b[4 : 4+n]}
			if b[0]&2 != 0 {
				p.Size += int(b[3])
			}
			if b[3] < 200 {
				p.Left = now + time.Duration(b[3])*time.Millisecond
			}
			c.Packets = append(c.Packets, p)
			b = b[4+n:]
		}
		var w lab.Wire
		Digest(c, About{RTT: 40 * time.Millisecond, Body: 1000}, &w)
		if len(w.Causes) > 0 && (w.RoundTrips == nil || w.Causes[0].Direction != "up") {
			t.Errorf("a chain that begins with %+v and has %v round trips", w.Causes[0], w.RoundTrips)
		}
		for i, e := range Read(c).Events {
			if e.Packet != &c.Packets[i] {
				t.Fatalf("event %d is of another packet", i)
			}
		}
	})
}
