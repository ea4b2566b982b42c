package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Critical values of U at 5 % (two-sided) from published tables: U at most that is
// significant, so that one more difference lies below the interval.
func TestCriticalRankSum(t *testing.T) {
	for _, tt := range []struct{ m, n, table int }{
		{4, 4, 0}, {5, 5, 2}, {6, 6, 5}, {8, 8, 13}, {10, 10, 23}, {20, 20, 127}, {5, 10, 8},
	} {
		if got := criticalRankSum(tt.m, tt.n, 0.05); got != tt.table+1 {
			t.Errorf("%d, %d: %d, want %d", tt.m, tt.n, got, tt.table+1)
		}
	}
	if got := criticalRankSum(3, 3, 0.05); got != 0 {
		t.Errorf("three against three: %d", got)
	}
	// The normal distribution is close where it takes over.
	exact := func() int {
		counts, sum := rankSumShares(51, 50), 0.0
		for k, p := range counts {
			if sum += p; 2*sum > 0.05 {
				return k
			}
		}
		return 0
	}()
	if got := criticalRankSum(51, 50, 0.05); math.Abs(float64(got-exact)) > 3 {
		t.Errorf("%d by the normal distribution, %d exactly", got, exact)
	}
}

func TestTwoSampleByHand(t *testing.T) {
	// All of a is twice b: every value of a is above every one of b.
	b := []float64{1, 1.01, 1.02, 1.03, 1.04, 1.05}
	var a []float64
	for _, v := range b {
		a = append(a, 2*v)
	}
	e := TwoSample(a, b, 6, 6)
	near(t, "ratio", e.Ratio, 2)
	if want := 2.0 / 924; math.Abs(e.P-want) > 1e-12 { // 12 over 6 orders
		t.Errorf("p %v, want %v", e.P, want)
	}
	if e.Side != 1 || *e.Low < 1.9 || *e.High > 2.1 {
		t.Errorf("%+v", e)
	}
	if e = TwoSample(b, b, 6, 6); e.P != 1 || e.Side != 0 || *e.Ratio != 1 {
		t.Errorf("the same twice: %+v", e)
	}
	// Nothing of a finished.
	if e = TwoSample(nil, b, 6, 6); e.Side != 1 || e.Ratio != nil || e.Low != nil || e.P > 0.01 {
		t.Errorf("nothing finished: %+v", e)
	}
	// Nothing of either finished.
	if e = TwoSample(nil, nil, 6, 6); e.P != 1 || e.Side != 0 {
		t.Errorf("neither finished: %+v", e)
	}
	if e = TwoSample(a[:3], b[:3], 3, 3); e.Low != nil || e.Side != 0 {
		t.Errorf("three each: %+v", e)
	}
}

func TestTwoSampleProperties(t *testing.T) {
	values := rapid.SliceOfN(rapid.Float64Range(0.001, 1000), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		failed := rapid.IntRange(0, 4).Draw(t, "failed")
		e, back := TwoSample(a, b, len(a)+failed, len(b)), TwoSample(b, a, len(b), len(a)+failed)
		if math.Abs(e.P-back.P) > 1e-9 || e.Side != -back.Side {
			t.Fatalf("%+v, exchanged %+v", e, back)
		}
		worse := TwoSample(a, b, len(a)+failed+1, len(b))
		if e.Ratio != nil && worse.Ratio != nil && *worse.Ratio < *e.Ratio*(1-1e-12) {
			t.Fatalf("a failed run made %v into %v", *e.Ratio, *worse.Ratio)
		}
	})
}

func TestTwoSampleOfManyIsQuick(t *testing.T) {
	a := make([]float64, 100_000)
	for i := range a {
		a[i] = 1 + float64(i%1000)/1000
	}
	e := TwoSample(a, a, len(a), len(a))
	if e.Ratio == nil || math.Abs(*e.Ratio-1) > 1e-9 || e.P < 0.99 {
		t.Errorf("%+v", e)
	}
}
