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
}

func (l Lab) lost(d lab.Direction) int {
	if l.Lost == nil {
		return 0
	}
	return l.Lost(d)
}
