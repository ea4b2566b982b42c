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
// machine's: delays are drawn from the asked distribution, again and again. lost
// says which of them do not arrive.
func reorderOf(w lab.Way, sent []int64, lost []bool, r *rand.Rand) (share, sd float64) {
	d := drawer{way: w, grid: delayGrid(lab.Way{Delay: w.Delay, Jitter: w.Jitter}), random: r}
	at := make([]int64, len(sent))
	shares := make([]float64, reorderTrials)
	for t := range shares {
		d.draw(sent, at)
		late, arrived := overtaken(at, lost)
		shares[t] = float64(late) / float64(max(arrived, 1))
	}
	share, sd, _ = moments(shares)
	return share, sd
}

// drawer draws when the datagrams of a train arrive.
type drawer struct {
	way    lab.Way
	grid   grid // of delay and jitter
	random *rand.Rand
}

// draw fills at with when datagrams sent at the times sent would arrive. What is
// correlated is so through normal numbers (a Gaussian copula): each keeps its
// distribution.
func (d *drawer) draw(sent, at []int64) {
	jitter := correlatedShares(d.way.Jitter.Correlation, d.random)
	early := correlatedShares(d.way.Reorder.Correlation, d.random)
	since := d.random.IntN(max(d.way.Reorder.Gap, 1))
	latest := int64(math.MinInt64)
	for i, t := range sent {
		delay := d.grid.quantile(jitter())
		if early() < d.way.Reorder.Share && since >= d.way.Reorder.Gap-1 {
			at[i], since = t, 0
			continue
		}
		since++
		at[i] = t + int64(delay*1e9)
		if d.way.Jitter.InOrder {
			latest = max(latest, at[i])
			at[i] = latest
		}
	}
}

// correlatedShares returns a source of uniform numbers from 0 to 1, of which
// each is correlated with the one before.
func correlatedShares(rho float64, r *rand.Rand) func() float64 {
	if rho <= 0 {
		return r.Float64
	}
	z := r.NormFloat64()
	return func() float64 {
		z = rho*z + math.Sqrt(1-rho*rho)*r.NormFloat64()
		return 0.5 * math.Erfc(-z/math.Sqrt2)
	}
}

// overtaken counts those that arrive after a later one, and those that arrive.
// Among equals the order is kept.
func overtaken(at []int64, lost []bool) (late, arrived int) {
	first := int64(math.MaxInt64) // of all later ones
	for i := len(at) - 1; i >= 0; i-- {
		if lost[i] {
			continue
		}
		arrived++
		if at[i] > first {
			late++
		}
		first = min(first, at[i])
	}
	return late, arrived
}
