package model

import "github.com/samewire/samewire/internal/lab"

// flights are the bytes of IP that pass in each flight until the request has
// arrived, the client's and the server's in turn. They matter at low rates.
type flights [7]float64

// The flights of the embedded programs, as counted on the wire (TLS 1.3 with
// X25519MLKEM768, whose ClientHello takes two packets; a certificate with an
// Ed25519 key). The last flight has the request.
var (
	quicFlights  = flights{2616, 2085, 1626}
	tls13Flights = flights{60, 60, 1655, 1969, 378}
	tls12Flights = flights{60, 60, 360, 900, 300, 230, 210}
)

// request is a request on a connection that is open.
const request = 158

func flightsOf(c lab.Cell) flights {
	switch {
	case c.Load.Warm:
		return flights{request}
	case c.Protocol == lab.H3:
		return quicFlights
	case c.Stack.TLS == "1.2":
		return tls12Flights
	default:
		return tls13Flights
	}
}

// count is the number of flights.
func (f flights) count() int {
	n := 0
	for n < len(f) && f[n] > 0 {
		n++
	}
	return n
}
