package story

import (
	"bytes"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

func TestListGolden(t *testing.T) {
	second := *record(lab.H3, lab.Stalled, 108)
	second.Run.ID, second.Run.Order, second.Attempt = "k3vq0zde-12", 12, 2
	second.Wire.Stalls = make([]lab.Stall, 2)
	third := *record(lab.H1, lab.Unsupported, 0)
	third.Samples, third.Run.Cell.Arm = nil, lab.ArmAA
	var b bytes.Buffer
	entries := []Entry{{*record(lab.H2, lab.OK, 0.44), false}, {second, true}, {third, false}}
	if err := List(&b, entries, "out", Options{}); err != nil {
		t.Fatal(err)
	}
	if err := List(&b, nil, "out", Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "list.txt", b.String())
}

func TestCount(t *testing.T) {
	var f lab.Wire
	Count(overQUIC(), &f)
	if f.Down.Packets != 15 || f.Up.Packets != 4 || f.Down.Drops["rule"] != 12 || f.Up.Bytes != 1228+200+60+90 || f.Connections != 1 {
		t.Errorf("%+v", f)
	}
	if f.Up.Payload != f.Up.Bytes-4*28 {
		t.Errorf("payload %d of %d", f.Up.Payload, f.Up.Bytes)
	}
}

// Folding: the number of rows does not grow with the transfer, no packet is
// counted twice or left out, and 100,000 packets are read in time.
func TestFoldingCountsEachPacketOnce(t *testing.T) {
	for _, n := range []int{10, 1000, 100_000} {
		s := Story{Reading: long(n)}
		tl := tell(s, Folded)
		packets := 0
		for i, r := range tl.rows {
			switch r.kind {
			case packetRow:
				packets++
			case foldRow:
				next := n
				for _, later := range tl.rows[i+1:] {
					if later.kind == packetRow || later.kind == foldRow {
						next = later.event
						break
					}
				}
				packets += next - r.event
			}
		}
		if packets != n {
			t.Errorf("%d packets of %d are told", packets, n)
		}
		if len(tl.rows) > 60 {
			t.Errorf("%d packets are %d rows", n, len(tl.rows))
		}
	}
}

// long is a transfer of n packets, each tenth of them lost.
func long(n int) *wire.Reading {
	m := newMaker("long")
	m.connection("tcp")
	for i := range n {
		change := data(int64(i)*1448, 1448)
		if i%10 == 9 {
			change = also(change, drop(lab.DropLoss))
		}
		m.add(lab.Down, float64(i)/10, 1500, change)
	}
	return m.reading(float64(n) / 10)
}

func BenchmarkText(b *testing.B) {
	s := Story{Reading: long(100_000)}
	for b.Loop() {
		var out bytes.Buffer
		if err := Text(&out, s, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWhose(t *testing.T) {
	for _, tt := range []struct {
		conns []int
		want  string
	}{
		{[]int{0}, "c1"}, {[]int{0, 1}, "c1, c2"}, {[]int{1, 2, 3, 5}, "c2–c4, c6"}, {[]int{0, 1, 2, 3, 4, 5, 6}, "all 7 connections"},
	} {
		p := pile{conns: map[int]bool{}}
		for _, c := range tt.conns {
			p.conns[c] = true
		}
		if got := p.whose(7); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.conns, got, tt.want)
		}
	}
}
