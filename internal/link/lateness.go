package link

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// steps is the number of buckets to each power of two: a quantile is at most
// 1/steps too low.
const (
	stepBits = 5
	steps    = 1 << stepBits
)

// Lateness counts how much later than due packets were delivered, on a
// logarithmic scale: in bounded memory, whatever there is to count. One goroutine
// may add to it while others read. The zero value is ready for use.
type Lateness struct {
	buckets [(64 - stepBits) * steps]atomic.Uint64
	max     atomic.Int64
}

// Add counts one packet that was late by d; a negative d counts as 0.
func (l *Lateness) Add(d time.Duration) {
	d = max(d, 0)
	l.buckets[bucket(uint64(d))].Add(1)
	if int64(d) > l.max.Load() {
		l.max.Store(int64(d))
	}
}

// bucket is the index of the bucket of v: v itself below steps, and then the
// steps highest values of each power of two.
func bucket(v uint64) int {
	if v < steps {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - stepBits
	return (shift+1)*steps + int(v>>shift) - steps
}

// least is the least value of bucket i.
func least(i int) time.Duration {
	if i < steps {
		return time.Duration(i)
	}
	shift := i/steps - 1
	return time.Duration(uint64(i%steps+steps) << shift)
}

// Summary returns the quantiles over all the counts together, each at most 1/32
// too low, and the worst.
func Summary(all ...*Lateness) lab.Lateness {
	var counts [len(Lateness{}.buckets)]uint64
	var n uint64
	var worst time.Duration
	for _, l := range all {
		for i := range counts {
			c := l.buckets[i].Load()
			counts[i] += c
			n += c
		}
		worst = max(worst, time.Duration(l.max.Load()))
	}
	return lab.Lateness{
		P50: quantile(counts[:], n, 0.50).Seconds(),
		P99: quantile(counts[:], n, 0.99).Seconds(),
		Max: worst.Seconds(),
	}
}

func quantile(counts []uint64, n uint64, q float64) time.Duration {
	left := uint64(q * float64(n))
	for i, c := range counts {
		if c > left {
			return least(i)
		}
		left -= c
	}
	return 0
}
