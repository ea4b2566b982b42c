package link

import (
	"math"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func TestLatenessQuantiles(t *testing.T) {
	if got := Summary(new(Lateness)); got != (lab.Lateness{}) {
		t.Errorf("of nothing: %+v", got)
	}
	var a, b Lateness
	for i := range 1000 { // 1 µs to 1 ms
		l := &a
		if i%2 == 0 {
			l = &b
		}
		l.Add(time.Duration(i+1) * time.Microsecond)
	}
	a.Add(3 * time.Second)
	b.Add(-time.Second) // counts as 0
	got := Summary(&a, &b)
	near := func(what string, got, want float64) {
		if got > want || got < want*(1-1.0/steps)-1e-9 {
			t.Errorf("%s is %v, want %v or at most 1/%d less", what, got, want, steps)
		}
	}
	near("median", got.P50, 501e-6)
	near("99th percentile", got.P99, 991e-6)
	if got.Max != 3 {
		t.Errorf("worst is %v, want 3", got.Max)
	}
}

func TestBucketsCoverAllDurations(t *testing.T) {
	last := -1
	for _, d := range []time.Duration{0, 1, 31, 32, 33, 63, 64, 65, 1000, 1e6, 1e9, 1e12, math.MaxInt64} {
		i := bucket(uint64(d))
		if i < last || i >= len(Lateness{}.buckets) {
			t.Errorf("%d is in bucket %d after %d", d, i, last)
		}
		if least(i) > d || i+1 < len(Lateness{}.buckets) && least(i+1) <= d {
			t.Errorf("%d is in bucket %d from %d to %d", d, i, least(i), least(i+1))
		}
		last = i
	}
	for i := range len(Lateness{}.buckets) {
		if got := bucket(uint64(least(i))); got != i {
			t.Fatalf("bucket %d starts in bucket %d", i, got)
		}
	}
}
