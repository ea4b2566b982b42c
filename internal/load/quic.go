package load

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/samewire/samewire/internal/lab"
)

// handshakeLimit is how long a QUIC handshake may be silent: as long as Linux
// tries to open a TCP connection (tcp_syn_retries, ip-sysctl). In all it may
// take twice that (handshakeTimeout in quic-go's config.go, v0.65.0).
//
// Left alone, quic-go gives up after 5 s of silence, or 10 s in all
// (DefaultHandshakeIdleTimeout in internal/protocol/params.go). It probes after
// 0.2 s, then after twice as long each time, so that five flights fit into the
// silence. Handshakes at a round trip of 100 ms then failed 0 in 2,000 times up
// to 20 % loss each way, 1 in 2,000 at 30 %, 12 in 2,000 at 40 %, and always
// where the round trip was above 5 s: the limit had failed, not the protocol.
// With the limit here none of the same 8,000 handshakes did.
const handshakeLimit = 127 * time.Second

// quicIdleTimeout is quic-go's DefaultIdleTimeout (internal/protocol/params.go).
const quicIdleTimeout = 30 * time.Second

// quicSender is what quic-go v0.65.0 sends with: Reno (NewCubicSender is called
// with reno = true in internal/ackhandler/sent_packet_handler.go), backing off
// to 0.7, with 32 packets at first (renoBeta and initialCongestionWindow in
// internal/congestion/cubic_sender.go). Neither can be set.
var quicSender = lab.Sender{Transport: "quic", CC: "reno", InitialWindow: 32, Source: "declared"}

// quicConfig is quic-go's default but for two limits. A connection may be
// silent as long as the load may last: TCP would wait as well, and a run that
// ends after 30 s of silence could not be told from one that was limited to
// 30 s. The server's own limit holds too (RFC 9000, section 10.1). There is no
// keep-alive: what it sends would hide a stall.
func quicConfig(cfg lab.ClientConfig) *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout: handshakeLimit,
		MaxIdleTimeout:       max(quicIdleTimeout, cfg.Timeout),
		MaxIncomingStreams:   -1, // a server opens none in HTTP/3 (RFC 9114, section 6.1)
		Tracer:               tracer(cfg.Tracing.QLog),
	}
}

// dialQUIC opens a connection for HTTP/3, on a socket of its own.
func (d *dialer) dialQUIC(ctx context.Context, c *connection) error {
	c.doing = "open UDP socket"
	socket, err := d.net.ListenPacket(unspecified(d.cfg.Addr))
	if err != nil {
		return err
	}
	c.doing = "QUIC handshake"
	transport := &quic.Transport{Conn: socket}
	c.closing = []func(){func() { _ = transport.Close() }, func() { _ = socket.Close() }}
	conn, err := transport.Dial(ctx, net.UDPAddrFromAddrPort(d.cfg.Addr), d.tls, quicConfig(d.cfg))
	if err != nil {
		return err
	}
	c.secured = time.Now()
	c.senders = []lab.Sender{quicSender}
	c.setBuffer(d.net, socket)
	c.protocol = string(protocols[conn.ConnectionState().TLS.NegotiatedProtocol])
	goodbye := func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") }
	c.closing = append([]func(){goodbye}, c.closing...)
	if c.protocol == string(d.cfg.Protocol) {
		c.RoundTripper = (&http3.Transport{DisableCompression: true}).NewClientConn(conn)
	}
	return nil
}

// unspecified is any address and port of the family of addr.
func unspecified(addr netip.AddrPort) netip.AddrPort {
	if addr.Addr().Is4() {
		return netip.AddrPortFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.AddrPortFrom(netip.IPv6Unspecified(), 0)
}

func (c *connection) setBuffer(n Network, socket net.PacketConn) {
	if t, ok := n.(bufferTeller); ok {
		if bytes, ok := t.UDPReceiveBuffer(socket); ok {
			c.buffer = &bytes
		}
	}
}
