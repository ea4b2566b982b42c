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
	smooth(&e.smoothed, &e.variation, rtt, 1)
}

// smooth takes a further round trip into account, of which n are expected in each
// (RFC 6298, section 2; RFC 7323, appendix G; RFC 9002, section 5.3).
func smooth(smoothed, variation *time.Duration, rtt time.Duration, n int) {
	*variation += ((*smoothed - rtt).Abs() - *variation) / time.Duration(4*n)
	*smoothed += (rtt - *smoothed) / time.Duration(8*n)
}
