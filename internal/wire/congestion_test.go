package wire

import (
	"math"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// flights sends n round trips of 40 ms, each with as many segments as window
// says, and returns the next segment and the time after them.
func (h *hand) flights(at float64, next, n int, window func(k int) int) (int, float64) {
	for k := range n {
		h.segments(at, next, next+window(k))
		next += window(k)
		at += 40
		h.ack(at, next)
	}
	return next, at
}

// lossy sends flights around losses: the window is high before each, and falls to
// low, from where it grows.
func lossy(losses int, high, low int, growth func(k int) int) *hand {
	h := byHand("tcp")
	next, at := h.flights(0, 0, 3, func(int) int { return high })
	for range losses {
		// The first segment of a flight is lost, and the rest acknowledged.
		h.segments(at, next, next+high)
		rest := make([]int, 0, high)
		for n := next + 1; n < next+high; n++ {
			rest = append(rest, n)
		}
		h.ack(at+40, next, rest...)
		h.segment(at+40, next)
		next += high
		at += 80
		h.ack(at, next)
		next, at = h.flights(at, next, 24, func(k int) int { return min(high, low+growth(k)) })
	}
	h.flights(at, next, 3, func(int) int { return high })
	return h
}

func TestCongestion(t *testing.T) {
	one := func(k int) int { return k }
	half := func(k int) int { return k / 2 }
	none := func(int) int { return 0 }
	for _, tt := range []struct {
		name    string
		h       *hand
		backoff float64
		cc      string
	}{
		{"halves", lossy(3, 40, 20, one), 0.5, "reno"},
		{"falls to 0.7, and grows by half a packet", lossy(3, 40, 28, half), 0.7, "cubic"},
		{"one loss says no name", lossy(1, 40, 20, one), 0.5, ""},
		{"neither of them", lossy(3, 40, 12, one), 0.3, ""},
		{"does not respond, but does not pace either", lossy(4, 40, 40, none), 1, ""},
		{"windows too small to tell", lossy(3, 6, 3, one), 0, ""},
	} {
		f := tt.h.facts(About{RTT: ms(40)})
		switch {
		case tt.backoff == 0 && f.Backoff != nil:
			t.Errorf("%s: back-off %.2f, want null", tt.name, *f.Backoff)
		case tt.backoff != 0 && (f.Backoff == nil || math.Abs(*f.Backoff-tt.backoff) > 0.01):
			t.Errorf("%s: back-off %v, want %.2f", tt.name, f.Backoff, tt.backoff)
		}
		if f.CC != tt.cc || (f.CCWhy == "") != (tt.cc == "") {
			t.Errorf("%s: %q (%s), want %q", tt.name, f.CC, f.CCWhy, tt.cc)
		}
	}
}

func TestCongestionThatCannotBeTold(t *testing.T) {
	for name, h := range map[string]*hand{
		"nothing lost": func() *hand {
			h := byHand("tcp")
			h.flights(0, 0, 20, func(k int) int { return 20 + k })
			return h
		}(),
		"the receiver's window is full": func() *hand {
			h := lossy(3, 40, 20, func(k int) int { return k })
			h.c.Credit[lab.Down] = nil
			for i := range h.c.Sent[lab.Down] {
				h.credit(float64(h.events[h.c.Sent[lab.Down][i].Event].At)/1e6, int64(h.c.Sent[lab.Down][i].Number)+mss)
			}
			return h
		}(),
	} {
		if f := h.facts(About{RTT: ms(40)}); f.Backoff != nil || f.CC != "" {
			t.Errorf("%s: %v, %q", name, f.Backoff, f.CC)
		}
	}
}

// The names follow from the numbers.
func TestGuess(t *testing.T) {
	yes, no := func() bool { return true }, func() bool { return false }
	for _, tt := range []struct {
		ratios, slopes []float64
		paces          func() bool
		want           string
	}{
		{[]float64{0.5, 0.52, 0.47}, nil, no, "reno"},
		{[]float64{0.4, 0.46}, nil, no, ""},
		{[]float64{0.7, 0.71}, []float64{1.02}, no, "reno"},
		{[]float64{0.7, 0.71}, []float64{0.5}, no, "cubic"},
		{[]float64{0.7, 0.71}, []float64{6}, no, "cubic"},
		{[]float64{0.7, 0.71}, []float64{1.35}, no, ""},
		{[]float64{0.7, 0.71}, nil, no, ""},
		{[]float64{0.7}, []float64{0.5}, no, ""},
		{[]float64{1, 1, 1}, nil, yes, "bbr"},
		{[]float64{1, 1, 1}, nil, no, ""},
		{[]float64{1, 1}, nil, yes, ""},
	} {
		if got, why := guess(tt.ratios, tt.slopes, tt.paces); got != tt.want || (why == "") != (got == "") {
			t.Errorf("%+v: %q (%s)", tt, got, why)
		}
	}
}
