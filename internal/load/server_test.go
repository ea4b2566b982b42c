package load_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/samewire/samewire/internal/lab"
)

// server is a plain server of all three protocols, with a handler of the
// test's choice.
type server struct {
	addr netip.AddrPort
	conn atomic.Int32 // connections accepted: by TCP, and by QUIC after its handshake
}

// cutKey finds the function that cuts a request's connection.
type cutKey struct{}

func cut(r *http.Request) { r.Context().Value(cutKey{}).(func())() }

// settings change how a server speaks.
type settings struct {
	addr   string   // 127.0.0.1:0 when empty
	protos []string // ALPN on TCP: h2 and http/1.1 when nil
	tls    uint16   // on TCP: 1.3 when zero
}

func serve(t *testing.T, h http.Handler, s settings) *server {
	t.Helper()
	if s.addr == "" {
		s.addr = "127.0.0.1:0"
	}
	if s.protos == nil {
		s.protos = []string{"h2", "http/1.1"}
	}
	if s.tls == 0 {
		s.tls = tls.VersionTLS13
	}
	a, err := lab.NewAuthority(1)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := tls.X509KeyPair(a.CertPEM, a.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	conf := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: s.protos, MinVersion: s.tls, MaxVersion: s.tls}
	quicConf := http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{cert}})

	l, u := listen(t, s.addr)
	srv := &server{addr: netip.MustParseAddrPort(l.Addr().String())}
	tcp := &http.Server{
		Handler: h, ErrorLog: log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			srv.conn.Add(1)
			return context.WithValue(ctx, cutKey{}, func() { _ = c.(*tls.Conn).NetConn().Close() })
		},
	}
	if len(s.protos) == 1 && s.protos[0] == "http/1.1" {
		tcp.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	h3 := &http3.Server{Handler: h, ConnContext: func(ctx context.Context, c *quic.Conn) context.Context {
		srv.conn.Add(1)
		return context.WithValue(ctx, cutKey{}, func() { _ = c.CloseWithError(0x102, "") })
	}}
	socket := &quic.Transport{Conn: u}
	q, err := socket.ListenEarly(quicConf, &quic.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = tcp.Serve(tls.NewListener(l, conf)) })
	serving.Go(func() { _ = h3.ServeListener(q) })
	t.Cleanup(func() {
		_, _, _, _ = tcp.Close(), h3.Close(), socket.Close(), u.Close()
		serving.Wait()
	})
	return srv
}

// listen finds a port that is free for TCP and UDP.
func listen(t *testing.T, addr string) (net.Listener, net.PacketConn) {
	t.Helper()
	for range 20 {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			if strings.HasPrefix(addr, "[") && !hasIPv6() {
				t.Skip("this machine has no IPv6 loopback address: ", err)
			}
			t.Fatal(err)
		}
		u, err := net.ListenPacket("udp", l.Addr().String())
		if err == nil {
			return l, u
		}
		_ = l.Close()
	}
	t.Fatal("no port is free for TCP and UDP")
	return nil, nil
}

// config asks for n objects of a size from the server.
func (s *server) config(t *testing.T, p lab.Protocol, n int, size int64) lab.ClientConfig {
	t.Helper()
	a, err := lab.NewAuthority(1)
	if err != nil {
		t.Fatal(err)
	}
	l := lab.Load{Name: "test", Objects: n, Size: size}
	return lab.ClientConfig{
		Addr: s.addr, ServerName: lab.ServerName, RootPEM: a.RootPEM, Protocol: p, TLS: "1.3",
		Load: l, Connections: l.For(p), Timeout: time.Minute,
	}
}

// content is the handler of a server without fault.
func content(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/upload" {
		var check lab.ContentCheck
		_, _ = io.Copy(&check, r.Body)
		_, _ = fmt.Fprintf(w, `{"bytes":%d,"ok":%t}`, check.N, !check.Corrupt)
		return
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/bytes/"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
	_, _ = io.Copy(w, &lab.ContentReader{Size: n})
}

// faults are the ways in which a request can go wrong, and how it has to end.
var faults = map[string]struct {
	outcome lab.Outcome
	status  int
	handler http.HandlerFunc
}{
	"nothing": {lab.OK, 200, content},
	"reset before the header": {lab.Reset, 0, func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}},
	"reset in the body": {lab.Reset, 200, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(objectSize))
		_, _ = io.Copy(w, &lab.ContentReader{Size: objectSize / 2})
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}},
	"too short": {lab.Reset, 200, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, &lab.ContentReader{Size: objectSize - 1})
	}},
	"too long": {lab.Corrupt, 200, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, &lab.ContentReader{Size: 3 * objectSize})
	}},
	"one byte wrong": {lab.Corrupt, 200, func(w http.ResponseWriter, _ *http.Request) {
		b := make([]byte, objectSize)
		lab.FillContent(b, 0)
		b[objectSize-1] ^= 1
		_, _ = w.Write(b)
	}},
	"an error": {lab.Refused, 503, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not today", http.StatusServiceUnavailable)
	}},
	"a long error": {lab.Refused, 500, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write(make([]byte, 200_000))
	}},
	"elsewhere": {lab.Refused, 302, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/bytes/1", http.StatusFound)
	}},
}

// objectSize is the size of the objects that faults are tried on.
const objectSize = 20_000
