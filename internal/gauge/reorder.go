package gauge

import (
	"math"
	"math/rand/v2"

	"github.com/samewire/samewire/internal/lab"
)

// reorderTrials is how often what is asked of reordering is drawn.
const reorderTrials = 60

// reorderOf is the share of the arrived datagrams that arrive after a later one
// when they are sent at the times sent (ns), and its standard deviation from one
// train to another. There is no closed form for a train whose spacing is the
// machine's: it is drawn, each delay on its own, from the asked distribution.
func reorderOf(w lab.Way, sent []int64, r *rand.Rand) (share, sd float64) {
	g := delayGrid(lab.Way{Delay: w.Delay, Jitter: w.Jitter})
	at := make([]int64, len(sent))
	shares := make([]float64, reorderTrials)
	for t := range shares {
		draw(w, g, sent, at, r)
		shares[t] = float64(overtaken(at)) / float64(max(len(at), 1))
	}
	share, sd, _ = moments(shares)
	return share, sd
}

// draw fills at with when datagrams sent at the times sent would arrive.
func draw(w lab.Way, g grid, sent, at []int64, r *rand.Rand) {
	gap := max(w.Reorder.Gap, 1)
	early, fresh := false, true
	latest := int64(math.MinInt64)
	phase := r.IntN(gap)
	for i, t := range sent {
		chance := (i+phase)%gap == 0
		if chance && (fresh || r.Float64() >= w.Reorder.Correlation) {
			early, fresh = r.Float64() < w.Reorder.Share, false
		}
		if chance && early {
			at[i] = t
			continue
		}
		at[i] = t + int64(g[r.IntN(len(g))]*1e9)
		if w.Jitter.InOrder {
			latest = max(latest, at[i])
			at[i] = latest
		}
	}
}

// overtaken counts those that arrive after a later one. Among equals the order
// is kept.
func overtaken(at []int64) (n int) {
	first := int64(math.MaxInt64) // of all later ones
	for i := len(at) - 1; i >= 0; i-- {
		if at[i] > first {
			n++
		}
		first = min(first, at[i])
	}
	return n
}
