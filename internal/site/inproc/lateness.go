package inproc

import (
	"math/bits"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// lateness counts how much later than due packets were delivered, in buckets
// whose width grows with the value: below 16 ns exact, then eight to a power of
// two, so that a quantile is at most an eighth too high, in 4 KiB of memory.
type lateness struct {
	count   int
	max     time.Duration
	buckets [8 * 62]int
}

// add counts one packet that was late by d. It was not late when d is negative.
func (l *lateness) add(d time.Duration) {
	d = max(d, 0)
	l.count++
	l.max = max(l.max, d)
	l.buckets[bucket(d)]++
}

// summary returns the quantiles that a record has.
func (l *lateness) summary() lab.Lateness {
	return lab.Lateness{
		P50: l.quantile(50).Seconds(), P99: l.quantile(99).Seconds(), Max: l.max.Seconds(),
	}
}

// quantile returns a bound that at least percent of the packets kept.
func (l *lateness) quantile(percent int) time.Duration {
	left := (l.count*percent + 99) / 100
	for i, n := range l.buckets {
		if left -= n; left <= 0 {
			return min(highest(i), l.max)
		}
	}
	return l.max
}

// bucket returns the place of d: its power of two and the three bits below it.
func bucket(d time.Duration) int {
	if d < 16 {
		return int(d)
	}
	shift := bits.Len64(uint64(d)) - 4
	return 8*shift + int(d>>shift)
}

// highest returns the largest value of bucket i.
func highest(i int) time.Duration {
	if i < 16 {
		return time.Duration(i)
	}
	shift := i/8 - 1
	return time.Duration(i-8*shift+1)<<shift - 1
}
