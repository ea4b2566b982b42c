package wire

import (
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// flightOf is a connection of TLS 1.3 without delays but ms each way, whose
// server sends its flight of 3000 bytes in segments of 500, as many at a time as
// window says, and goes on when all of them are acknowledged.
func flightOf(ms, window int) []seg {
	const up, down = lab.Up, lab.Down
	now := 0
	list := []seg{}
	send := func(s seg) {
		s.at, s.left = now, now+ms
		list = append(list, s)
	}
	send(seg{way: up, flags: syn})
	now += ms
	send(seg{way: down, flags: syn, ack: 1})
	now += ms
	send(seg{way: up, seq: 1, size: 200, ack: 1})
	now += ms
	for sent := 0; sent < 6; {
		for range window {
			if sent < 6 {
				send(seg{way: down, seq: 1 + 500*sent, size: 500, ack: 201})
				sent++
			}
		}
		now += ms
		send(seg{way: up, seq: 201, ack: 1 + 500*sent})
		if sent < 6 {
			now += ms
		}
		window *= 2
	}
	send(seg{way: up, seq: 201, size: 160, ack: 3001})
	now += ms
	send(seg{way: down, seq: 3001, size: 500, ack: 361})
	return list
}

func TestRoundTripsOfAFlightBeyondTheWindow(t *testing.T) {
	for _, c := range []struct{ window, trips int }{{6, 3}, {2, 4}, {1, 5}, {3, 4}} {
		for _, ms := range []int{0, 50} {
			r := spoken(flightOf(ms, c.window), "1.3", tls13)
			// The window of the run's stack is in full segments of 1460 bytes; here they
			// are of 500.
			for d := range r.Connections[0].stream {
				i := r.Connections[0].stream[d].carrier(0)
				r.Events[i].IP.TCP.MSS = 500
			}
			a := About{}
			a.Run.Cell.Stack.InitCwnd = c.window
			var f lab.Wire
			r.roundTrips(a, &f)
			check(t, f, float64(c.trips), float64(c.trips-1))
		}
	}
}

func TestRoundTripsOfAWindowThatIsNotKnown(t *testing.T) {
	// The lab set a window of one segment, but the sender had six under way: what
	// was seen counts.
	r := spoken(flightOf(50, 6), "1.3", tls13)
	for d := range r.Connections[0].stream {
		r.Events[r.Connections[0].stream[d].carrier(0)].IP.TCP.MSS = 500
	}
	a := About{}
	a.Run.Cell.Stack.InitCwnd = 1
	var f lab.Wire
	r.roundTrips(a, &f)
	check(t, f, 3, 2)
}

func TestRoundTripsOfAWarmLoad(t *testing.T) {
	const up, down = lab.Up, lab.Down
	segs := []seg{
		{up, 0, 0, syn, 0, 0, 0}, {down, 0, 0, syn, 0, 0, 1}, {up, 0, 0, 0, 1, 200, 1}, {down, 0, 0, 0, 1, 3000, 201},
		{up, 0, 0, 0, 201, 160, 3001}, {down, 0, 0, 0, 3001, 500, 361},
		{up, 0, 0, 0, 361, 100, 3501}, {down, 0, 0, 0, 3501, 500, 461},
	}
	r := spoken(segs, "1.3", tls13)
	c := r.Connections[0]
	for _, u := range []unit{
		{kind: RequestStart, on: c.stream[up], begin: 361, end: 362, request: 3},
		{kind: RequestEnd, on: c.stream[up], begin: 361, end: 461, request: 3},
		{kind: ResponseStart, on: c.stream[down], begin: 3501, end: 3502, request: 3},
	} {
		d := up
		if u.kind == ResponseStart {
			d = down
		}
		c.units[d] = append(c.units[d], u)
	}
	a := About{Run: lab.Run{Cell: lab.Cell{Protocol: lab.H2, Load: lab.Load{Objects: 1, Size: 1, Warm: true}}}}
	var f lab.Wire
	r.roundTrips(a, &f)
	check(t, f, 1, -1)
	a.Run.Cell.Load.Warm = false
	r.roundTrips(a, &f)
	check(t, f, 3, 2)
}

func TestRoundTripsWithoutSecrets(t *testing.T) {
	const up, down = lab.Up, lab.Down
	segs := []seg{
		{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1}, {down, 150, 200, 0, 1, 3000, 201},
		{up, 200, 250, 0, 201, 60, 3001}, {down, 250, 300, 0, 3001, 60, 261},
		{up, 300, 350, 0, 261, 100, 3061}, {down, 350, 400, 0, 3061, 500, 361},
	}
	for _, c := range []struct {
		version, alpn string
		want          float64
	}{{"1.2", "http/1.1", 4}, {"1.2", "", 4}, {"1.2", "h2", -1}, {"1.3", "http/1.1", -1}} {
		r := spoken(segs, c.version, append(tls12[:6:6],
			said{up, ApplicationData, 261, 361, false}, said{down, ApplicationData, 3061, 3561, false}))
		r.Connections[0].Decrypted, r.Connections[0].Hello.ALPN = false, c.alpn
		var f lab.Wire
		r.roundTrips(About{}, &f)
		if c.want < 0 {
			check(t, f, -1, -1)
			continue
		}
		check(t, f, c.want, 3)
	}
}
