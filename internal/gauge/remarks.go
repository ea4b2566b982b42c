package gauge

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// quicLeast is the largest UDP payload that every QUIC path must carry, in
// bytes (RFC 9000, 14).
const quicLeast = 1200

// Remarks says what of a path may surprise its author, whether or not it is
// what it claims to be.
func Remarks(p lab.Path) (list []string) {
	for _, d := range directions() {
		w := p.Way(d)
		for _, r := range []string{remarkLimit(w), remarkQueue(p, w), remarkMTU(p, w)} {
			if r != "" {
				list = append(list, d.String()+": "+r)
			}
		}
	}
	if list == nil {
		list = []string{}
	}
	return list
}

// remarkLimit names a limit on the packets under way that is less than rate ×
// delay: netem's default of 1000 caps a way of 100 ms at 120 Mbit/s.
func remarkLimit(w lab.Way) string {
	mean, _, _ := delayGrid(w).moments()
	if w.Limit == 0 || mean <= 0 {
		return ""
	}
	most := float64(w.Limit*mtu(w)*8) / mean
	if w.Rate > 0 && most >= float64(w.Rate) {
		return ""
	}
	return fmt.Sprintf("the limit of %d packets caps it at %s (limit × MTU / delay), below its rate: what it drops counts as %s",
		w.Limit, bits(most), lab.DropLimit)
}

// remarkQueue names a queue that is much smaller than rate × RTT.
func remarkQueue(p lab.Path, w lab.Way) string {
	bytes, ok := queueBytes(w, p.RTT(), mtu(w))
	bdp := float64(w.Rate) / 8 * p.RTT().Seconds()
	if !ok || bytes >= bdp/2 {
		return ""
	}
	return fmt.Sprintf("the queue holds %.0f B, %.2f of rate × RTT: one TCP connection can hardly fill the rate, and drops at the queue count as %s",
		bytes, bytes/bdp, lab.DropQueue)
}

// remarkMTU names an MTU that no internet path has, and one below QUIC's least.
func remarkMTU(p lab.Path, w lab.Way) string {
	m := leastMTU(w)
	switch least := quicLeast + headerSize(p.Family == lab.IPv6); {
	case mtu(w) > lab.DefaultMTU:
		return fmt.Sprintf("an MTU of %d B is not an internet MTU", mtu(w))
	case m < least:
		return fmt.Sprintf("QUIC is impossible on an MTU of %d B: it needs %d", m, least)
	}
	return ""
}
