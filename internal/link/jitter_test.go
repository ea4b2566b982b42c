package link

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// delays are the one-way delays of n packets offered far from each other.
func delays(w lab.Way, seed uint64, n int) []float64 {
	link := one(w, seed)
	list := make([]float64, n)
	for i := range list {
		now := time.Duration(i) * time.Minute
		list[i] = float64(link.Offer(now, 100).At - now)
	}
	return list
}

func moments(list []float64) (mean, sd float64) {
	for _, x := range list {
		mean += x
	}
	mean /= float64(len(list))
	for _, x := range list {
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(len(list)))
}

// distributions are in units of the spread: quantiles, and by them everything.
var distributions = []struct {
	name     lab.Distribution
	mean, sd float64
	quantile func(q float64) float64
}{
	{lab.Uniform, 0, 1 / math.Sqrt(3), func(q float64) float64 { return 2*q - 1 }},
	{lab.Normal, 0, 1, normalQuantile},
	{lab.Pareto, paretoMean, paretoSD, func(q float64) float64 { return 4.0 / 3 * (math.Pow(1-q, -1.0/3) - 1.5) }},
}

// Of netem's Pareto with its cut at 4: x = 4/3·(v - 3/2), where v = u^(-1/3) is
// cut at 4.5, which is at u0 = 4.5^-3. With it E v = 3/2 - 3/2·u0^(2/3) + 4.5·u0,
// and E v² = 3 - 3·u0^(1/3) + 4.5²·u0.
var (
	paretoCut    = math.Pow(4.5, -3)
	paretoFirst  = 1.5 - 1.5*math.Pow(paretoCut, 2.0/3) + 4.5*paretoCut
	paretoSecond = 3 - 3*math.Cbrt(paretoCut) + 4.5*4.5*paretoCut
	paretoMean   = 4.0 / 3 * (paretoFirst - 1.5)
	paretoSD     = 4.0 / 3 * math.Sqrt(paretoSecond-paretoFirst*paretoFirst)
)

func TestJitterDistributions(t *testing.T) {
	const n, spread = 200_000, 10 * ms
	for _, tt := range distributions {
		for _, rho := range []float64{0, 0.5, 0.9} {
			way := lab.Way{Delay: time.Second, Jitter: lab.Jitter{Spread: spread, Correlation: rho, Distribution: tt.name}}
			list := delays(way, 5, n)
			for i := range list {
				list[i] = (list[i] - 1e9) / float64(spread)
			}
			name := fmt.Sprintf("%q, correlation %v", tt.name, rho)
			wide := math.Sqrt((1 + rho) / (1 - rho) / n) // of a mean, in standard deviations
			mean, sd := moments(list)
			if math.Abs(mean-tt.mean) > 4*tt.sd*wide {
				t.Errorf("%s: mean %v, want %v", name, mean, tt.mean)
			}
			if math.Abs(sd/tt.sd-1) > 8*wide {
				t.Errorf("%s: standard deviation %v, want %v", name, sd, tt.sd)
			}
			checkQuantiles(t, name, list, tt.quantile, wide)
			want := 6 / math.Pi * math.Asin(rho/2)
			if got := rankCorrelation(list[1:], list[:n-1]); math.Abs(got-want) > 4*wide {
				t.Errorf("%s: ranks are correlated by %v, want %v", name, got, want)
			}
		}
	}
}

