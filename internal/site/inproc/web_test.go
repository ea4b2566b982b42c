package inproc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/samewire/samewire/internal/lab"
)

// web is a server of one small object and a client that fetches it, with what
// the embedded ones cannot be told to do.
type web struct {
	protocol lab.Protocol
	version  uint16        // of TLS; 0: 1.3
	cert     int           // bytes of the server's certificate; 0: as small as it is
	offers   []tls.CurveID // of the client; nil: Go's own
	takes    []tls.CurveID // of the server
	retry    bool          // the server answers with Retry
	versions []quic.Version
	// again: the client fetches the object on one connection, and then on another
	// one that resumes it; early: with the request as early data.
	again, early bool
	reject       bool // the server does not take early data the second time
}

// certificate makes a certificate of so many bytes and a little more.
func certificate(t *testing.T, size int) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: lab.ServerName}, DNSNames: []string{lab.ServerName},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), IsCA: true, BasicConstraintsValid: true,
	}
	if pad := size - 400; pad > 0 {
		noise := make([]byte, pad)
		_, _ = rand.Read(noise)
		template.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 1}, Value: noise}}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// webServer is the server of a web.
type webServer struct {
	web
	cert tls.Certificate
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })

func (s webServer) Start(host *Host, _ lab.Run) (Running, error) {
	at := netip.AddrPortFrom(host.Addr(), lab.Port)
	conf := &tls.Config{Certificates: []tls.Certificate{s.cert}, CurvePreferences: s.takes, MaxVersion: s.version, NextProtos: []string{"http/1.1"}}
	if s.protocol == lab.H3 {
		return s.startQUIC(host, at, http3.ConfigureTLSConfig(conf))
	}
	l, err := host.Listen(at)
	if err != nil {
		return nil, err
	}
	var speaks http.Protocols
	speaks.SetHTTP1(s.protocol == lab.H1)
	speaks.SetHTTP2(s.protocol == lab.H2)
	server := &http.Server{Handler: hello, TLSConfig: conf, Protocols: &speaks}
	done := make(chan error, 1)
	go func() { done <- server.ServeTLS(l, "", "") }()
	return closer(func() error { return errors.Join(server.Close(), notClosed(<-done)) }), nil
}

func notClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, quic.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (s webServer) startQUIC(host *Host, at netip.AddrPort, conf *tls.Config) (Running, error) {
	u, err := host.ListenPacket(at)
	if err != nil {
		return nil, err
	}
	transport := &quic.Transport{Conn: u}
	if s.retry {
		transport.VerifySourceAddress = func(net.Addr) bool { return true }
	}
	q := &quic.Config{Allow0RTT: true, Versions: []quic.Version{quic.Version1}}
	if s.reject {
		var connections atomic.Int32
		q.GetConfigForClient = func(*quic.ClientInfo) (*quic.Config, error) {
			return &quic.Config{Versions: q.Versions, Allow0RTT: connections.Add(1) == 1}, nil
		}
	}
	l, err := transport.ListenEarly(conf, q)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	server := &http3.Server{Handler: hello}
	done := make(chan error, 1)
	go func() { done <- server.ServeListener(l) }()
	return closer(func() error {
		return errors.Join(server.Close(), l.Close(), transport.Close(), u.Close(), notClosed(<-done))
	}), nil
}

// closer is a Running that only can be closed.
type closer func() error

func (closer) Side() lab.Side { return lab.Side{} }
func (c closer) Close() error { return c() }

// webClient is the client of a web.
type webClient struct{ web }

func (c webClient) Get(ctx context.Context, host *Host, run lab.Run) lab.Report {
	_, addr := run.Cell.Path.Family.Hosts()
	start := time.Now()
	conf := &tls.Config{
		InsecureSkipVerify: true, ServerName: lab.ServerName, CurvePreferences: c.offers, MaxVersion: c.version,
		ClientSessionCache: ticketLog{tls.NewLRUClientSessionCache(8), host.Tracing().Keys}, KeyLogWriter: host.Tracing().Keys,
	}
	n := 1
	if c.again {
		n = 2
	}
	for i := range n {
		if err := c.get(ctx, host, netip.AddrPortFrom(addr, lab.Port), conf, i); err != nil {
			return lab.Report{Error: err.Error()}
		}
	}
	return lab.Report{
		Requests: []lab.Request{{Bytes: 5}}, Duration: time.Since(start).Seconds(),
	}
}

