package gauge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// arrived makes a series of n datagrams sent 1 ms apart, that arrive 10 ms later
// in the order given.
func arrived(n int, order ...int) *series {
	s := &series{}
	for i := range n {
		s.sent = append(s.sent, int64(1+i)*1e6)
	}
	for _, i := range order {
		s.arrivals = append(s.arrivals, arrival{number: i, at: s.sent[i] + 10e6, bytes: 92})
	}
	return s
}

func TestSeries(t *testing.T) {
	for _, c := range []struct {
		name           string
		s              *series
		lost           []int // lengths of runs
		late, arrived  int
		copies, delays int
	}{
		{"all", arrived(4, 0, 1, 2, 3), nil, 0, 4, 0, 4},
		{"none", arrived(3), []int{3}, 0, 0, 0, 0},
		{"one lost", arrived(4, 0, 2, 3), []int{1}, 0, 3, 0, 3},
		{"runs", arrived(9, 1, 4, 5), []int{1, 2, 3}, 0, 3, 0, 3},
		// RFC 4737, 4.1.2: a late packet is the one reordered, not those it missed.
		{"one late", arrived(5, 0, 2, 3, 1, 4), nil, 1, 5, 0, 5},
		{"one early", arrived(5, 3, 0, 1, 2, 4), nil, 3, 5, 0, 5},
		{"backwards", arrived(3, 2, 1, 0), nil, 2, 3, 0, 3},
		{"copies", arrived(3, 0, 0, 1, 2, 1), nil, 0, 3, 2, 3},
		{"a copy is not late", arrived(2, 0, 1, 0), nil, 0, 2, 1, 2},
		{"three times is one", arrived(1, 0, 0, 0), nil, 0, 1, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := runs(c.s.lost()); !slices.Equal(got, c.lost) {
				t.Errorf("runs %v, want %v", got, c.lost)
			}
			if late, n := c.s.reordered(); late != c.late || n != c.arrived {
				t.Errorf("%d late of %d, want %d of %d", late, n, c.late, c.arrived)
			}
			if got := c.s.duplicates(); got != c.copies {
				t.Errorf("%d copies, want %d", got, c.copies)
			}
			delays := c.s.delays()
			if len(delays) != c.delays || slices.ContainsFunc(delays, func(d float64) bool { return math.Abs(d-0.01) > 1e-9 }) {
				t.Errorf("delays %v, want %d of 10 ms", delays, c.delays)
			}
		})
	}
	// What was never sent is not lost.
	s := arrived(3, 0)
	s.sent[1] = 0
	if s.count() != 2 || !slices.Equal(s.lost(), []bool{false, true}) {
		t.Errorf("%d sent, lost %v", s.count(), s.lost())
	}
}

func TestQuantileAndSlope(t *testing.T) {
	v := []float64{1, 2, 3, 4}
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 1: 4, 0.25: 1.75} {
		near(t, "quantile", quantile(v, q), want, 1e-12)
	}
	if !math.IsNaN(quantile(nil, 0.5)) {
		t.Error("the quantile of nothing is a number")
	}
	got, se, _ := slope([]float64{0, 1, 2, 3}, []float64{1, 3, 5, 7})
	near(t, "slope", got, 2, 1e-12)
	near(t, "its error", se, 0, 1e-12)
	if got, _, _ := slope([]float64{1, 1, 1}, []float64{1, 2, 3}); !math.IsNaN(got) {
		t.Errorf("slope %g of points at one instant", got)
	}
	// By hand: y = x + noise (1,-1,-1,1)/10 has slope 1, and the noise's sum of
	// squares 0.04 over 2 degrees of freedom and Σ(x-mean)² = 5.
	got, se, _ = slope([]float64{0, 1, 2, 3}, []float64{0.1, 0.9, 1.9, 3.1})
	near(t, "slope", got, 1, 1e-12)
	near(t, "its error", se, math.Sqrt(0.02/5), 1e-12)
}

