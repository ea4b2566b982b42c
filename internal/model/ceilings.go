package model

import "math"

// Ceilings: rates that no sender exceeds in the long run, in packets per round
// trip where nothing else is said.

// additive is the loss ceiling of a sender that adds one packet a round trip and
// multiplies its window by beta at a loss of share p: the mean window in packets,
// √((1+β)/(2(1−β)))/√p. For β = 0.5 this is 1.22/√p (Mathis, Semke, Mahdavi,
// Ott: The macroscopic behavior of the TCP congestion avoidance algorithm, 1997,
// without delayed acknowledgements), for β = 0.7 1.68/√p.
func additive(beta, p float64) float64 {
	return math.Sqrt((1 + beta) / (2 * (1 - beta)) / p)
}

// CUBIC's constants (RFC 9438, sections 4.1, 4.3 and 4.6).
const (
	cubicC    = 0.4 // packets/s³
	cubicBeta = 0.7
)

// friendlyGain is what CUBIC's Reno-friendly region adds a round trip, in
// packets, so that with its β it has the mean window of a Reno of 0.5 (RFC 9438,
// section 4.3).
const friendlyGain = 3 * (1 - cubicBeta) / (1 + cubicBeta)

// cubic is CUBIC's loss ceiling in packets (RFC 9438, section 5.1, figure 6):
// (C(3+β)/(4(1−β)))^¼ · RTT^¾/p^¾, or its Reno-friendly region's, whichever is
// more.
func cubic(rtt, p float64) float64 {
	steep := math.Pow(cubicC*(3+cubicBeta)/(4*(1-cubicBeta)), 0.25) * math.Pow(rtt/p, 0.75)
	return max(steep, additive(0.5, p))
}

// lateShare is the share of losses that too few later packets show, of a window
// of so many packets, so that a timer has to, and backoff how many times the timer
// runs in the mean (Padhye, Firoiu, Towsley, Kurose: Modeling TCP throughput,
// 1998, equations 24 and 27).
func lateShare(window float64) float64 { return min(1, 3/window) }

func backoff(p float64) float64 {
	f := 1.0
	for i, term := 0, p; i < 6; i++ {
		f += term
		term *= 2 * p
	}
	return f / (1 - p)
}

// utilisation is the share of a bottleneck's rate that one sender uses in the
// long run, where its window grows by a packet a round trip, overflows the queue
// and falls to beta: 1 where the queue covers what the window falls by (Appenzeller,
// Keslassy, McKeown: Sizing router buffers, 2004), else what follows from the
// sawtooth. Product is the bandwidth-delay product and queue the queue, in the
// same unit.
func utilisation(beta, product, queue float64) float64 {
	top := product + queue
	if product <= 0 || beta*top >= product {
		return 1
	}
	below := product - beta*top                         // round trips with an idle link
	full := (top*top - product*product) / (2 * product) // and with a busy one
	return (1 - beta*beta) * top * top / 2 / (product * (below + full))
}
