package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
)

// shown is a packet and how many of its bytes are to be kept; -1: all.
type shown struct {
	d      lab.Direction
	packet []byte
	kept   int
}

func TestWhatIsKeptOfAPacket(t *testing.T) {
	const headers = 20 + 32
	from := func(port uint16, seq uint32, payload int) []byte {
		return ip4(protoTCP, tcp(port, 443, seq, flagACK, payload))
	}
	syn := func(port uint16, seq uint32) []byte { return ip4(protoTCP, tcp(port, 443, seq, flagSYN, 0)) }
	datagram := func(size int) []byte { return ip4(protoUDP, udp(5000, 443, make([]byte, size))) }
	for _, tt := range []struct {
		name    string
		limits  Limits
		packets []shown
	}{
		{"the beginning of a stream", Limits{TCP: 3000}, []shown{
			{lab.Up, syn(5000, 99), -1}, {lab.Up, from(5000, 100, 1448), -1}, {lab.Up, from(5000, 1548, 1448), -1},
			{lab.Up, from(5000, 2996, 1448), -1}, {lab.Up, from(5000, 4444, 1448), headers}, {lab.Up, from(5000, 5892, 10), headers},
		}},
		{"retransmitted", Limits{TCP: 3000}, []shown{
			{lab.Up, from(5000, 100, 2900), -1}, {lab.Up, from(5000, 3000, 1448), -1}, {lab.Up, from(5000, 4448, 1448), headers},
			{lab.Up, from(5000, 100, 1448), -1}, {lab.Up, from(5000, 3000, 1448), -1}, {lab.Up, from(5000, 4448, 1448), headers},
		}},
		{"acknowledgements", Limits{TCP: 1000}, []shown{
			{lab.Up, from(5000, 100, 1448), -1}, {lab.Up, from(5000, 1548, 0), -1}, {lab.Up, from(5000, 1548, 1), headers},
		}},
		{"each direction and connection for itself", Limits{TCP: 1000}, []shown{
			{lab.Up, from(5000, 0, 1448), -1}, {lab.Up, from(5000, 1448, 1448), headers}, {lab.Down, from(443, 0, 1448), -1},
			{lab.Up, from(5001, 1448, 1448), -1}, {lab.Up, from(5001, 2896, 1448), headers}, {lab.Down, from(443, 1448, 5), headers},
		}},
		{"a port that is used again", Limits{TCP: 1000}, []shown{
			{lab.Up, syn(5000, 99), -1}, {lab.Up, from(5000, 100, 1448), -1}, {lab.Up, from(5000, 1548, 1448), headers},
			{lab.Up, syn(5000, 7_000_000), -1}, {lab.Up, from(5000, 7_000_001, 1448), -1}, {lab.Up, from(5000, 7_001_449, 1448), headers},
		}},
		{"sequence numbers that come again after 4 GiB", Limits{TCP: 3000}, []shown{
			{lab.Up, from(5000, 0, 1448), -1}, {lab.Up, from(5000, 1<<30, 1448), headers}, {lab.Up, from(5000, 2<<30, 1448), headers},
			{lab.Up, from(5000, 3<<30, 1448), headers}, {lab.Up, from(5000, 0, 1448), headers}, {lab.Up, from(5000, 1448, 1448), headers},
		}},
		{"no TCP", Limits{TCP: -1}, []shown{{lab.Up, syn(5000, 1), -1}, {lab.Up, from(5000, 2, 1448), headers}}},
		{"IPv6", Limits{TCP: 1}, []shown{
			{lab.Up, ip6(protoTCP, tcp(5000, 443, 0, 0, 1448)), -1}, {lab.Up, ip6(protoTCP, tcp(5000, 443, 1448, 0, 1448)), 40 + 32},
		}},
		{"datagrams", Limits{Whole: 3000}, []shown{
			{lab.Up, datagram(1200), -1}, {lab.Down, datagram(1200), -1}, {lab.Up, datagram(1200), -1}, {lab.Up, datagram(1200), 80},
			{lab.Up, datagram(52), -1}, {lab.Up, datagram(53), 80}, {lab.Up, from(5000, 0, 1448), -1},
		}},
		{"other packets count as datagrams", Limits{Whole: 1000, Head: 30}, []shown{
			{lab.Up, ip4(1, make([]byte, 1000)), -1}, {lab.Up, datagram(1200), 30}, {lab.Up, make([]byte, 100), 30}, {lab.Up, nil, -1},
		}},
		{"no datagrams", Limits{Whole: -1, Head: -1}, []shown{{lab.Up, datagram(100), 0}, {lab.Down, make([]byte, 9), 0}}},
		{"the standard limits", Limits{}, []shown{
			{lab.Up, from(5000, 0, 60_000), -1}, {lab.Up, from(5000, 60_000, 5536), -1}, {lab.Up, from(5000, 65_536, 10), headers},
			{lab.Up, datagram(60_000), -1},
		}},
	} {
		w, cut := NewWithin(tt.limits), 0
		for i, p := range tt.packets {
			if n := w.See(p.d, time.Duration(i), p.packet, lab.Fate{}); n != i+1 {
				t.Errorf("%s: packet %d has number %d", tt.name, i+1, n)
			}
		}
		for i, got := range w.Capture(0, 0).Packets {
			p := tt.packets[i]
			want := p.kept
			if want < 0 {
				want = len(p.packet)
			}
			if want < len(p.packet) {
				cut++
			}
			if !bytes.Equal(got.Data, p.packet[:want]) || got.Size != len(p.packet) || got.Cut() != (want < len(p.packet)) || got.Way != p.d {
				t.Errorf("%s: packet %d: %d bytes of %d are kept, want %d", tt.name, i+1, len(got.Data), got.Size, want)
			}
		}
		if got := w.Facts(1, 0).NotKept; got != cut {
			t.Errorf("%s: %d not kept, want %d", tt.name, got, cut)
		}
	}
}

