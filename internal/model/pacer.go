package model

// pacer is quic-go's (v0.65.0, internal/congestion/pacer.go): a token bucket of
// packets, filled at a multiple of the window over the smoothed round trip.
type pacer struct {
	on     bool
	sent   float64 // when the last packet left
	budget float64 // packets, then
	begun  bool
}

const (
	// paceStart and paceAvoid are how many times window/RTT quic-go paces at: in
	// slow start, so that the window can double in a round trip, and after it
	// (cubic_sender.go, pacingRate).
	paceStart, paceAvoid = 2, 1.25
	// paceBurst is what may leave at once after a pause, in packets, and paceTick
	// the shortest wait, in s; at high rates two ticks' worth may leave at once.
	paceBurst = 10
	paceTick  = 1e-3
)

func (p *pacer) at(now, rate float64) float64 {
	burst := max(paceBurst, 2*paceTick*rate)
	if !p.begun {
		return burst
	}
	return min(burst, p.budget+(now-p.sent)*rate)
}

// ready is when the next packet may leave, not before now. Rate is in packets
// per second.
func (p *pacer) ready(now, rate float64) float64 {
	if !p.on || p.at(now, rate) >= 1-1e-9 {
		return now
	}
	return max(now, p.sent+max(paceTick, (1-p.budget)/rate))
}

// send takes a packet of so many full ones' size.
func (p *pacer) send(now, rate, size float64) {
	p.budget, p.sent, p.begun = max(0, p.at(now, rate)-size), now, true
}
