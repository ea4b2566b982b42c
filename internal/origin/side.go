package origin

import (
	"net"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/samewire/samewire/internal/lab"
)

// maxSenders bounds what a server that runs for months remembers.
const maxSenders = 4096

// quicSender is what quic-go v0.65.0 sends with: Reno (NewCubicSender is called
// with reno = true in internal/ackhandler/sent_packet_handler.go), backing off
// to 0.7, with 32 packets at first (renoBeta and initialCongestionWindow in
// internal/congestion/cubic_sender.go). Neither can be set.
var quicSender = lab.Sender{Transport: "quic", CC: "reno", InitialWindow: 32, Source: "declared"}

// side gathers what is known of the server's side.
type side struct {
	net Network

	mu      *sync.Mutex
	senders []lab.Sender
	buffer  *int
}

func newSide(n Network) side { return side{net: n, mu: new(sync.Mutex)} }

// tcp takes note of a connection that was just accepted.
func (s *side) tcp(c net.Conn) {
	if sender, ok := s.net.Sender(c); ok {
		s.add(sender)
	}
}

func (s *side) quic() { s.add(quicSender) }

func (s *side) add(sender lab.Sender) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.senders) < maxSenders {
		s.senders = append(s.senders, sender)
	}
}

func (s *side) setBuffer(n Network, c net.PacketConn) {
	if t, ok := n.(bufferTeller); ok {
		if bytes, ok := t.UDPReceiveBuffer(c); ok {
			s.buffer = &bytes
		}
	}
}

// Side returns what is known of the server so far. Its Senders are those of
// the first 4096 connections, in the order of their arrival. Its Window is
// that of one upload with HTTP/2 or HTTP/3.
func (s *Server) Side() lab.Side {
	s.side.mu.Lock()
	defer s.side.mu.Unlock()
	window := int64(streamWindow)
	return lab.Side{
		Program: lab.Program(debug.ReadBuildInfo()), Senders: slices.Clone(s.side.senders),
		UDPReceiveBuffer: s.side.buffer, Window: &window,
	}
}
