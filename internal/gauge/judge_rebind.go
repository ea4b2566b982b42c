package gauge

import (
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// sightings is what the server saw of where the client's datagrams came from.
type sightings struct {
	ports, addresses int           // changes of the port alone, and of the address
	span             time.Duration // of the train in which they were counted, where it was one
	datagrams        int           // that were looked at
}

// rebindsUDP says that a rebinding moves the flows of UDP.
func rebindsUDP(r lab.Rebind) bool {
	return (r.At > 0 || r.Every > 0 || r.Idle > 0) && r.Transport != lab.TCP
}

// idleRounds is how often a flow is left idle to see whether it moves.
const idleRounds = 3

// judgeRebind judges how often the client's address, or its port, changed as the
// server saw it.
func judgeRebind(r lab.Rebind, s sightings) Check {
	got, other := s.ports, s.addresses
	if r.Address {
		got, other = other, got
	}
	asked, tolerance, note := 0.0, 0.0, "no datagram's address or port changed on the way"
	moves, n := s.ports+s.addresses, s.datagrams
	switch {
	case s.datagrams == 0:
		return unchecked(Rebound, Both, "changes", math.NaN(), math.NaN(), 0, "no datagram came through")
	case !rebindsUDP(r):
		if moves > 0 {
			note = "the server sees the client's datagrams come from elsewhere"
		}
		return judge(Rebound, Both, "changes", 0, float64(moves), 0, n, note)
	case r.Every > 0:
		asked, tolerance, note = s.span.Seconds()/r.Every.Seconds(), 1, "in "+s.span.Round(time.Millisecond).String()
	case r.At > 0:
		asked, note = 1, "after "+r.At.String()
	default:
		asked, note = idleRounds-1, "after each pause"
	}
	if other > 0 { // an address for a port, or the reverse, is another rebinding
		c := judge(Rebound, Both, "changes", asked, math.NaN(), tolerance, n, "it is not what changes: the port is")
		if !r.Address {
			c.Note = "it is not what changes: the address is"
		}
		return c
	}
	return judge(Rebound, Both, "changes", asked, float64(got), tolerance, n, note)
}
