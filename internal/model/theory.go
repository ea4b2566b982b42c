package model

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// Theory predicts cells. It is a pure function of them.
type Theory struct{}

// Predict returns what theory says of a cell, by metric and in its unit: times in
// seconds, goodput in bit/s. A metric that is not in it is one of which nothing is
// said.
func (Theory) Predict(c lab.Cell) map[string]float64 {
	out := map[string]float64{}
	if !known(c) {
		return out
	}
	t := newTransfer(c)
	if !t.upload {
		out[lab.RoundTrips] = float64(roundTrips(c))
		if t.handshakeHolds(c) {
			out[lab.TTFB] = t.firstByte()
		}
	}
	took, ok := t.predict(c)
	if !ok {
		return out
	}
	out[lab.Duration], out[lab.LastObject] = took, took
	if took > 0 {
		out[lab.Goodput] = 8 * float64(c.Load.Bytes()) / took
	}
	if first, ok := t.firstObject(took); ok {
		out[lab.FirstObject] = first
	}
	return out
}

// roundTrips is how many round trips pass until the first byte of the first
// response: the handshake's, and the request's own.
func roundTrips(c lab.Cell) int {
	if c.Load.Warm {
		return 1
	}
	return handshake{QUIC: c.Protocol == lab.H3, TLS12: c.Stack.TLS == "1.2"}.roundTrips() + 1
}

// handshakeHolds says that the median of handshakes is that of one without loss.
func (t transfer) handshakeHolds(c lab.Cell) bool {
	kept := (1 - c.Path.Up.Loss.Share) * (1 - c.Path.Down.Loss.Share)
	return math.Pow(kept, chain/2) >= likely
}