// numbered is the nth packet of a flood, of size bytes.
func numbered(n, size int) []byte {
	p := ip4(protoUDP, udp(5000, 443, make([]byte, size-28)))
	binary.BigEndian.PutUint32(p[28:], uint32(n))
	return p
}

// The log keeps a beginning and an end of what it was shown.
func TestTheNewestPacketsAreKept(t *testing.T) {
	const size, perChunk = 100, arenaChunk / 100
	small := Limits{Total: 1, Newest: 1} // as little as there is: one chunk, and two in the ring
	for _, tt := range []struct {
		name   string
		limits Limits
		n      int
		first  int // kept at the beginning
		least  int // kept at the end, at least
	}{
		{"none", small, 0, 0, 0},
		{"one", small, 1, 1, 0},
		{"a chunk of the table", small, tableChunk, tableChunk, 0},
		{"one more: in a ring", small, tableChunk + 1, tableChunk, 1},
		{"rings that are not full", small, 2*tableChunk + 5, tableChunk, tableChunk + 5},
		{"rings that go round", small, 5*tableChunk + 5, tableChunk, tableChunk},
		{"often", small, 100*tableChunk + 7, tableChunk, tableChunk},
		{"a larger beginning", Limits{Total: 1 << 20, Newest: 1}, 100 * perChunk, 3 * perChunk, tableChunk},
	} {
		w := NewWithin(tt.limits)
		for i := 1; i <= tt.n; i++ {
			w.Left(w.See(lab.Up, time.Duration(i), numbered(i, size), lab.Fate{}), time.Duration(2*i), 3, 4)
		}
		f, c := w.Facts(1, 0), w.Capture(1, 2)
		if f.Up.Packets != tt.n || f.NotKept != c.Skipped || len(c.Packets)+c.Skipped != tt.n || c.Start != 1 || c.End != 2 {
			t.Errorf("%s: of %d packets %d are counted, %d not kept, %d skipped, %d there", tt.name, tt.n, f.Up.Packets, f.NotKept, c.Skipped, len(c.Packets))
		}
		gap := c.Gap
		if c.Skipped == 0 {
			if gap != 0 {
				t.Errorf("%s: a gap at %d, and none is missing", tt.name, gap)
			}
			gap = tt.first
		}
		if gap < tt.first || len(c.Packets)-gap < tt.least {
			t.Errorf("%s: %d at the beginning, %d at the end", tt.name, gap, len(c.Packets)-gap)
		}
		for i, p := range c.Packets {
			n := i + 1
			if c.Skipped > 0 && i >= c.Gap {
				n += c.Skipped
			}
			if p.N != n || !bytes.Equal(p.Data, numbered(n, size)) || p.At != time.Duration(n) || p.Left != time.Duration(2*n) || p.Waited != 3 || p.Sending != 4 {
				t.Fatalf("%s: in place %d: %+v", tt.name, i, p)
			}
		}
	}
}

