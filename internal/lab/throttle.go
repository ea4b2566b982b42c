package lab

// BurstBytes is the bucket of the throttle in bytes: its own, or what its rate
// carries in 10 ms and at least 10 packets of 1500 B.
func (t Throttle) BurstBytes() int64 {
	if t.Burst > 0 {
		return t.Burst
	}
	return max(int64(t.Rate)/8/100, 15000)
}
