package gauge

import (
	"fmt"
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// tooFew is a check of which too few probes of an IP size came through the ways,
// one after the other: that is a fault, unless the ways are such that few can be
// expected.
func tooFew(name, direction, unit string, asked float64, got, sent, size int, ways ...lab.Way) Check {
	note := fmt.Sprintf("%d of %d probes came through", got, sent)
	if why := fewExpected(sent, size, ways...); why != "" {
		return unchecked(name, direction, unit, asked, math.NaN(), got, note+"; "+why)
	}
	return judge(name, direction, unit, asked, math.NaN(), 0, got, note)
}

// fewExpected is why a statistic's fewest of the probes that were sent may well
// not come through ways that do what they are asked to; empty: they must.
func fewExpected(sent, size int, ways ...lab.Way) string {
	p, variance := 1.0, 0.0 // that a probe comes through; of the share that does, times sent
	for _, w := range ways {
		if why := swallows(w, size); why != "" {
			return why
		}
		m := lossOf(w, lab.IPv4, size, 1)
		q := 1 - m.share
		p, variance = p*q, p*p*m.variance+q*q*variance+variance*m.variance
	}
	n := float64(sent)
	if p < 1 && n*p-sigmas*math.Sqrt(n*variance) < fewest {
		return "the loss is too high"
	}
	return ""
}

// swallows is why a way may well let no UDP packet of an IP size through; empty:
// it must let some through. A token bucket that drops never has room for a
// packet that is larger than the bucket.
func swallows(w lab.Way, size int) string {
	switch {
	case w.Rules != "" || w.Trace != (lab.Trace{}):
		return obstacle(w)
	case w.Rate > 0 && w.Police && w.Burst < int64(wireSize(w, size)),
		throttled(w, lab.UDP) && w.Throttle.BurstBytes() < int64(size):
		return fmt.Sprintf("a packet of %d B is larger than the burst that is let pass", size)
	}
	return ""
}

// judgeReturn judges the one-way delays down, of probes that the server sent back.
// Where too few came up for that nothing is known of the way down: whether that
// is a fault of the way up, its own check says.
func judgeReturn(p lab.Path, size, sent, turned int, delays []float64) []Check {
	if turned >= fewest {
		return judgeDelay(lab.Down, p.Down, size, turned, delays)
	}
	note := fmt.Sprintf("%d of %d probes came up to be sent back", turned, sent)
	if why := fewExpected(sent, size, p.Up); why != "" {
		note += "; " + why
	}
	asked := delayGrid(p.Down).quantile(0.5) + serialisation(p.Down, size)
	return []Check{unchecked(Delay, lab.Down.String(), "s", asked, math.NaN(), len(delays), note)}
}
