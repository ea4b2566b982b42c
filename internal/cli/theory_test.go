package cli

import (
	"math"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// What theory says of paths without loss is what virtual time gives.
func TestVirtualIsWhatTheoryPredicts(t *testing.T) {
	c := carrierOf(t, lab.Virtual, 1)
	for _, k := range []struct{ path, load string }{
		{"wired", "cold"}, {"wired", "fifty-small"}, {"wired", "big"},
		{"intercontinental", "ten-small"}, {"intercontinental", "big"}, {"satellite-geo", "ten-small"},
	} {
		for _, p := range lab.Protocols() {
			r := mustOK(t, c.Carry(t.Context(), cellRun(t, lab.Virtual, k.path, k.load, p, 1)))
			predicted := theory{}.Predict(r.Run.Cell)
			for _, metric := range []string{lab.Duration, lab.TTFB, lab.RoundTrips} {
				got := *r.Value(metric)
				if math.Abs(predicted[metric]/got-1) > 0.03 {
					t.Errorf("%s, %s, %s: %s is %.4f, and theory says %.4f", k.path, k.load, p, metric, got, predicted[metric])
				}
			}
		}
	}
}

// The terms of the author's puzzle come out of two real runs, too: what is left
// unexplained is less than 1 %.
func TestVirtualPuzzleIsExplained(t *testing.T) {
	c := carrierOf(t, lab.Virtual, 1)
	h2 := mustOK(t, c.Carry(t.Context(), cellRun(t, lab.Virtual, "intercontinental", "ten-small", lab.H2, 1)))
	h3 := mustOK(t, c.Carry(t.Context(), cellRun(t, lab.Virtual, "intercontinental", "ten-small", lab.H3, 1)))
	left := *h2.Value(lab.Duration) - *h3.Value(lab.Duration)
	whole := left
	for _, term := range (theory{}).Explain(h2.Run.Cell, h3.Run.Cell) {
		left -= term.Seconds
	}
	if math.Abs(left) > 0.01*whole {
		t.Errorf("%.1f ms of %.1f are not explained", left*1e3, whole*1e3)
	}
}
