package wire

import "github.com/samewire/samewire/internal/lab"

// roundTrips fills in the round trips to the first response byte of the load and
// to the end of its connection's handshake, with the chain of causes.
func (r *Reading) roundTrips(a About, f *lab.Wire) {
	f.RoundTrips, f.HandshakeRoundTrips, f.Causes = nil, nil, []lab.Cause{}
	k, x, warm, ok := r.firstResponse(a)
	if !ok {
		return
	}
	if !warm {
		f.HandshakeRoundTrips = trips(k.handshake())
	}
	if answer := k.response(x, warm); answer != nil {
		f.RoundTrips, f.Causes = trips(answer.step), r.causes(answer.step)
	}
}

func trips(s *step) *float64 {
	if s == nil {
		return nil
	}
	n := float64(s.trips())
	return &n
}

// firstResponse finds the response of the load whose first byte arrived first.
// It is not ok where there was none, or where one that could not be read may have
// been earlier.
//
// A warm load's connections are opened before it, each with one request: these
// requests are no part of it.
func (r *Reading) firstResponse(a About) (k *chains, x exchange, warm, ok bool) {
	load := a.Run.Cell.Load
	earliest, sealed := -1, -1
	for n, c := range r.Connections {
		of := r.chains(a, c)
		kept := load.Warm && n < load.For(a.Run.Cell.Protocol)
		list := of.exchanges()
		if len(list) == 0 {
			sealed = r.earlier(sealed, r.unread(c))
		}
		for _, e := range list {
			if !e.answered || kept && e.first {
				continue
			}
			at, arrived := r.delivered(e.response.on, e.response.begin, e.response.end)
			if arrived && r.earlier(earliest, at) == at && at != earliest {
				k, x, warm, earliest = of, e, kept, at
			}
		}
	}
	return k, x, warm, earliest >= 0 && (sealed < 0 || r.arrivals(earliest, sealed) < 0)
}

// earlier returns which of two events arrived first; -1 is none.
func (r *Reading) earlier(i, j int) int {
	if i < 0 || j >= 0 && r.arrivals(j, i) < 0 {
		return j
	}
	return i
}

// unread is the first event of the server that may have been a response which
// could not be read; -1: there was none.
func (r *Reading) unread(c *Connection) int {
	found := -1
	for _, u := range c.units[lab.Down] {
		if u.kind != ApplicationData {
			continue
		}
		if i, ok := r.delivered(u.on, u.begin, u.end); ok {
			found = r.earlier(found, i)
		}
	}
	for _, i := range c.Events {
		e := &r.Events[i]
		if e.Way != lab.Down || !e.arrived() {
			continue
		}
		for k := range e.QUIC {
			if p := &e.QUIC[k]; hides(p) && levelOf(p.Kind) == 2 {
				found = r.earlier(found, i)
			}
		}
	}
	return found
}
