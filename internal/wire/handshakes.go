package wire

import (
	"fmt"
	"net/netip"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// handshakes fills in what the connections' openings showed, how many packets
// could not be read, what was sent again, and the share of the load's content in
// all bytes of the wire.
func (r *Reading) handshakes(a About, f *lab.Wire) {
	f.NotDecodable = 0
	for i := range r.Events {
		if r.Events[i].Problem != "" {
			f.NotDecodable++
		}
	}
	f.Up.Retransmitted, f.Down.Retransmitted = r.again(lab.Up), r.again(lab.Down)
	f.GoodputShare = goodputShare(a, f)
	f.Conversations = make([]lab.Conversation, 0, min(len(r.Connections), lab.MaxConversations))
	for _, c := range r.Connections[:min(len(r.Connections), lab.MaxConversations)] {
		f.Conversations = append(f.Conversations, r.conversation(a, c))
	}
}

// again is the payload that was sent again in a direction; nil where that cannot
// be told: packets are missing, or could not be decrypted.
func (r *Reading) again(d lab.Direction) *int64 {
	n := int64(0)
	if r.Capture.Skipped > 0 {
		return nil
	}
	for i := range r.Events {
		e := &r.Events[i]
		if e.Way != d {
			continue
		}
		n += int64(e.Again)
		if e.IP.Proto != ip.ProtoUDP {
			continue
		}
		for _, p := range e.QUIC {
			if hides(&p) {
				return nil
			}
		}
		if e.Conn < 0 && e.Cut() {
			return nil
		}
	}
	return &n
}

// hides says whether a packet may carry what is not seen.
func hides(p *quic.Packet) bool {
	switch p.Kind {
	case quic.Initial, quic.Handshake, quic.ZeroRTT, quic.OneRTT:
		return !p.Opened
	default:
		return false
	}
}

// goodputShare is the content over all bytes of the wire in its direction.
func goodputShare(a About, f *lab.Wire) *float64 {
	way := f.Down
	if a.Run.Cell.Load.Upload {
		way = f.Up
	}
	if a.Body <= 0 || way.Bytes <= 0 {
		return nil
	}
	share := float64(a.Body) / float64(way.Bytes)
	return &share
}

func (r *Reading) conversation(a About, c *Connection) lab.Conversation {
	v := lab.Conversation{
		Transport: c.Transport, Client: c.Client.String(), Server: c.Server.String(),
		Opened: c.Opened.Seconds(), Packets: len(c.Events), Handshake: r.handshake(a, c),
	}
	if c.Transport == "quic" {
		v.QUIC = r.quicFacts(c)
	}
	return v
}

// handshake says what the TLS handshake showed; nil where nothing of it was seen.
func (r *Reading) handshake(a About, c *Connection) *lab.Handshake {
	h := c.Hello
	if h == nil || h.ClientSize == 0 && h.Version == "" {
		return nil
	}
	out := &lab.Handshake{
		TLS: h.Version, ServerName: h.ServerName, Offered: nonNil(h.Offered), ALPN: h.ALPN,
		Suite: h.Suite, Group: h.Group, ClientSize: ifSeen(h.ClientSize, 1), ServerSize: h.ServerFlight,
		HelloRetry: h.HelloRetry, Resumed: h.Resumed, Tickets: h.Tickets, EarlyBytes: h.EarlyBytes,
	}
	switch {
	case h.EarlyAccepted != nil && *h.EarlyAccepted:
		out.EarlyData = "accepted"
	case h.EarlyOffered && h.EarlyAccepted != nil:
		out.EarlyData = "rejected"
	case h.EarlyOffered:
		out.EarlyData = "offered"
	default:
		out.EarlyData = "none"
	}
	if end := r.chains(a, c).handshake(); end != nil {
		trips := float64(end.trips())
		out.RoundTrips = &trips
	}
	return out
}

// ifSeen is a number that was seen: it is least or more; nil: it was not.
func ifSeen(n, least int) *int {
	if n < least {
		return nil
	}
	return &n
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// keyUpdates is how many key updates there were, of those that each direction's
// packets showed: an update is of both directions, since who sees the other's
// follows (RFC 9001, section 6.2); the last may not have been answered.
func keyUpdates(up, down int) int { return max(up, down) }

// quicFacts says what only QUIC has.
func (r *Reading) quicFacts(c *Connection) *lab.QUICFacts {
	q := c.quic
	f := &lab.QUICFacts{
		Version:    versionName(q.conn.Version()),
		ClientID:   ifSeen(q.conn.IDLength(lab.Up), 0),
		ServerID:   ifSeen(q.conn.IDLength(lab.Down), 0),
		KeyUpdates: keyUpdates(q.conn.KeyUpdates(lab.Up), q.conn.KeyUpdates(lab.Down)),
	}
	began := false // an Initial of the client could be read
	var addresses [2]map[netip.AddrPort]bool
	addresses[lab.Up], addresses[lab.Down] = map[netip.AddrPort]bool{}, map[netip.AddrPort]bool{}
	for _, i := range c.Events {
		e := &r.Events[i]
		addresses[e.Way][clientOf(e).client] = true
		if len(e.QUIC) > 1 && !padded(e.QUIC) {
			f.Coalesced++
		}
		for k := range e.QUIC {
			p := &e.QUIC[k]
			f.Retry = f.Retry || p.Kind == quic.Retry && e.Way == lab.Down
			f.VersionNegotiation = f.VersionNegotiation || p.Kind == quic.VersionNegotiation && e.Way == lab.Down
			if hides(p) && !e.Cut() {
				f.Undecrypted++
			}
			if p.Kind == quic.Initial {
				began = began || p.Opened && e.Way == lab.Up
				smallest(f, e)
			}
		}
	}
	// A NAT shows in what the server sends to, a client that moves in what it sends
	// from.
	f.Migrations = max(len(addresses[lab.Up]), len(addresses[lab.Down]), 1) - 1
	if began {
		r.validation(c).facts(f)
	}
	return f
}

// padded says that all that follows a datagram's first packet is padding.
func padded(list []quic.Packet) bool {
	for _, p := range list[1:] {
		if p.Kind != quic.Unknown || p.Problem != "" {
			return false
		}
	}
	return true
}

// smallest notes the size of a datagram with an Initial.
func smallest(f *lab.QUICFacts, e *Event) {
	at := &f.SmallestInitialUp
	if e.Way == lab.Down {
		at = &f.SmallestInitialDown
	}
	if *at == nil || **at > e.IP.Size {
		size := e.IP.Size
		*at = &size
	}
}

func versionName(v uint32) string {
	switch v {
	case quic.Version1:
		return "1"
	case quic.Version2:
		return "2"
	case 0:
		return ""
	default:
		return fmt.Sprintf("%08x", v)
	}
}
