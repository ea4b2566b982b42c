package inproc

import (
	"testing"
	"time"
)

func TestVirtualReplays(t *testing.T) {
	const replays = 20
	var jobs []job
	for _, loss := range []float64{0, 0.01, 0.05} {
		for _, seed := range []uint64{1, 2} {
			jobs = append(jobs, job{Path: path(40*time.Millisecond, 1e8, loss), Seed: seed, Size: 1e6, Datagram: 1000, Times: replays})
		}
	}
	answers, _ := virtually(t, jobs...)
	digests := map[string]bool{}
	for i, j := range jobs {
		first := answers[i][0]
		for n, a := range answers[i] {
			if a.Error != first.Error {
				t.Errorf("loss %g, seed %d: replay %d: %s; first: %s", j.Path.Down.Loss.Share, j.Seed, n, a.Error, first.Error)
			}
			if a.Facts.Wire.Digest != first.Facts.Wire.Digest || a.Last != first.Last {
				t.Errorf("loss %g, seed %d: replay %d differs: %v %+v; first: %v %+v",
					j.Path.Down.Loss.Share, j.Seed, n, a.Last, a.Facts.Wire, first.Last, first.Facts.Wire)
			}
		}
		if last := answers[i][replays-1]; last.Goroutines > 1 {
			t.Errorf("loss %g, seed %d: %d goroutines left", j.Path.Down.Loss.Share, j.Seed, last.Goroutines)
		}
		lost := first.Facts.Wire.Down.Drops["loss"]
		if (j.Path.Down.Loss.Share > 0) != (lost > 0) {
			t.Errorf("loss %g, seed %d: %d packets lost", j.Path.Down.Loss.Share, j.Seed, lost)
		}
		digests[first.Facts.Wire.Digest] = true
	}
	// Without loss the two seeds may well have the same packets.
	if len(digests) < len(jobs)-1 {
		t.Errorf("only %d digests of %d different runs", len(digests), len(jobs))
	}
}