func TestOvertaken(t *testing.T) {
	none := make([]bool, 8)
	for _, c := range []struct {
		at   []int64
		lost []bool
		late int
	}{
		{[]int64{1, 2, 3}, none, 0},
		{[]int64{3, 2, 1}, none, 2},
		{[]int64{1, 1, 1}, none, 0},
		{[]int64{5, 1, 2, 3}, none, 1},
		{[]int64{5, 1, 6}, []bool{false, true, false}, 0},
	} {
		if late, _ := overtaken(c.at, c.lost); late != c.late {
			t.Errorf("%v: %d late, want %d", c.at, late, c.late)
		}
	}
}

// Packets of which a share p passes without the delay D, K of them sent within
// it: one that is delayed is overtaken unless none of the K after it passes.
func TestReorderOfSharePassing(t *testing.T) {
	const n, p, k = 5000, 0.05, 20
	sent := make([]int64, n)
	for i := range sent {
		sent[i] = int64(i) * 1e6
	}
	w := lab.Way{Delay: k*msec + msec/2, Reorder: lab.Reorder{Share: p}}
	got, sd := reorderOf(w, sent, make([]bool, n), rand.New(rand.NewPCG(1, 1)))
	want := (1 - p) * (1 - math.Pow(1-p, k))
	near(t, "share", got, want, 4*sd/math.Sqrt(reorderTrials)+k/float64(n))
	if sd <= 0 || sd > 0.05 {
		t.Errorf("sd %g", sd)
	}
	// With gap 5 and share 1 each fifth passes: of the other four all are
	// overtaken, but for the last ones.
	w.Reorder = lab.Reorder{Share: 1, Gap: 5}
	got, _ = reorderOf(w, sent, make([]bool, n), rand.New(rand.NewPCG(1, 1)))
	near(t, "share with gap", got, 0.8, 0.002)
}

// Two uniform delays: one sent t after the other overtakes it with probability
// (1 - t/range)²/2; with a spacing of more than half the range only neighbours meet.
func TestReorderOfJitter(t *testing.T) {
	const n = 20_000
	sent := make([]int64, n)
	for i := range sent {
		sent[i] = int64(i) * int64(12*msec)
	}
	w := lab.Way{Delay: 50 * msec, Jitter: lab.Jitter{Spread: 10 * msec}}
	got, sd := reorderOf(w, sent, make([]bool, n), rand.New(rand.NewPCG(2, 1)))
	near(t, "share", got, 0.4*0.4/2, 4*sd/math.Sqrt(reorderTrials)+1e-4)
	w.Jitter.InOrder = true
	if got, _ := reorderOf(w, sent, make([]bool, n), rand.New(rand.NewPCG(2, 1))); got != 0 {
		t.Errorf("%g are reordered where order is kept", got)
	}
	// Much correlated, neighbours have about the same delay.
	w.Jitter.InOrder, w.Jitter.Correlation = false, 0.9999
	if got, _ := reorderOf(w, sent, make([]bool, n), rand.New(rand.NewPCG(2, 1))); got > 0.001 {
		t.Errorf("%g are reordered with a jitter that hardly changes", got)
	}
}

func TestPayload(t *testing.T) {
	b := make([]byte, 200)
	want := stamps{1, time.Now().UnixNano(), math.MaxInt64}
	encode(b, 7, 42, want)
	train, number, got, ok := decode(b)
	if train != 7 || number != 42 || got != want || !ok {
		t.Errorf("%d %d %+v %v", train, number, got, ok)
	}
	for bit := range len(b) * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		if _, _, _, ok := decode(b); ok {
			t.Fatalf("bit %d was flipped, and nobody noticed", bit)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
	if _, _, _, ok := decode(b[:leastPayload-1]); ok {
		t.Error("a datagram that is too short was read")
	}
}

func FuzzDecode(f *testing.F) {
	b := make([]byte, leastPayload)
	encode(b, 1, 2, stamps{3, 4, 5})
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if train, number, s, ok := decode(b); ok {
			again := slices.Clone(b)
			encode(again, train, number, s)
			if !slices.Equal(again, b) {
				t.Errorf("%x was read, and is written as %x", b, again)
			}
		}
	})
}
