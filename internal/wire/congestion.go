package wire

import (
	"fmt"
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// What evidence of congestion control has to be.
const (
	// enoughLosses is how many halvings name Reno without the growth between them: a
	// connection that had little to send falls by as much, whatever controls it.
	enoughLosses = 3
	// smallestWindow is how many full packets must be in flight for a ratio to say
	// something: a window of n is right to within one packet of n.
	smallestWindow = 8
	// fewestRounds is how many round trips without loss a growth is measured over.
	fewestRounds = 6
	// fewestLosses is how many back-offs must have been seen.
	fewestLosses = 2
	// fewestIgnored is how many losses must have been without any response.
	fewestIgnored = 3
	// mostMeasured bounds how many recoveries are measured, the first of a
	// connection, so that no capture can make it expensive.
	mostMeasured = 1000
)

// stretch is a time between two losses, in which the window grew freely.
type stretch struct{ from, to time.Duration }

// congestion writes how the sender reacted to losses, and what that suggests.
//
// Properties that an edit must keep:
//   - a back-off is measured only of a recovery by acknowledgements, with a round
//     trip without any other recovery before and after it, of a sender that had
//     more to send, was not at the receiver's limit, and lost little;
//   - the growth is measured between losses only, never in the first slow start;
//   - what does not fit is not named.
func (h *half) congestion(a About, episodes []episode, s *lab.SenderFacts) {
	if !slices.ContainsFunc(episodes, func(e episode) bool { return e.kind == fastRecovery }) {
		return
	}
	l, tight := levels(h.changes()), h.tight()
	rtt := h.roundTrip(a)
	var ratios, slopes []float64
	for i := range min(len(episodes), mostMeasured) {
		e := &episodes[i]
		next := h.last()
		if i+1 < len(episodes) {
			next = episodes[i+1].begin
		}
		if e.kind != fastRecovery || e.end == Never {
			continue
		}
		if slope, ok := h.slope(l, tight, stretch{e.end, next}); ok {
			slopes = append(slopes, slope)
		}
		alone := (i == 0 || episodes[i-1].end <= e.begin-rtt) && next >= e.end+rtt
		if ratio, ok := h.backoff(l, tight, e, rtt); ok && alone && h.few(e) {
			ratios = append(ratios, ratio)
		}
	}
	if len(ratios) == 0 {
		return
	}
	m := median(ratios)
	s.Backoff = &m
	s.CC, s.CCWhy = guess(ratios, slopes, func() bool { return h.paces(a) })
}

// guess names the congestion control that back-offs and growths (in packets per
// round trip) suggest, and says why.
func guess(ratios, slopes []float64, paces func() bool) (cc, why string) {
	m, n := median(ratios), len(ratios)
	fell := fmt.Sprintf("bytes in flight fell to %.2f of what they were (median of %d losses)", m, n)
	grew := ""
	if len(slopes) > 0 {
		grew = fmt.Sprintf(", and grew by %.2f packets per round trip after them", median(slopes))
	}
	switch {
	case n >= fewestLosses && (len(slopes) > 0 || n >= enoughLosses) && m >= 0.42 && m <= 0.6:
		return "reno", fell + grew + ": Reno halves them (RFC 5681)"
	case n >= fewestLosses && m >= 0.62 && m <= 0.8 && len(slopes) > 0:
		switch g := median(slopes); {
		case g >= 0.85 && g <= 1.2:
			return "reno", fell + grew + ": Reno grows by one packet per round trip; a factor of 0.7 is quic-go's"
		case g <= 0.75 || g >= 1.5:
			return "cubic", fell + grew + ": CUBIC's factor is 0.7, and its growth is not Reno's one packet (RFC 9438)"
		}
	case n >= fewestIgnored && m >= 0.88 && m <= 1.15 && paces():
		return "bbr", fell + ", and packets are paced: BBR does not respond to single losses"
	}
	return "", ""
}

// backoff is what was in flight right after a recovery, over what was in flight in
// the round trip before it.
func (h *half) backoff(l []level, tight []bool, e *episode, rtt time.Duration) (ratio float64, ok bool) {
	before, after := peak(l, e.begin-rtt, e.begin), peak(l, e.end, e.end+rtt/8)
	if before < int64(smallestWindow*h.full) {
		return 0, false
	}
	if h.last() < e.end+2*rtt || anyWithin(h, tight, e.begin-rtt, e.begin) || anyWithin(h, tight, e.end, e.end+rtt) {
		return 0, false
	}
	return float64(after) / float64(before), true
}

// few says whether little was lost in a recovery, at most a quarter of what was in
// flight. After more the sender has too little under way to reach its window by
// the end of the recovery.
func (h *half) few(e *episode) bool {
	again, flight := 0, 0
	for i := e.first; i < len(h.sent) && h.at(i) <= e.end; i++ {
		if h.before[i] >= 0 {
			again += h.sent[i].Bytes
		}
	}
	for i := e.first - 1; i >= 0 && h.gone[i] >= e.begin; i-- {
		flight += h.bytes(i)
	}
	return 4*again <= flight
}

// slope is by how many full packets the flight grew per round trip within a
// stretch, by least squares. A round trip ends when what was sent at its beginning
// is acknowledged, however long the queue makes it.
func (h *half) slope(l []level, tight []bool, s stretch) (slope float64, ok bool) {
	if anyWithin(h, tight, s.from, s.to) {
		return 0, false
	}
	var peaks []float64
	i := h.firstSent(s.from)
	for i < len(h.sent) {
		end := h.sent[i].Acked
		if end == Never || end >= s.to || end <= h.at(i) {
			break
		}
		peaks = append(peaks, float64(peak(l, h.at(i), end-1))/float64(h.full))
		i = h.firstSent(end)
	}
	if len(peaks) < fewestRounds || peaks[0] < smallestWindow/2 {
		return 0, false
	}
	return leastSquares(peaks), true
}

// leastSquares is the slope of the line through the points (0, y0), (1, y1), …
func leastSquares(y []float64) float64 {
	middle, mean := float64(len(y)-1)/2, 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	var up, down float64
	for i, v := range y {
		x := float64(i) - middle
		up += x * (v - mean)
		down += x * x
	}
	return up / down
}

// tight says for each of sent whether the receiver's credit let nothing follow.
func (h *half) tight() []bool {
	c := h.newCredit()
	list := make([]bool, len(h.sent))
	for i := range h.sent {
		c.advance(h.at(i))
		list[i] = c.send(i)
	}
	return list
}

// anyWithin says whether any of what was sent within [from, to] has the property.
func anyWithin(h *half, list []bool, from, to time.Duration) bool {
	for i := h.firstSent(from); i < len(h.sent) && h.at(i) <= to; i++ {
		if list[i] {
			return true
		}
	}
	return false
}

// firstSent is the index of what was sent first at a time or later.
func (h *half) firstSent(at time.Duration) int {
	low, high := 0, len(h.sent)
	for low < high {
		if middle := (low + high) / 2; h.at(middle) < at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// last is when new data was sent for the last time.
func (h *half) last() time.Duration {
	for i := len(h.sent) - 1; i >= 0; i-- {
		if h.sent[i].New > 0 {
			return h.at(i)
		}
	}
	return 0
}

// roundTrip is the connection's usual round trip, queues included: the median.
func (h *half) roundTrip(a About) time.Duration {
	var list []time.Duration
	for _, k := range h.learnt {
		if h.before[k] < 0 && !h.repeated[k] {
			list = append(list, h.sent[k].Acked-h.at(k))
		}
	}
	if len(list) == 0 {
		return a.RTT
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// paces says whether the sender paces.
func (h *half) paces(a About) bool {
	shots, heard := h.r.shots(h.c, h.d)
	var s spacing
	s.add(fullOnes(shots), heard, a, h.d)
	paced, _ := s.verdict()
	return paced != nil && *paced
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
