package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Critical values of the signed-rank test's interval, as published (Hollander and
// Wolfe, 1999, table A.4; Conover, 1999, table A12): 2·P(T ≤ k−1) ≤ 5 %.
func TestCritical(t *testing.T) {
	for n, want := range map[int]int{1: 0, 5: 0, 6: 1, 7: 3, 8: 4, 9: 6, 10: 9, 11: 11, 12: 14, 15: 26, 20: 53, 25: 90, 30: 138, 50: 435} {
		if got := critical(n, 0.05); got != want {
			t.Errorf("n = %d: k = %d, want %d", n, got, want)
		}
	}
	for _, n := range []int{51, 60, 80} { // beyond, the normal law differs by little
		ranks := make([]int, n)
		for i := range ranks {
			ranks[i] = i + 1
		}
		k := critical(n, 0.05)
		if p := 2 * atMost(ranks, k-1); p > 0.0502 || p < 0.046 {
			t.Errorf("n = %d: k = %d has p = %v", n, k, p)
		}
	}
}

// The probabilities of the tables: n = 6 has 96.9 %, n = 10 has 95.1 %.
func TestSignedRank(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		logs []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4, 5, 6}, 2.0 / 64},
		{[]float64{-1, -2, -3, -4, -5, -6}, 2.0 / 64},
		{[]float64{-1, 2, 3, 4, 5, 6}, 4.0 / 64},
		{[]float64{0, 2, 3, 4, 5, 6}, 4.0 / 64},   // a tie speaks against
		{[]float64{nan, 2, 3, 4, 5, 6}, 4.0 / 64}, // so does a block in which neither finished
		{[]float64{1, 2, 3, 4, 5, inf}, 2.0 / 64}, // no more than the largest
		{[]float64{1, 2, 3, 4, 5, -inf}, 2 * 14.0 / 64},
		{[]float64{inf, inf, inf, inf, inf, inf}, 2.0 / 64},
		{[]float64{1, 1, 1, 1, 1, 1}, 2.0 / 64},
		{[]float64{-1, 1, 1, 1, 1, 1}, 2 * 7.0 / 64}, // 3.5 of six middle ranks
		{[]float64{1, 2, 3, 4, 5, 6, 7, -8, 9, 10}, 2 * 25.0 / 1024},
		{[]float64{0, 0, 0, 0, 0, 0}, 1},
		{nil, 1},
	} {
		if got := signedRank(tt.logs); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v: p = %v, want %v", tt.logs, got, tt.want)
		}
	}
}

// With six blocks the interval is from the least to the largest; with ten, from
// the ninth of the 55 averages to the ninth from above.
func TestPairedByHand(t *testing.T) {
	e := Paired([]float64{0.5, 0.1, 0.3, 0.2, 0.6, 0.4}, 1)
	near(t, "ratio", e.Ratio, math.Exp(0.35))
	near(t, "low", e.Low, math.Exp(0.1))
	near(t, "high", e.High, math.Exp(0.6))
	near(t, "smallest", e.Smallest, math.Exp(0.25))
	if e.N != 6 || e.Side != 1 || e.P != 2.0/64 {
		t.Errorf("%+v", e)
	}
	// Of 1 … 10 the averages 1, 1.5, 2, 2, 2.5, 2.5, 3, 3, 3 come first.
	w := newWalsh([]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1})
	if low, high := w.bounds(9); low != 3 || high != 8 || w.median() != 5.5 {
		t.Errorf("%v to %v, median %v", low, high, w.median())
	}
	few := Paired([]float64{1, 1, 1, 1, 1}, 1)
	if few.Ratio == nil || few.Low != nil || few.High != nil || few.Side != 0 || few.Smallest != nil {
		t.Errorf("five blocks have no interval of 95 %%: %+v", few)
	}
}

func TestPairedCensored(t *testing.T) {
	inf := math.Inf(1)
	e := Paired([]float64{inf, inf, inf, inf, inf, inf}, 1)
	if e.Ratio != nil || e.Low != nil || e.High != nil || e.Side != 1 || e.P > 0.05 {
		t.Errorf("a never finished: %+v", e)
	}
	e = Paired([]float64{0.1, 0.2, 0.3, 0.4, 0.5, inf}, 1)
	if e.Ratio == nil || e.Low == nil || e.High != nil || e.Side != 1 || e.Smallest != nil {
		t.Errorf("a failed once: %+v", e)
	}
	nan := math.NaN()
	e = Paired([]float64{nan, nan, nan, nan, nan, nan}, 1)
	if e.Side != 0 || e.P != 1 || *e.Ratio != 1 {
		t.Errorf("neither finished: %+v", e)
	}
	e = Paired([]float64{inf, -inf, inf, -inf, inf, -inf, inf, -inf}, 1)
	if e.Side != 0 || e.P != 1 {
		t.Errorf("each failed half of the time: %+v", e)
	}
}

