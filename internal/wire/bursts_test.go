package wire

import (
	"math"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// drop marks the newest packet as lost.
func (h *hand) drop() {
	p := h.packets[len(h.packets)-1]
	p.Left, p.Fate.Drop = Never, lab.DropLoss
}

func burstsOf(h *hand, a About) *lab.Bursts {
	var f lab.Wire
	h.reading().bursts(a, &f)
	return f.Down.Bursts
}

func TestBursts(t *testing.T) {
	h := byHand("tcp")
	n := 0
	burst := func(at float64, size int, lost ...int) {
		for i := range size {
			h.segment(at, n)
			n++
			for _, l := range lost {
				if l == i {
					h.drop()
				}
			}
		}
	}
	burst(0, 6, 1, 2, 5)
	burst(10, 2, 0, 1)
	burst(20, 1, 0)
	burst(30, 3, 1)
	h.ack(40, 1) // no payload: it is no packet of a burst
	got := *burstsOf(h, About{RTT: ms(40)})
	want := lab.Bursts{
		Gap: 0.0004, Count: 3, Largest: 6, Median: 3, Share: 11.0 / 12,
		LostHead: 2, LostMiddle: 2, LostTail: 2, LostAlone: 1,
	}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if up := burstsOf(byHand("tcp"), About{}); up != nil {
		t.Errorf("nothing was sent: %+v", up)
	}
}

func TestBurstGap(t *testing.T) {
	for _, tt := range []struct {
		rate lab.Rate
		rtt  time.Duration
		want time.Duration
	}{
		{0, 40 * time.Millisecond, 400 * time.Microsecond},
		{0, 0, 50 * time.Microsecond},
		{0, time.Second, time.Millisecond},
		{100e6, 40 * time.Millisecond, 60 * time.Microsecond}, // 1500 B take 120 µs
		{1e9, 40 * time.Millisecond, 50 * time.Microsecond},
		{1e6, 40 * time.Millisecond, time.Millisecond},
	} {
		a := About{RTT: tt.rtt}
		a.Run.Cell.Path.Down.Rate = tt.rate
		if got := burstGap(a, lab.Down); got != tt.want {
			t.Errorf("%v, RTT %v: %v, want %v", tt.rate, tt.rtt, got, tt.want)
		}
	}
}

// Packets a gap apart are no burst, and those a little closer are.
func TestBurstsEdge(t *testing.T) {
	for _, tt := range []struct {
		apart float64
		count int
	}{{0.4, 0}, {0.399, 1}} {
		h := byHand("tcp")
		h.segment(0, 0)
		h.segment(tt.apart, 1)
		if b := burstsOf(h, About{RTT: ms(40)}); b.Count != tt.count {
			t.Errorf("%v ms apart: %d bursts, want %d", tt.apart, b.Count, tt.count)
		}
	}
}

func TestPacing(t *testing.T) {
	const rtt = 40
	for _, tt := range []struct {
		name  string
		do    func(h *hand, at float64, n int)
		paced *bool
	}{
		{"one every 2 ms", func(h *hand, at float64, n int) {
			for i := range 20 {
				h.segment(at+float64(2*i), n+i)
			}
		}, ref(true)},
		{"pairs every 4 ms, ten at first", func(h *hand, at float64, n int) {
			for i := range 20 {
				h.segment(at+float64(i/2*4), n+i)
			}
		}, ref(true)},
		{"all at once", func(h *hand, at float64, n int) { h.segments(at, n, n+20) }, ref(false)},
		{"each with an acknowledgement", func(h *hand, at float64, n int) {
			for i := range 20 {
				h.ack(at+float64(2*i), n)
				h.segment(at+float64(2*i), n+i)
			}
		}, nil},
		{"too few", func(h *hand, at float64, n int) {
			for i := range 7 {
				h.segment(at+float64(5*i), n+i)
			}
		}, nil},
	} {
		h := byHand("tcp")
		for k := range 5 {
			tt.do(h, float64(k*rtt), k*20)
		}
		b := burstsOf(h, About{RTT: ms(rtt)})
		if (b.Paced == nil) != (tt.paced == nil) || b.Paced != nil && *b.Paced != *tt.paced {
			t.Errorf("%s: %v", tt.name, b.Paced)
		}
		if paces := tt.paced != nil && *tt.paced; (b.PacingRate != nil) != paces {
			t.Errorf("%s: rate %v", tt.name, b.PacingRate)
		} else if want := 20 * (mss + 52) * 8 / 0.04; paces && math.Abs(*b.PacingRate/want-1) > 0.06 {
			t.Errorf("%s: %.0f bit/s, want %.0f", tt.name, *b.PacingRate, want)
		}
	}
}

func ref(b bool) *bool { return &b }
