package load

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// protocols names what ALPN can negotiate (RFC 7301) as the lab does. A server
// without ALPN speaks HTTP/1.1 (RFC 9112).
var protocols = map[string]lab.Protocol{"": lab.H1, "http/1.1": lab.H1, "h2": lab.H2, "h3": lab.H3}

// dialTCP opens a connection for HTTP/1.1 or HTTP/2. The connection is one of
// net/http's, but made here: its own pool would open an HTTP/2 connection for
// each request that waits.
func (d *dialer) dialTCP(ctx context.Context, c *connection) error {
	c.doing = "open TCP connection"
	plain, err := d.net.Dial(ctx, d.cfg.Addr)
	if err != nil {
		return err
	}
	c.established = time.Now()
	if s, ok := d.net.Sender(plain); ok {
		c.senders = []lab.Sender{s}
	}
	c.doing = "TLS handshake"
	secure := tls.Client(plain, d.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return err
	}
	c.secured = time.Now()
	c.closing = []func(){func() { _ = secure.Close() }}
	chosen := protocols[secure.ConnectionState().NegotiatedProtocol]
	c.protocol = string(chosen)
	if chosen != d.cfg.Protocol {
		return nil
	}
	c.doing = "open HTTP connection"
	client, err := httpConn(ctx, secure, chosen)
	if err != nil {
		return err
	}
	c.RoundTripper = client
	c.closing = []func(){func() { _ = client.Close() }}
	return nil
}

// httpConn makes one HTTP connection of a TLS connection. Its windows are
// net/http's own.
func httpConn(ctx context.Context, secure *tls.Conn, p lab.Protocol) (*http.ClientConn, error) {
	var speaks http.Protocols
	speaks.SetHTTP1(p == lab.H1)
	speaks.SetHTTP2(p == lab.H2)
	t := &http.Transport{
		Protocols: &speaks, DisableCompression: true,
		DialTLSContext: func(context.Context, string, string) (net.Conn, error) { return secure, nil },
	}
	return t.NewClientConn(ctx, "https", secure.RemoteAddr().String())
}
