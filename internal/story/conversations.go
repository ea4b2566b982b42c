package story

import (
	"fmt"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// conversations has a few sentences for each connection.
func conversations(p *page, f *lab.Wire) {
	if len(f.Conversations) == 0 {
		return
	}
	p.section("Connections")
	const most = 8
	for i, c := range f.Conversations {
		if i == most {
			p.para("  ", fmt.Sprintf("… and %s; --json has them.", plural(len(f.Conversations)-i, "connection more", "connections more")))
			return
		}
		conversation(p, label(i), c)
	}
}

func conversation(p *page, name string, c lab.Conversation) {
	head := "  " + padRight(name, 4)
	p.para(head, fmt.Sprintf("%s, %s → %s, %s", strings.ToUpper(clean(c.Transport)), clean(c.Client), clean(c.Server),
		plural(c.Packets, "packet", "packets")))
	head = "      "
	if c.Handshake != nil {
		p.para(head, "handshake: "+handshake(c.Handshake))
	} else {
		p.para(head, "handshake: nothing of it was seen")
	}
	if c.QUIC != nil {
		p.para(head, "QUIC: "+quicFacts(c.QUIC))
	}
	p.para(head, "client as a sender: "+senderFacts(c.Up))
	p.para(head, "server as a sender: "+senderFacts(c.Down))
}

func handshake(h *lab.Handshake) string {
	parts := []string{"TLS " + orElse(clean(h.TLS), "of a version that was not seen")}
	add := func(ok bool, format string, a ...any) {
		if ok {
			parts = append(parts, fmt.Sprintf(format, a...))
		}
	}
	add(h.ServerName != "", "for %s", clean(h.ServerName))
	add(h.ALPN != "", "ALPN %s of %s", clean(h.ALPN), several(cleanAll(h.Offered)))
	add(h.ALPN == "" && len(h.Offered) > 0, "ALPN %s offered, the answer cannot be read", several(cleanAll(h.Offered)))
	add(h.Suite != "", "%s", clean(h.Suite))
	add(h.Group != "", "%s", clean(h.Group))
	if h.ClientSize != nil && *h.ClientSize > 0 {
		add(true, "ClientHello of %s", bytesOf(int64(*h.ClientSize)))
	}
	add(h.ServerSize > 0, "server's flight %s", bytesOf(int64(h.ServerSize)))
	add(h.HelloRetry, "with a HelloRetryRequest")
	add(h.Resumed, "resumed")
	add(h.Tickets > 0, "%s", plural(h.Tickets, "session ticket", "session tickets"))
	add(h.EarlyData != "" && h.EarlyData != "none", "early data %s (%s)", clean(h.EarlyData), bytesOf(h.EarlyBytes))
	if h.RoundTrips != nil {
		add(true, "%s", trips(*h.RoundTrips))
	}
	return strings.Join(parts, ", ")
}

func quicFacts(q *lab.QUICFacts) string {
	parts := []string{"version " + orElse(clean(q.Version), "unknown")}
	add := func(ok bool, format string, a ...any) {
		if ok {
			parts = append(parts, fmt.Sprintf(format, a...))
		}
	}
	add(q.ClientID != nil || q.ServerID != nil, "connection IDs of %s (client) and %s (server)", idLength(q.ClientID), idLength(q.ServerID))
	add(q.VersionNegotiation, "after a version negotiation")
	add(q.Retry, "after a Retry")
	if q.SentBefore != nil && q.ReceivedBefore != nil {
		add(true, "before the client's address was validated the server sent %s and received %s",
			bytesOf(*q.SentBefore), bytesOf(*q.ReceivedBefore))
	}
	if q.Amplification != nil {
		add(true, "at most %s times what it had received", number(*q.Amplification))
	}
	add(q.Blocked, "it had to wait for the client")
	if q.SmallestInitialUp != nil {
		add(true, "smallest Initial of the client %s", bytesOf(int64(*q.SmallestInitialUp)))
	}
	if q.SmallestInitialDown != nil {
		add(true, "of the server %s", bytesOf(int64(*q.SmallestInitialDown)))
	}
	add(q.Coalesced > 0, "%s", plural(q.Coalesced, "datagram with several packets", "datagrams with several packets"))
	add(q.KeyUpdates > 0, "%s", plural(q.KeyUpdates, "key update", "key updates"))
	add(q.Migrations > 0, "%s", plural(q.Migrations, "change of the client's address", "changes of the client's address"))
	add(q.Undecrypted > 0, "%s that could not be opened", plural(q.Undecrypted, "packet", "packets"))
	return strings.Join(parts, ", ")
}

// idLength is the length of a connection ID, where it was seen.
func idLength(n *int) string {
	if n == nil {
		return "unknown length"
	}
	return fmt.Sprintf("%d B", *n)
}

func senderFacts(s lab.SenderFacts) string {
	if s.Payload == nil {
		return "its packets could not be read"
	}
	parts := []string{bytesOf(*s.Payload)}
	if s.Retransmitted == nil {
		parts = append(parts, "what was sent again cannot be read")
	} else if *s.Retransmitted > 0 {
		parts = append(parts, bytesOf(*s.Retransmitted)+" again")
	}
	switch {
	case s.InitialWindow != nil && s.InitialWindowPackets != nil:
		parts = append(parts, fmt.Sprintf("initial window %s (%s)", plural(*s.InitialWindowPackets, "packet", "packets"), bytesOf(*s.InitialWindow)))
	case s.FirstFlight != nil && *s.FirstFlight > 0:
		parts = append(parts, fmt.Sprintf("first flight %s (whether a window limited it does not show)", bytesOf(*s.FirstFlight)))
	}
	if r := recoveries(s.Recoveries); r != "" {
		parts = append(parts, "recoveries: "+r)
	}
	if s.Backoff != nil {
		parts = append(parts, "a loss left "+percent(*s.Backoff)+" in flight")
	}
	if s.CC != "" {
		cc := "looks like " + clean(s.CC)
		if s.CCWhy != "" {
			cc += " (" + sentence(s.CCWhy) + ")"
		}
		parts = append(parts, cc)
	}
	return strings.Join(parts, ", ")
}

func recoveries(r *lab.Recoveries) string {
	if r == nil {
		return "cannot be read"
	}
	var parts []string
	for _, c := range []struct {
		n    int
		name string
	}{{r.Fast, "fast retransmit"}, {r.RTO, "retransmission timeout"}, {r.TLP, "tail-loss probe"}, {r.PTO, "probe timeout"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d by %s", c.n, c.name))
		}
	}
	return strings.Join(parts, ", ")
}
