package stats

import (
	"math"
	"math/rand"
	"testing"
)

// Known values: Fisher's tea (3 and 1 of 4), and tables of R's fisher.test.
func TestFisher(t *testing.T) {
	for _, c := range []struct {
		a, b, c, d int
		want       float64
	}{
		{3, 1, 1, 3, 34.0 / 70}, {4, 0, 0, 4, 2.0 / 70}, {10, 0, 10, 0, 1}, {0, 5, 0, 5, 1},
		{10, 0, 1, 9, 20.0 / 167960}, // 2 · C(10,10) · C(10,1) / C(20,11)
		{1, 9, 11, 3, 0.002759},      // Wikipedia's example of studying
		{10, 0, 5, 5, 0.03251},
	} {
		if got := fisher(c.a, c.b, c.c, c.d); math.Abs(got-c.want) > 0.0005*c.want+5e-5 {
			t.Errorf("%+v: %g", c, got)
		}
		if got := fisher(c.c, c.d, c.a, c.b); math.Abs(got-fisher(c.a, c.b, c.c, c.d)) > 1e-12 {
			t.Errorf("%+v: not symmetric", c)
		}
	}
	if got := leastFisher(5, 5, 5); math.Abs(got-2.0/252) > 1e-9 {
		t.Errorf("least of 5 good ones in 5 and 5: %g", got)
	}
}

func TestRunsNeeded(t *testing.T) {
	for tests, want := range map[int]int{0: 4, 1: 4, 2: 5, 6: 5, 7: 6, 23: 6, 24: 7, 85: 7, 86: 8} {
		if got := runsNeeded(tests); got != want {
			t.Errorf("%d tests: %d runs", tests, got)
		}
		if n := runsNeeded(tests); leastRankSum(n, n) > Level/float64(max(tests, 1)) {
			t.Errorf("%d tests: %d runs are too few", tests, n)
		}
	}
	if got := leastRankSum(3, 2); math.Abs(got-0.2) > 1e-12 {
		t.Errorf("3 and 2: %g", got)
	}
}

// The exceedance test against its closed form and by simulation.
func TestExceed(t *testing.T) {
	if got := exceed(1, 7, 3); math.Abs(got-0.7) > 1e-12 {
		t.Error(got)
	}
	if got, want := exceed(4, 4, 4), 1.0/70; math.Abs(got-want) > 1e-12 {
		t.Error(got)
	}
	const trials = 40_000
	random := rand.New(rand.NewSource(5))
	for k := 0; k <= 4; k++ {
		hits := 0
		for range trials {
			most := 0.0
			for range 6 {
				most = max(most, random.Float64())
			}
			beyond := 0
			for range 9 {
				if random.Float64() > most {
					beyond++
				}
			}
			if beyond >= k {
				hits++
			}
		}
		p := exceed(k, 9, 6)
		if sd := math.Sqrt(p * (1 - p) / trials); math.Abs(float64(hits)/trials-p) > 4*sd {
			t.Errorf("%d of 9 beyond 6: %g simulated, %g", k, float64(hits)/trials, p)
		}
	}
}
