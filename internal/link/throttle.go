package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// throttle is a policer for one transport. The zero throttle lets everything
// pass.
type throttle struct {
	transport lab.Transport
	rate      lab.Rate
	burst     int64

	last time.Duration
	left float64 // bytes in the bucket
}

// What a throttle's bucket holds at least where the path does not say, and what
// part of a second of its rate.
const (
	throttleLeast = 10 * 1500
	throttlePart  = 100
)

func newThrottle(t lab.Throttle) *throttle {
	burst := t.Burst
	if burst == 0 {
		burst = max(int64(t.Rate)/8/throttlePart, throttleLeast)
	}
	return &throttle{transport: t.Transport, rate: t.Rate, burst: burst, left: float64(burst)}
}

// takes says whether an IP packet of size bytes may pass at time now.
func (t *throttle) takes(now time.Duration, transport lab.Transport, size int) bool {
	if t.rate <= 0 || transport == "" || t.transport != "" && t.transport != transport {
		return true
	}
	t.left = min(t.left+float64(t.rate)/8*(now-t.last).Seconds(), float64(t.burst))
	t.last = now
	if t.left < float64(size) {
		return false
	}
	t.left -= float64(size)
	return true
}
