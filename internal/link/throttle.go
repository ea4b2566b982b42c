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

func newThrottle(t lab.Throttle) *throttle {
	if t.Rate <= 0 {
		return &throttle{}
	}
	return &throttle{transport: t.Transport, bucket: newTokens(t.Rate, t.BurstBytes())}
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