// Large packets use up the arena's ring before the table's.
func TestLargePacketsGoRound(t *testing.T) {
	w := NewWithin(Limits{Total: 1, Newest: 1})
	for i := 1; i <= 5000; i++ {
		w.See(lab.Down, 0, numbered(i, 1500), lab.Fate{})
	}
	c := w.Capture(0, 0)
	const perChunk = arenaChunk / 1500
	if c.Gap != perChunk || c.Skipped == 0 || len(c.Packets)-c.Gap < perChunk+1 || len(c.Packets)-c.Gap > 2*perChunk {
		t.Errorf("%d at the beginning, %d at the end", c.Gap, len(c.Packets)-c.Gap)
	}
	for _, p := range c.Packets {
		if !bytes.Equal(p.Data, numbered(p.N, 1500)) {
			t.Fatalf("packet %d has another's bytes", p.N)
		}
	}
}

func TestSizesOfTheTable(t *testing.T) {
	if e, w := reflect.TypeFor[entry]().Size(), reflect.TypeFor[wait]().Size(); e != entryBytes || w != waitBytes {
		t.Errorf("an entry has %d bytes, a wait %d", e, w)
	}
}

func TestLeftAndLater(t *testing.T) {
	w := New()
	for i := range 6 {
		fate := lab.Fate{}
		switch i {
		case 1:
			fate.Drop = lab.DropLoss
		case 3:
			fate.Duplicated, fate.Corrupted = true, true
		case 5:
			fate.Reordered = true
		}
		w.See(lab.Up, time.Duration(10*i), numbered(i, 40), fate)
	}
	w.Left(1, 100, 1, 2)
	w.Later(3, lab.Up, 110, 40, lab.Fate{Drop: lab.DropAQM})
	w.Left(4, 120, 5, 6)
	w.Left(4, 130, 7, 8) // its copy
	w.Later(5, lab.Up, 140, 40, lab.Fate{Marked: true})
	w.Left(5, 150, 9, 0)
	w.Left(0, 1, 1, 1) // no such packets
	w.Left(7, 1, 1, 1)
	w.Later(9, lab.Up, 1, 40, lab.Fate{Marked: true})
	c := w.Capture(0, 200)
	want := []Packet{
		{Left: 100, Waited: 1, Sending: 2},
		{Left: Never, Fate: lab.Fate{Drop: lab.DropLoss}},
		{Left: Never, Fate: lab.Fate{Drop: lab.DropAQM}},
		{Left: 120, Waited: 5, Sending: 6, Fate: lab.Fate{Duplicated: true, Corrupted: true}},
		{Left: 150, Waited: 9, Fate: lab.Fate{Marked: true}},
		{Left: Never, Fate: lab.Fate{Reordered: true}},
	}
	for i := range want {
		want[i].N, want[i].At, want[i].Size, want[i].Data = i+1, time.Duration(10*i), 40, numbered(i, 40)
	}
	if !reflect.DeepEqual(c.Packets, want) {
		t.Errorf("%+v\nwant %+v", c.Packets, want)
	}
	// The capture is of its time.
	w.Left(6, 300, 0, 0)
	w.See(lab.Up, 300, numbered(7, 40), lab.Fate{})
	if again := w.Capture(0, 200); len(again.Packets) != 6 || c.Packets[5].Left != Never || w.Facts(1, 0).NotKept != 1 || w.Facts(1, 0).Up.Packets != 7 {
		t.Errorf("%d packets after the capture, %+v", len(again.Packets), w.Facts(1, 0))
	}
}

