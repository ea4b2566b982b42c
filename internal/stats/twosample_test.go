package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The critical values of tables of the Mann–Whitney U test (5 %, two-sided), plus one.
func TestCriticalSum(t *testing.T) {
	for _, tt := range []struct{ x, y, want int }{
		{3, 3, 0}, {4, 4, 1}, {5, 5, 3}, {6, 6, 6}, {5, 8, 7}, {8, 5, 7}, {8, 8, 14}, {10, 10, 24}, {20, 20, 128}, {1, 30, 0}, {2, 8, 1},
	} {
		if got := criticalSum(tt.x, tt.y, Level); got != tt.want {
			t.Errorf("%d and %d: %d, want %d", tt.x, tt.y, got, tt.want)
		}
	}
	// Beyond the exact ones the normal distribution goes on without a step.
	exact, normal := criticalSum(20, 20, Level), criticalSum(20, 21, Level)
	if normal < exact || normal > exact+10 {
		t.Errorf("%d, then %d", exact, normal)
	}
}

// rankSumByHand tries all choices of ranks.
func rankSumByHand(x, y []float64) float64 {
	ranks, sum := sumOfRanks(x, y)
	var below, above, all float64
	for set := range 1 << len(ranks) {
		size, s := 0, 0
		for i, r := range ranks {
			if set>>i&1 == 1 {
				size, s = size+1, s+r
			}
		}
		if size != len(x) {
			continue
		}
		all++
		if s <= sum {
			below++
		}
		if s >= sum {
			above++
		}
	}
	return min(1, 2*min(below, above)/all)
}

func TestRankSumIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]float64{0.5, 1, 1, 2, 3, 5, 8, math.Inf(1)})
		x, y := rapid.SliceOfN(value, 1, 6).Draw(t, "x"), rapid.SliceOfN(value, 1, 6).Draw(t, "y")
		slices.Sort(x)
		slices.Sort(y)
		if got, want := rankSum(x, y), rankSumByHand(x, y); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v and %v: %v, want %v", x, y, got, want)
		}
	})
}

// The normal approximation for many runs is near the exact distribution.
func TestRankSumOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var x, y []float64
		for range exactSum / 2 {
			x, y = append(x, math.Round(4*r.NormFloat64())), append(y, math.Round(4*r.NormFloat64()+2))
		}
		slices.Sort(x)
		slices.Sort(y)
		ranks, sum := sumOfRanks(x, y)
		if exact, normal := rankSum(x, y), rankSumNormal(ranks, len(x), sum); math.Abs(exact-normal) > 0.01+exact/10 {
			t.Errorf("exact %v, normal %v", exact, normal)
		}
	}
	if p := rankSumNormal([]int{42, 42, 42}, 1, 42); p != 1 {
		t.Errorf("all tied: %v", p)
	}
}

func TestTwoSample(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		name      string
		a, b      []float64
		na, nb    int
		ratio     float64 // 0: none
		low, high float64
		side      int
		p         float64
	}{
		{"apart", []float64{2, 4, 8, 16}, []float64{0.5, 0.25, 1, 0.125}, 4, 4, 16, 2, 128, 1, 2.0 / 70},
		{"the same", []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}, 4, 4, 1, 1, 1, 0, 1},
		{"three are too few", []float64{2, 2, 2}, []float64{1, 1, 1}, 3, 3, 2, 0, 0, 0, 0.1},
		{"a failed", nil, []float64{1, 1, 1, 1}, 4, 4, 0, 0, 0, 1, 2.0 / 70},
		{"b failed", []float64{1, 1, 1, 1}, []float64{inf, math.NaN()}, 4, 4, 0, 0, 0, -1, 2.0 / 70},
		{"both failed", nil, nil, 9, 9, 1, 0, 0, 0, 1},
		{"nothing", nil, []float64{1}, 0, 1, 0, 0, 0, 0, 1},
	} {
		e := TwoSample(tt.a, tt.b, tt.na, tt.nb, 1)
		if !equals(e.Ratio, tt.ratio) || !equals(e.Low, tt.low) || !equals(e.High, tt.high) || e.Side != tt.side || math.Abs(e.P-tt.p) > 1e-9 {
			t.Errorf("%s: %s to %s to %s, side %d, p %v", tt.name, show(e.Low), show(e.Ratio), show(e.High), e.Side, e.P)
		}
	}
}

func equals(p *float64, want float64) bool {
	if p == nil {
		return want == 0
	}
	return math.Abs(*p-want) < 1e-9*want
}

func show(p *float64) string {
	if p == nil {
		return "none"
	}
	return number(*p)
}

// bounds of an estimate as numbers that can be compared, whatever is nil.
func edges(e Estimate) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if e.Low != nil {
		low = math.Log(*e.Low)
	} else if e.Side > 0 {
		low = math.Inf(1)
	}
	if e.High != nil {
		high = math.Log(*e.High)
	} else if e.Side < 0 {
		high = math.Inf(-1)
	}
	return low, high
}

// One more failure in a never makes it look better; exchanging turns all round;
// order does not matter.
func TestTwoSampleProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0.01, 100), 1, 12)
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		na, nb := len(a)+rapid.IntRange(0, 4).Draw(t, "failed"), len(b)+rapid.IntRange(0, 4).Draw(t, "failed")
		e := TwoSample(a, b, na, nb, 7)
		turned := TwoSample(b, a, nb, na, 7)
		if math.Abs(e.P-turned.P) > 1e-9 {
			t.Fatalf("exchanged: p %v and %v", e.P, turned.P)
		}
		if criticalSum(na, nb, Level) == 1 && e.Side != -turned.Side {
			t.Fatalf("exchanged: side %d and %d", e.Side, turned.Side)
		}
		back := slices.Clone(a)
		slices.Reverse(back)
		if other := TwoSample(back, b, na, nb, 7); other.P != e.P || !equalPointers(other.Low, e.Low) || !equalPointers(other.High, e.High) {
			t.Fatal("the order of the values matters")
		}
		worse := TwoSample(a[1:], b, na, nb, 7) // a run that finished fails
		low, high := edges(e)
		lower, higher := edges(worse)
		if lower < low-1e-9 || higher < high-1e-9 {
			t.Fatalf("a failure moved %v … %v to %v … %v", low, high, lower, higher)
		}
	})
}

func equalPointers(a, b *float64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// A known shift is found, with thousands of runs too.
func TestTwoSampleFindsAShift(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{12, 40, 60, 3000} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = 1.5*math.Exp(0.05*r.NormFloat64()), math.Exp(0.05*r.NormFloat64())
		}
		e := TwoSample(a, b, n, n, 1)
		if e.Low == nil || *e.Low > 1.5 || *e.High < 1.5 || *e.High / *e.Low - 1 > 0.8/math.Sqrt(float64(n)) || e.P > 1e-4 {
			t.Errorf("%d: %s to %s, p %v", n, show(e.Low), show(e.High), e.P)
		}
	}
}
