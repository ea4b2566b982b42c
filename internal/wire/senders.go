package wire

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// senders writes what each connection shows of its two senders.
func (r *Reading) senders(a About, f *lab.Wire) {
	for i := range min(len(r.Connections), len(f.Conversations)) {
		f.Conversations[i].Up = r.senderFacts(a, i, lab.Up)
		f.Conversations[i].Down = r.senderFacts(a, i, lab.Down)
	}
}

func (r *Reading) senderFacts(a About, conn int, d lab.Direction) (s lab.SenderFacts) {
	if !r.accountable(conn) {
		return s
	}
	h := r.newHalf(conn, d)
	var payload, again int64
	for i := range h.sent {
		payload += int64(h.sent[i].New)
		again += int64(h.sent[i].Again)
	}
	s.Payload, s.Retransmitted = &payload, &again
	if r.oneSided(conn, d) {
		return s
	}
	episodes := h.recoveries()
	s.Recoveries = tally(episodes)
	if r.opening(conn) {
		first := h.firstFlight()
		s.FirstFlight = &first
		s.InitialWindow, s.InitialWindowPackets = h.initialWindow(a)
	}
	h.congestion(a, episodes, &s)
	return s
}

// accountable says whether all that a connection's hosts sent and acknowledged
// is known: nothing was left out of the capture, and each QUIC packet that could
// matter was opened. Of TCP headers are enough.
func (r *Reading) accountable(conn int) bool {
	if r.Capture.Skipped > 0 {
		return false
	}
	c := r.Connections[conn]
	if c.Transport == "tcp" {
		return true
	}
	for _, i := range c.Events {
		e := &r.Events[i]
		if e.Fate.Corrupted || r.ended(e.At) {
			continue // a packet that its receiver cannot open either says nothing
		}
		if len(e.QUIC) == 0 {
			return false
		}
		for j := range e.QUIC {
			if p := &e.QUIC[j]; !p.Opened && sealed(p.Kind) {
				return false
			}
		}
	}
	return true
}

// opening says whether a connection was seen from its beginning: of TCP a SYN of
// either side. QUIC's packets cannot be opened without that.
func (r *Reading) opening(conn int) bool {
	c := r.Connections[conn]
	if c.Transport != "tcp" {
		return true
	}
	for _, i := range c.Events {
		if r.Events[i].IP.TCP.Flags&ip.SYN != 0 {
			return true
		}
	}
	return false
}

// oneSided says whether of a connection nothing was captured but what the host
// sent that sends in direction d, although that shows that it heard the other.
func (r *Reading) oneSided(conn int, d lab.Direction) (heard bool) {
	for _, i := range r.Connections[conn].Events {
		e := &r.Events[i]
		if e.Way != d {
			return false
		}
		heard = heard || e.IP.Proto == ip.ProtoTCP && e.IP.TCP.Flags&ip.ACK != 0
		for k := range e.QUIC {
			kind := e.QUIC[k].Kind
			heard = heard || kind == quic.Handshake || kind == quic.OneRTT
		}
	}
	return heard
}

// ended says whether the load was over at a time: what is sent then closes the
// connections.
func (r *Reading) ended(at time.Duration) bool {
	return r.Capture.End > r.Capture.Start && at >= r.Capture.End
}