func TestLossRuns(t *testing.T) {
	// A word is a run's packets upwards: "." passed, "x" dropped at once, "q" dropped
	// by queue management after all have come; "-" goes down.
	for word, want := range map[string]string{
		"": "[]", "...": "[]", "x": "[{1 1}]", "xx.x.xx": "[{1 1} {2 2}]", ".xxx": "[{3 1}]", "x-x.-x": "[{1 1} {2 1}]",
		"q": "[{1 1}]", ".q.": "[{1 1}]", ".q": "[{1 1}]", "xqx": "[{3 1}]", "x.xqx.x": "[{1 2} {3 1}]", "qq-q.": "[{3 1}]",
		"xq": "[{2 1}]", "q.x": "[{1 2}]", "qx.": "[{2 1}]", "q-": "[{1 1}]", "xx.qxx": "[{2 1} {3 1}]",
	} {
		w, late := New(), []int{}
		for i, c := range word {
			d, fate := lab.Up, lab.Fate{}
			switch c {
			case 'x':
				fate.Drop = lab.DropLoss
			case '-':
				d = lab.Down
			case 'q':
				late = append(late, i+1)
			}
			w.See(d, time.Duration(i), numbered(i, 40), fate)
		}
		for _, n := range late {
			w.Later(n, lab.Up, 100, 40, lab.Fate{Drop: lab.DropAQM})
		}
		f := w.Facts(1, 0)
		if got := fmt.Sprint(f.Up.LossRuns); got != want || len(f.Down.LossRuns) != 0 {
			t.Errorf("%q: %s up, want %s; %v down", word, got, want, f.Down.LossRuns)
		}
	}
	// Too late to know its place.
	w := New()
	for i := range remembered + 1 {
		w.See(lab.Up, 0, nil, lab.Fate{Drop: []lab.Reason{lab.NotDropped, lab.DropLoss}[i%2]})
	}
	w.Later(1, lab.Up, 0, 0, lab.Fate{Drop: lab.DropAQM})
	w.Later(3, lab.Up, 0, 0, lab.Fate{Drop: lab.DropAQM})
	if got, want := fmt.Sprint(w.Facts(1, 0).Up.LossRuns), fmt.Sprintf("[{1 %d} {3 1}]", remembered/2-2+1); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRetransmittedBytes(t *testing.T) {
	c := &conversation{w: New()}
	c.up(99, flagSYN, 0)
	c.up(99, flagSYN, 0)
	c.up(100, flagACK, 1000)
	c.up(600, flagACK, 1000) // half of it again
	c.up(1600, flagACK|flagFIN, 10)
	c.up(1600, flagACK|flagFIN, 10)
	c.up(1610, flagACK|flagFIN, 0)
	c.down(1, flagACK, 0)
	f := c.w.Facts(100, 0)
	if *f.Up.Retransmitted != 510 || *f.Down.Retransmitted != 0 || f.Up.TCPRetransmits != 4 || f.Up.Payload != 2020 {
		t.Errorf("%d bytes up, %d down, in %d segments; %d bytes of payload", *f.Up.Retransmitted, *f.Down.Retransmitted, f.Up.TCPRetransmits, f.Up.Payload)
	}
	c.w.See(lab.Down, 200, numbered(1, 100), lab.Fate{})
	if f := c.w.Facts(100, 0); f.Down.Retransmitted != nil || f.Up.Retransmitted == nil {
		t.Error("what QUIC has sent again cannot be known here")
	}
}

// play shows random packets, with all that can become of them, and returns the
// packets, and for each direction whether each of its packets was dropped.
func play(w *Witness, seed uint64, n int) (packets [][]byte, dropped [2][]bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	var seqs [8]uint32
	type waiting struct{ n, place int }
	var queue [2][]waiting
	for i := range n {
		d, port, size := lab.Direction(r.IntN(2)), r.IntN(4), r.IntN(1400)
		var p []byte
		switch seq := &seqs[port*2+int(d)]; r.IntN(4) {
		case 0:
			p = ip4(protoUDP, udp(uint16(port), 443, make([]byte, size)))
		case 1:
			p = make([]byte, size)
		default:
			p = ip4(protoTCP, tcp(uint16(port), 443, *seq-uint32(r.IntN(2)*r.IntN(3000)), flagACK, size))
			*seq += uint32(size)
		}
		fate := lab.Fate{Duplicated: r.IntN(20) == 0, Reordered: r.IntN(20) == 0}
		if r.IntN(4) == 0 {
			fate = lab.Fate{Drop: []lab.Reason{lab.DropLoss, lab.DropQueue}[r.IntN(2)]}
		}
		packets = append(packets, p)
		no := w.See(d, time.Duration(i), p, fate)
		dropped[d] = append(dropped[d], fate.Drop != "")
		if fate.Drop == "" {
			queue[d] = append(queue[d], waiting{no, len(dropped[d]) - 1})
		}
		for len(queue[d]) > 0 && r.IntN(3) > 0 {
			k := r.IntN(min(len(queue[d]), 3))
			q := queue[d][k]
			queue[d] = append(queue[d][:k:k], queue[d][k+1:]...)
			if r.IntN(3) == 0 {
				w.Later(q.n, d, time.Duration(i), len(packets[q.n-1]), lab.Fate{Drop: lab.DropAQM})
				dropped[d][q.place] = true
				continue
			}
			w.Left(q.n, time.Duration(i), 1, 2)
		}
	}
	return packets, dropped
}

// runsOf is how many runs of drops there are of each length.
func runsOf(dropped []bool) map[int]int {
	runs, open := map[int]int{}, 0
	for _, d := range append(dropped, false) {
		switch {
		case d:
			open++
		case open > 0:
			runs[open]++
			open = 0
		}
	}
	return runs
}

// Facts do not depend on what is kept, and what is kept is what was shown.
func TestFactsDoNotDependOnLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, n := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 6000).Draw(t, "packets")
		limits := Limits{
			TCP: rapid.Int64Range(-1, 100_000).Draw(t, "TCP"), Whole: rapid.Int64Range(-1, 1<<20).Draw(t, "whole"),
			Head: rapid.IntRange(-1, 100).Draw(t, "head"), Total: rapid.Int64Range(0, 2<<20).Draw(t, "total"), Newest: rapid.Int64Range(1, 1<<19).Draw(t, "newest"),
		}
		all, some := New(), NewWithin(limits)
		packets, dropped := play(all, seed, n)
		play(some, seed, n)
		want, have := all.Facts(1e9, 0), some.Facts(1e9, 0)
		c := some.Capture(0, 0)
		missing := c.Skipped
		for i, p := range c.Packets {
			if p.Cut() {
				missing++
			}
			n := i + 1
			if c.Skipped > 0 && i >= c.Gap {
				n += c.Skipped
			}
			if p.N != n || !bytes.Equal(p.Data, packets[p.N-1][:len(p.Data)]) || p.Size != len(packets[p.N-1]) {
				t.Fatalf("in place %d, gap at %d of %d: packet %d with %d bytes", i, c.Gap, c.Skipped, p.N, p.Size)
			}
		}
		if have.NotKept != missing || len(c.Packets)+c.Skipped != n {
			t.Fatalf("%d of %d packets not kept, want %d; %d and %d", have.NotKept, n, missing, len(c.Packets), c.Skipped)
		}
		if have.NotKept = want.NotKept; !reflect.DeepEqual(have, want) {
			t.Fatalf("%+v\nwant %+v", have, want)
		}
		for d, way := range []lab.WireWay{want.Up, want.Down} {
			runs := map[int]int{}
			for _, r := range way.LossRuns {
				runs[r.Length] = r.Count
			}
			if naive := runsOf(dropped[d]); !reflect.DeepEqual(runs, naive) {
				t.Fatalf("runs %v, want %v", runs, naive)
			}
		}
	})
}