func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func drawLogs(t *rapid.T, least, most int) []float64 {
	value := rapid.OneOf(rapid.Float64Range(-2, 2), rapid.SampledFrom([]float64{-1, 0, 1, math.Inf(1), math.Inf(-1), math.NaN()}))
	return rapid.SliceOfN(value, least, most).Draw(t, "logs")
}

// Bisection finds what a list of all averages has.
func TestWalshAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWalsh(drawLogs(t, 1, 25))
		opposite := rapid.SampledFrom([]float64{math.Inf(-1), 0, math.Inf(1)}).Draw(t, "opposite")
		var all []float64
		for i, a := range w.x {
			for _, b := range w.x[i:] {
				all = append(all, middle(a, b, opposite))
			}
		}
		slices.Sort(all)
		for k := 1; k <= len(all); k++ {
			if got := w.at(k, opposite); got != all[k-1] {
				t.Fatalf("the %d-th is %v, want %v", k, got, all[k-1])
			}
		}
	})
}

// Exchanging a and b turns everything over.
func TestPairedTurnsOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := drawLogs(t, 1, 30)
		turned := make([]float64, len(logs))
		for i, x := range logs {
			turned[i] = -x
		}
		a, b := Paired(logs, 1), Paired(turned, 1)
		if a.P != b.P {
			t.Errorf("p %v and %v", a.P, b.P)
		}
		if s, back := spanOf(logs, 1, Level), spanOf(turned, 1, Level); s.low != -back.high || s.high != -back.low || s.middle != -back.middle {
			t.Errorf("%+v turned into %+v", s, back)
		}
		shuffled := slices.Clone(logs)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if c := Paired(shuffled, 1); c.P != a.P || spanOf(logs, 1, Level) != spanOf(shuffled, 1, Level) {
			t.Error("the order matters")
		}
	})
}

// A value that grows never moves anything down. (+Inf is a's failure.)
func TestPairedIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := drawLogs(t, 1, 60)
		i := rapid.IntRange(0, len(logs)-1).Draw(t, "which")
		before := spanOf(logs, 1, Level)
		from := logs[i]
		if math.IsNaN(from) {
			from = 0
		}
		logs[i] = rapid.SampledFrom([]float64{from + 0.1, from + 3, math.Inf(1)}).Draw(t, "to")
		after := spanOf(logs, 1, Level)
		if after.middle < before.middle || after.low < before.low || after.high < before.high {
			t.Errorf("%+v became %+v", before, after)
		}
	})
}

// Beyond manyBlocks the interval is that to which the bootstrap tends.
func TestLimitIsTheBootstraps(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	logs := make([]float64, manyBlocks)
	for i := range logs {
		logs[i] = random.ExpFloat64()
	}
	w := newWalsh(logs)
	low, high := w.bootstrap(1, Level)
	l, h := w.limit(Level)
	if width := high - low; math.Abs(low-l) > 0.15*width || math.Abs(high-h) > 0.15*width {
		t.Errorf("bootstrap %v to %v, limit %v to %v", low, high, l, h)
	}
}

// Order statistics for a median: n = 6 takes the extremes (96.9 %), 10 the second
// from each end (97.9 %), 20 the sixth (95.9 %), 100 the 40th (96.5 %).
func TestMedianInterval(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 0, 5: 0, 6: 1, 8: 1, 9: 2, 10: 2, 15: 4, 20: 6, 30: 10, 50: 18, 100: 40, 100000: 49690} {
		if got := medianRank(n); got != want {
			t.Errorf("n = %d: rank %d, want %d", n, got, want)
		}
	}
	finished := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	mid, low, high := MedianInterval(finished, 10)
	if mid == nil || *mid != 5.5 || low == nil || *low != 2 || high != nil {
		t.Errorf("%v, %v to %v", mid, low, high)
	}
	if mid, low, high = MedianInterval(finished[:5], 5); *mid != 3 || low != nil || high != nil {
		t.Errorf("five: %v, %v to %v", mid, low, high)
	}
	if mid, low, high = MedianInterval(nil, 9); mid != nil || low != nil || high != nil {
		t.Errorf("none: %v, %v to %v", mid, low, high)
	}
}

func BenchmarkPaired(b *testing.B) {
	for _, n := range []int{6, 10, 30, 50, 100, 10000} {
		random := rand.New(rand.NewPCG(5, 6))
		logs := make([]float64, n)
		for i := range logs {
			logs[i] = random.NormFloat64()
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				Paired(logs, 1)
			}
		})
	}
}

// What was drawn has the median that its own averages have.
func TestRedrawAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := settled(drawLogs(t, 1, manyBlocks))
		r := newRedraw(x)
		r.draw(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		r.count()
		var drawn []float64
		for j, times := range r.times {
			for range times {
				drawn = append(drawn, x[j])
			}
		}
		w := walsh{drawn}
		guess := rapid.IntRange(0, len(r.list)-1).Draw(t, "guess")
		for _, k := range []int{(w.len() + 1) / 2, w.len()/2 + 1} {
			if got, want := infinite(r.list[r.place(k, guess)]), w.at(k, 0); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		}
	})
}
