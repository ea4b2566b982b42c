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
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/samewire/samewire/internal/lab"
)

// web is a server of one small object and a client that fetches it, with what
// the embedded ones cannot be told to do.
type web struct {
	Protocol lab.Protocol
	Version  uint16        // of TLS; 0: 1.3
	Cert     int           // bytes of the server's certificate; 0: as small as it is
	Offers   []tls.CurveID // of the client; nil: Go's own
	Takes    []tls.CurveID // of the server
	Retry    bool          // the server answers with Retry
	Versions []quic.Version
	// Again: the client fetches the object on one connection, and then on another
	// one that resumes it; Early: with the request as early data.
	Again, Early bool
	Reject       bool // the server does not take early data the second time
}

// certificate makes a certificate of so many bytes and a little more.
func certificate(size int) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
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
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// webServer is the server of a web.
type webServer struct {
	web
	cert tls.Certificate
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })

func (s webServer) Start(host *Host, _ lab.Run) (Running, error) {
	at := netip.AddrPortFrom(host.Addr(), lab.Port)
	conf := &tls.Config{Certificates: []tls.Certificate{s.cert}, CurvePreferences: s.Takes, MaxVersion: s.Version, NextProtos: []string{"http/1.1"}}
	if s.Protocol == lab.H3 {
		return s.startQUIC(host, at, http3.ConfigureTLSConfig(conf))
	}
	l, err := host.Listen(at)
	if err != nil {
		return nil, err
	}
	var speaks http.Protocols
	speaks.SetHTTP1(s.Protocol == lab.H1)
	speaks.SetHTTP2(s.Protocol == lab.H2)
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
	if s.Retry {
		transport.VerifySourceAddress = func(net.Addr) bool { return true }
	}
	q := &quic.Config{Allow0RTT: true, Versions: []quic.Version{quic.Version1}}
	if s.Reject {
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
		InsecureSkipVerify: true, ServerName: lab.ServerName, CurvePreferences: c.Offers, MaxVersion: c.Version,
		ClientSessionCache: ticketLog{tls.NewLRUClientSessionCache(8), host.Tracing().Keys}, KeyLogWriter: host.Tracing().Keys,
	}
	n := 1
	if c.Again {
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
	if c.Protocol == lab.H3 {
		return c.getQUIC(ctx, host, at, http3.ConfigureTLSConfig(conf), c.Early && i > 0)
	}
	var speaks http.Protocols
	speaks.SetHTTP1(c.Protocol == lab.H1)
	speaks.SetHTTP2(c.Protocol == lab.H2)
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
	conn, err := dial(ctx, net.UDPAddrFromAddrPort(at), conf, &quic.Config{Versions: c.Versions})
	if err != nil {
		return err
	}
	if c.Reject && early {
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

// over is the job of a web over a path of so much round-trip time.
func (w web) over(rtt time.Duration) job { return job{Path: path(rtt, 0, 0), Web: &w} }

// site makes the server and the client of a web.
func (w web) site() (Site, error) {
	cert, err := certificate(w.Cert)
	return Site{Server: webServer{w, cert}, Client: webClient{w}}, err
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