// Digests are what they were: records of different versions are compared.
func TestDigestsStay(t *testing.T) {
	w := New()
	for i := range 1000 {
		f := lab.Fate{}
		switch {
		case i%7 == 3:
			f.Drop = lab.DropLoss
		case i%11 == 3:
			f.Marked, f.Duplicated = true, true
		case i%13 == 3:
			f.Drop, f.Corrupted, f.Reordered = lab.DropQueue, true, true
		}
		w.See(lab.Direction(i%2), time.Duration(i)*time.Millisecond, make([]byte, 40+i), f)
	}
	for end, want := range map[time.Duration]string{900 * time.Millisecond: "f2336000a8870278", time.Hour: "dd7ea256b3a8a878"} {
		if got := w.Facts(end, 0).Digest; got != want {
			t.Errorf("up to %s: %s, want %s", end, got, want)
		}
	}
}

// What an earlier run left in the memory that a witness takes over does not show,
// and the memory does not grow from run to run.
func TestMemoryIsTakenOver(t *testing.T) {
	limits := Limits{Total: 1 << 20, Newest: 1}
	var c Chunks
	for seed := range uint64(6) {
		n := []int{6000, 20, 3000, 0, 6000, 100}[seed]
		fresh, used := NewWithin(limits), NewWithin(limits)
		used.Use(c)
		play(fresh, seed, n)
		play(used, seed, n)
		if want, have := fresh.Capture(1, 2), used.Capture(1, 2); !reflect.DeepEqual(want, have) {
			t.Fatalf("run %d: the capture of %d packets is not that of fresh memory", seed, n)
		}
		if want, have := fresh.Facts(1, 0), used.Facts(1, 0); !reflect.DeepEqual(want, have) {
			t.Fatalf("run %d: facts are not those of fresh memory", seed)
		}
		before := len(c.tables) + len(c.arenas)
		c = used.Release()
		if bytes := int64(len(c.tables))*tableBytes + int64(len(c.arenas))*arenaChunk; bytes > limits.Total || len(c.tables)+len(c.arenas) < before {
			t.Errorf("after run %d: %d tables and %d arenas, %d bytes; there were %d chunks", seed, len(c.tables), len(c.arenas), bytes, before)
		}
		if again := used.Release(); len(again.tables)+len(again.arenas) != 0 {
			t.Error("memory is given away twice")
		}
	}
}
