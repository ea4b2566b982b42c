package model

import "math"

// control is a sender's congestion control.
type control struct {
	cubic bool    // else Reno: one packet a round trip (RFC 5681, section 3.1)
	beta  float64 // what is left of the window after a loss

	avoiding bool
	since    float64 // when avoidance, or the epoch since the last loss, began
	top      float64 // the window before
	friendly float64 // CUBIC's Reno-friendly window
}

// avoid ends slow start.
func (c *control) avoid(now, window float64) {
	c.avoiding, c.since, c.top, c.friendly = true, now, window, window
}

// lose reduces the window after a loss. Below two packets it does not go.
func (c *control) lose(now, window float64) float64 {
	after := max(2, window*c.beta)
	c.avoid(now, after)
	c.top = window
	return after
}

// grow is the window after so many packets were acknowledged.
func (c *control) grow(now, window, packets, rtt float64) float64 {
	if !c.avoiding {
		return window + packets
	}
	if !c.cubic {
		return window + packets/window
	}
	c.friendly += friendlyGain * packets / window
	return max(window, c.friendly, c.curve(now-c.since+rtt))
}

// curve is CUBIC's function of the time since the last loss (RFC 9438, section
// 4.2).
func (c *control) curve(t float64) float64 {
	k := math.Cbrt(c.top * (1 - c.beta) / cubicC)
	if c.friendly >= c.top { // slow start ended without a loss
		k = 0
	}
	d := t - k
	return cubicC*d*d*d + c.top
}

// hystart ends slow start when the least of a round's first round trips is longer
// than before by an eighth, at least 4 and at most 16 ms: than the round before
// (RFC 9406, section 4.2; gVisor's CUBIC), or than ever (quic-go). Linux's CUBIC
// has another test besides.
type hystart struct {
	end     float64 // of the round: what had been sent when it began
	samples int
	least   float64 // s, of the round
	before  float64 // s, of the round before; 0 at first
}

func (h *hystart) ends(rtt, before, acked, sent, window float64) bool {
	if acked > h.end {
		h.end, h.samples, h.before, h.least = sent, 0, h.least, math.Inf(1)
	}
	h.samples++
	if h.samples <= 8 {
		h.least = min(h.least, rtt)
	}
	return h.samples == 8 && window >= 16 && h.least > before+min(max(before/8, 0.004), 0.016)
}
