package gauge

import (
	"net/netip"

	"github.com/samewire/samewire/internal/lab"
)

// Host is one of two hosts: a network namespace.
type Host interface {
	// Do carries out f in the host's network namespace: sockets made by f are
	// the host's, and may be used from anywhere afterwards.
	Do(f func() error) error
	Addr() netip.Addr
}

// Lab is two hosts and what is known of the path between them.
type Lab struct {
	Client, Server Host
	// Lost counts the packets that the lab itself lost until now, in a
	// direction; nil: not known.
	Lost func(lab.Direction) int
	// Drops counts what the path itself dropped until now in a direction, by
	// reason; nil: not known.
	Drops func(lab.Direction) map[lab.Reason]int
}

// overflowed counts what a way's own limits dropped until now: of those that it
// is asked to have, since what any other drops is a fault.
func (l Lab) overflowed(d lab.Direction, w lab.Way) (n int) {
	if l.Drops == nil {
		return 0
	}
	drops := l.Drops(d)
	for _, r := range limitReasons(w) {
		n += drops[r]
	}
	return n
}

// managed counts what active queue management dropped until now.
func (l Lab) managed(d lab.Direction) int {
	if l.Drops == nil {
		return 0
	}
	return l.Drops(d)[lab.DropAQM]
}

// limitReasons are the reasons for which the limits drop that a way is asked to
// have.
func limitReasons(w lab.Way) (all []lab.Reason) {
	if w.Rate > 0 && !w.Police {
		all = append(all, lab.DropQueue)
	}
	if w.Rate > 0 && w.Police {
		all = append(all, lab.DropPolice)
	}
	if w.AQM != (lab.AQM{}) {
		all = append(all, lab.DropAQM)
	}
	if throttled(w, lab.UDP) {
		all = append(all, lab.DropThrottle)
	}
	if w.Limit > 0 {
		all = append(all, lab.DropLimit)
	}
	return all
}

func (l Lab) lost(d lab.Direction) int {
	if l.Lost == nil {
		return 0
	}
	return l.Lost(d)
}
