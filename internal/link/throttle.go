package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// throttle is a policer for one transport. The zero throttle lets everything
// pass.
type throttle struct {
	transport lab.Transport
	bucket    tokens
}

// What a throttle's bucket holds at least where the path does not say, and what
// part of a second of its rate.
const (
	throttleLeast = 10 * 1500
	throttlePart  = 100
)

func newThrottle(t lab.Throttle) *throttle {
	if t.Rate <= 0 {
		return &throttle{}
	}
	burst := t.Burst
	if burst == 0 {
		burst = max(int64(t.Rate)/8/throttlePart, throttleLeast)
	}
	return &throttle{transport: t.Transport, bucket: newTokens(t.Rate, burst)}
}

// takes says whether an IP packet of size bytes may pass at time now: true is
// to pass, false to be dropped (lab.DropThrottle).
func (t *throttle) takes(now time.Duration, transport lab.Transport, size int) bool {
	if t.bucket.rate == 0 || !t.concerns(transport) {
		return true
	}
	return t.bucket.conforms(now, size)
}

// concerns says whether packets of the transport are throttled: with none
// named, UDP and TCP together, and nothing else (ICMP).
func (t *throttle) concerns(transport lab.Transport) bool {
	if t.transport == "" {
		return transport == lab.UDP || transport == lab.TCP
	}
	return transport == t.transport
}
