package origin_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/origin"
)

func TestMain(m *testing.M) {
	_ = os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "1")
	os.Exit(m.Run())
}

// loopback is this machine's own network. It says of each TCP connection what
// sender says.
type loopback struct{ sender lab.Sender }

func (loopback) Listen(a netip.AddrPort) (net.Listener, error) {
	return net.Listen("tcp", a.String())
}

func (loopback) ListenPacket(a netip.AddrPort) (net.PacketConn, error) {
	return net.ListenPacket("udp", a.String())
}

func (l loopback) Sender(net.Conn) (lab.Sender, bool) { return l.sender, l.sender.Transport != "" }

func (loopback) UDPReceiveBuffer(net.PacketConn) (int, bool) { return 4711, true }

var cubic = lab.Sender{Transport: "tcp", CC: "cubic", InitialWindow: 10, Source: "socket"}

// config is a lab's, on a free port.
func config(t *testing.T, addr, tlsVersion string) lab.ServerConfig {
	t.Helper()
	a, err := lab.NewAuthority(1)
	if err != nil {
		t.Fatal(err)
	}
	return lab.ServerConfig{
		Addr: netip.MustParseAddrPort(addr), TLS: tlsVersion, CertPEM: a.CertPEM, KeyPEM: a.KeyPEM,
	}
}

func start(t *testing.T, cfg lab.ServerConfig) *origin.Server {
	t.Helper()
	s, err := origin.Start(loopback{cubic}, cfg)
	if err != nil {
		if strings.HasPrefix(cfg.Addr.String(), "[::1]") && !hasIPv6() {
			t.Skip("this machine has no IPv6 loopback address: ", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

// roots trusts the lab's authority of seed 1.
func roots(t *testing.T) *x509.CertPool {
	t.Helper()
	a, err := lab.NewAuthority(1)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.RootPEM)
	return pool
}

// client returns a plain client of the protocol that reaches only server s.
func client(t *testing.T, s *origin.Server, p lab.Protocol, conf *tls.Config) *http.Client {
	t.Helper()
	if p == lab.H3 {
		tr := &http3.Transport{TLSClientConfig: conf, Dial: func(
			ctx context.Context, _ string, t *tls.Config, q *quic.Config,
		) (*quic.Conn, error) {
			return quic.DialAddr(ctx, s.Addr().String(), t, q)
		}}
		t.Cleanup(func() { _ = tr.Close() })
		return &http.Client{Transport: tr}
	}
	var protocols http.Protocols
	protocols.SetHTTP1(p == lab.H1)
	protocols.SetHTTP2(p == lab.H2)
	tr := &http.Transport{
		TLSClientConfig: conf, Protocols: &protocols,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", s.Addr().String())
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func labClient(t *testing.T, s *origin.Server, p lab.Protocol) *http.Client {
	t.Helper()
	return client(t, s, p, &tls.Config{RootCAs: roots(t)})
}

const base = "https://" + lab.ServerName

// reply is a response whose body has been read.
type reply struct {
	status int
	proto  string
	length int64 // as the header has it
	header http.Header
	tls    uint16
	body   string
}

func do(t *testing.T, c *http.Client, method, path string, body io.Reader) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, base+path, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Proto, resp.ContentLength, resp.Header, resp.TLS.Version, string(b)}
}

// noGoroutineLeft fails when more goroutines than before stay.
func noGoroutineLeft(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks())
		}
		time.Sleep(time.Millisecond)
	}
}

// stacks says what all goroutines do.
func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}
