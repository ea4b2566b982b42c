package stats

import (
	"math"
	"testing"
)

// Quartiles of 1…5 and 100 by numpy: 2.25 and 4.75; the upper fence is 8.5.
func TestMethods(t *testing.T) {
	values := []float64{100, 1, 2, 3, 4, 5}
	for _, tt := range []struct {
		m          Method
		mean, sd   float64
		used, left int
	}{
		{Tukey, 3, math.Sqrt(2.5), 5, 1},
		{MeanSD, 115.0 / 6, 39.625328810576, 6, 0},
		{Fastest20, 1, 0, 1, 5},
	} {
		s, ok := tt.m.Summary(values)
		if !ok || !almost(s.Mean, tt.mean) || s.Used != tt.used || s.Left != tt.left {
			t.Errorf("%s: %+v", tt.m, s)
		}
		if tt.sd > 0 && (s.SD == nil || math.Abs(*s.SD-tt.sd) > 1e-6) {
			t.Errorf("%s: sd %v, want %v", tt.m, *s.SD, tt.sd)
		}
	}
	if _, ok := Tukey.Summary([]float64{math.NaN(), math.Inf(1)}); ok {
		t.Error("nothing was summed up")
	}
	for n, want := range map[int]int{1: 1, 4: 1, 5: 1, 10: 2, 20: 4} {
		if s, _ := Fastest20.Summary(make([]float64, n)); s.Used != want {
			t.Errorf("of %d the fastest %d, want %d", n, s.Used, want)
		}
	}
}

// What a published page study had: with Tukey's fences h1 is before h2, without
// them behind it. The rule makes the order, and the median has no part in it.
func TestAnOutlierRuleMakesTheOrder(t *testing.T) {
	h1 := []float64{780, 785, 788, 790, 792, 793, 795, 797, 799, 802, 805, 1150, 1180, 1210}
	h2 := []float64{815, 820, 825, 828, 830, 832, 834, 836, 838, 840, 842, 845, 848, 850}
	mean := func(m Method, x []float64) float64 { s, _ := m.Summary(x); return s.Mean }
	if !(mean(Tukey, h1) < mean(Tukey, h2)) || !(mean(MeanSD, h1) > mean(MeanSD, h2)) {
		t.Errorf("tukey %v %v, mean %v %v", mean(Tukey, h1), mean(Tukey, h2), mean(MeanSD, h1), mean(MeanSD, h2))
	}
	for _, tt := range []struct { // as docs/statistics.md has them
		m      Method
		h1, h2 float64
	}{{Tukey, 793.3, 834.5}, {MeanSD, 876.1, 834.5}, {Fastest20, 784.3, 820}} {
		if a, b := mean(tt.m, h1), mean(tt.m, h2); math.Abs(a-tt.h1) > 0.05 || math.Abs(b-tt.h2) > 0.05 {
			t.Errorf("%s: %v and %v", tt.m, a, b)
		}
	}
	if a, b := *median(h1, len(h1)), *median(h2, len(h2)); a != 796 || b != 835 {
		t.Errorf("medians %v and %v", a, b)
	}
	if s, _ := Tukey.Summary(h1); s.Left != 3 {
		t.Errorf("%d values were left out", s.Left)
	}
}

func TestParseMethod(t *testing.T) {
	for _, m := range Methods() {
		if got, err := ParseMethod(string(m)); got != m || err != nil {
			t.Errorf("%s: %v, %v", m, got, err)
		}
	}
	if _, err := ParseMethod("median"); err == nil {
		t.Error("no error")
	}
}

func almost(a, b float64) bool { return math.Abs(a-b) < 1e-9*max(1, math.Abs(b)) }