// checkQuantiles compares shares below the quantiles of the distribution.
func checkQuantiles(t *testing.T, name string, list []float64, quantile func(float64) float64, wide float64) {
	t.Helper()
	list = slices.Sorted(slices.Values(list))
	for _, q := range []float64{0.001, 0.01, 0.25, 0.5, 0.75, 0.98, 0.999} {
		at := quantile(q)
		if at > tailCut {
			at = tailCut
		}
		i, _ := slices.BinarySearch(list, at)
		got, want := float64(i)/float64(len(list)), q
		if at == tailCut {
			want = 1 - paretoCut
		}
		if sigma := math.Sqrt(want*(1-want)) * wide; math.Abs(got-want) > 4*sigma+1e-5 {
			t.Errorf("%s: a share of %v lies below %v, want %v ± %v", name, got, at, want, 4*sigma)
		}
	}
	if least, most := list[0], list[len(list)-1]; least < max(quantile(0), -tailCut)-1e-6 || most > min(quantile(1), tailCut)+1e-6 {
		t.Errorf("%s: from %v to %v", name, least, most)
	}
}

// rankCorrelation is Spearman's.
func rankCorrelation(a, b []float64) float64 {
	ra, rb := ranks(a), ranks(b)
	meanA, sdA := moments(ra)
	meanB, sdB := moments(rb)
	sum := 0.0
	for i := range ra {
		sum += (ra[i] - meanA) * (rb[i] - meanB)
	}
	return sum / float64(len(ra)) / sdA / sdB
}

func ranks(list []float64) []float64 {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(list[i], list[j]) })
	ranks := make([]float64, len(list))
	for rank, i := range order {
		ranks[i] = float64(rank)
	}
	return ranks
}

func TestNormalAndParetoAreCutOff(t *testing.T) {
	for _, tt := range []struct {
		distribution lab.Distribution
		least, most  time.Duration
	}{{lab.Normal, -40 * ms, 40 * ms}, {lab.Pareto, -20 * ms / 3, 40 * ms}} {
		j := newJitter(lab.Jitter{Spread: 10 * ms, Distribution: tt.distribution, Correlation: 0.999}, 1)
		for _, z := range []float64{-100, 100} {
			j.normals.last, j.normals.started = z, true
			if got := j.next(5); got < tt.least-1 || got > tt.most {
				t.Errorf("%s: %v", tt.distribution, got)
			}
		}
	}
}

// A delay never becomes negative, and what would be is at once.
func TestJitterLargerThanDelay(t *testing.T) {
	for _, d := range distributions {
		at := 0
		for _, delay := range delays(lab.Way{Delay: ms, Jitter: lab.Jitter{Spread: 100 * ms, Distribution: d.name}}, 1, 1000) {
			if delay < 0 {
				t.Fatalf("%q: a delay of %v", d.name, delay)
			}
			if delay == 0 {
				at++
			}
		}
		if at < 300 {
			t.Errorf("%q: only %d of 1000 packets had no delay", d.name, at)
		}
	}
}

// Without InOrder jitter lets packets overtake; with it each comes at its own
// time or with the one before it.
func TestJitterInOrder(t *testing.T) {
	way := lab.Way{Delay: 50 * ms, Jitter: lab.Jitter{Spread: 20 * ms, Distribution: lab.Normal}}
	free := New[int](lab.Path{Up: way}, 1)
	way.Jitter.InOrder = true
	kept := New[int](lab.Path{Up: way}, 1)
	const n = 2000
	for i := range n {
		free.Offer(lab.Up, time.Duration(i)*ms, zeros[:100], false, i)
		kept.Offer(lab.Up, time.Duration(i)*ms, zeros[:100], false, i)
	}
	own, overtaken, last := make([]time.Duration, n), 0, -1
	for range n {
		out, _ := free.Pop(lab.Up, time.Hour)
		own[out.Hold] = out.At
		if out.Hold < last {
			overtaken++
		}
		last = out.Hold
	}
	if overtaken < n/10 {
		t.Errorf("only %d packets were overtaken", overtaken)
	}
	var newest time.Duration
	for i := range n {
		newest = max(newest, own[i])
		if out, ok := kept.Pop(lab.Up, time.Hour); !ok || out.Hold != i || out.At != newest {
			t.Fatalf("packet %d comes at %v, want %d at %v", out.Hold, out.At, i, newest)
		}
	}
}
