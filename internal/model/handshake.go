package model

// handshake is how a connection is opened.
//
// Round trips before a request can be sent:
//   - TCP: one (RFC 9293, section 3.5). Fast Open (RFC 7413) is not modelled.
//   - TLS 1.3: one (RFC 8446, section 2), none where early data is accepted
//     (section 2.3). Resumption alone saves bytes and computing, no round trip.
//   - TLS 1.2: two (RFC 5246, section 7.3), one where a session is resumed.
//   - QUIC has TLS 1.3 inside, and no round trip of its own (RFC 9001, section
//     4.1); none at all with 0-RTT (RFC 9000, section 5).
//   - Retry costs one more (RFC 9000, section 8.1.2), and early data is not lost
//     by it.
//   - A QUIC server may send three times what it has received until the client's
//     address is validated (RFC 9000, section 8.1). What is left of its flight
//     waits for one more round trip, whatever there is of it: the client's answer
//     validates the address. A Retry has validated it already. With 0-RTT the
//     request does not wait for the flight, but the answer to it does.
type handshake struct {
	QUIC        bool
	TLS12       bool // not with QUIC
	Resumed     bool
	Early       bool  // early data is sent and accepted; needs Resumed
	Retry       bool  // QUIC only
	Flight      int64 // bytes of the server's first flight, the chain above all; 0 is little
	ClientBytes int64 // UDP bytes of the client's first flight; 0 is one datagram of 1200 B
}

// initialDatagram is the least size of a datagram with a client's Initial packet,
// in bytes (RFC 9000, section 14.1).
const initialDatagram = 1200

// amplification is how many times what it received a server may send to an
// address that is not validated (RFC 9000, section 8.1).
const amplification = 3

// roundTrips is how many round trips pass before the request leaves.
func (h handshake) roundTrips() int {
	n := h.secure()
	if !h.QUIC {
		return n + 1
	}
	if h.Retry {
		return n + 1
	}
	if h.Flight > amplification*max(h.ClientBytes, initialDatagram) {
		n++
	}
	return n
}

// secure is the round trips of TLS alone.
func (h handshake) secure() int {
	switch {
	case h.TLS12 && !h.QUIC && h.Resumed:
		return 1
	case h.TLS12 && !h.QUIC:
		return 2
	case h.Early && h.Resumed:
		return 0
	default:
		return 1
	}
}
