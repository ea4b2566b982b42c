package wire

import "time"

// rttEstimate is a sender's estimate of the round-trip time, as RFC 6298 and RFC
// 9002 (section 5.3) have it. It does not subtract the receiver's delay.
type rttEstimate struct {
	latest, smoothed, variation time.Duration // zero: no sample yet
}

func (e *rttEstimate) sample(rtt time.Duration) {
	e.latest = rtt
	if e.smoothed == 0 {
		e.smoothed, e.variation = rtt, rtt/2
		return
	}
	e.variation += ((e.smoothed - rtt).Abs() - e.variation) / 4
	e.smoothed += (rtt - e.smoothed) / 8
}