func (c webClient) get(ctx context.Context, host *Host, at netip.AddrPort, conf *tls.Config, i int) error {
	if c.protocol == lab.H3 {
		return c.getQUIC(ctx, host, at, http3.ConfigureTLSConfig(conf), c.early && i > 0)
	}
	var speaks http.Protocols
	speaks.SetHTTP1(c.protocol == lab.H1)
	speaks.SetHTTP2(c.protocol == lab.H2)
	h := &http.Transport{TLSClientConfig: conf.Clone(), Protocols: &speaks, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return host.Dial(ctx, at)
	}}
	defer h.CloseIdleConnections()
	return fetch(ctx, h, http.MethodGet)
}

func (c webClient) getQUIC(ctx context.Context, host *Host, at netip.AddrPort, conf *tls.Config, early bool) error {
	u, err := host.ListenPacket(netip.AddrPortFrom(host.Addr(), 0))
	if err != nil {
		return err
	}
	transport := &quic.Transport{Conn: u}
	defer func() { _, _ = transport.Close(), u.Close() }()
	dial, method := transport.Dial, http.MethodGet
	if early {
		dial, method = transport.DialEarly, http3.MethodGet0RTT
	}
	conn, err := dial(ctx, net.UDPAddrFromAddrPort(at), conf, &quic.Config{Versions: c.versions})
	if err != nil {
		return err
	}
	if c.reject && early {
		if conn, err = rejected(ctx, conn); err != nil {
			return err
		}
		method = http.MethodGet
	}
	err = fetch(ctx, (&http3.Transport{}).NewClientConn(conn), method)
	// What comes with or after the response is to be read as well: tickets.
	time.Sleep(20 * time.Millisecond)
	return errors.Join(err, conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), ""))
}

// rejected sends a request as early data, which is rejected: a HEADERS frame.
func rejected(ctx context.Context, conn *quic.Conn) (*quic.Conn, error) {
	s, err := conn.OpenStream()
	if err == nil {
		_, err = s.Write([]byte{1, 2, 0, 0})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return nil, err
	}
	return conn.NextConnection(ctx)
}

func fetch(ctx context.Context, trip http.RoundTripper, method string) error {
	req, err := http.NewRequestWithContext(ctx, method, "https://"+lab.ServerName+"/", nil)
	if err != nil {
		return err
	}
	resp, err := trip.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && string(body) != "hello" {
		err = fmt.Errorf("got %q", body)
	}
	return err
}

// facts carries out a web over a path, in real time.
func (w web) facts(t *testing.T, p lab.Path) lab.Wire {
	t.Helper()
	run := lab.Run{Seed: 1, Timeout: time.Minute, Cell: lab.Cell{
		Path: p, Protocol: w.protocol, Load: lab.Load{Objects: 1, Size: 5, Warm: w.again}, Stack: lab.Stack{CC: "cubic", InitCwnd: 10},
	}}
	site := &Site{Server: webServer{w, certificate(t, w.cert)}, Client: webClient{w}}
	hosts, err := site.Open(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hosts.Close() })
	if err := hosts.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := hosts.Get(t.Context())
	if err != nil || report.Error != "" {
		t.Fatalf("get: %v %s", err, report.Error)
	}
	return hosts.Facts().Wire
}

// ticketLog logs the pre-shared keys of the tickets that a client stores.
type ticketLog struct {
	tls.ClientSessionCache
	keys io.Writer
}

func (l ticketLog) Put(name string, s *tls.ClientSessionState) {
	l.ClientSessionCache.Put(name, s)
	if s == nil {
		return
	}
	ticket, state, err := s.ResumptionState()
	if err != nil {
		return
	}
	if b, err := state.Bytes(); err == nil {
		// Version, type, suite and time come first, in 13 bytes; see SessionState.Bytes.
		psk := b[14 : 14+int(b[13])]
		_, _ = fmt.Fprintf(l.keys, "SAMEWIRE_RESUMPTION_PSK %x %x\n", sha256.Sum256(ticket), psk)
	}
}
