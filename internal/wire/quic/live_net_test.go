package quic

import (
	"bytes"
	"context"
	cryptotls "crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	quicgo "github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// sentDatagram is one datagram that a host of a hub sent.
type sentDatagram struct {
	way      lab.Direction
	from, to netip.AddrPort
	payload  []byte
}

// hub carries datagrams between the packet conns of one test, in memory, and
// keeps a copy of each in the order of sending.
type hub struct {
	mu     sync.Mutex
	conns  map[netip.AddrPort]*hubConn
	server netip.AddrPort
	log    []sentDatagram
	count  int
	drop   func(n int) bool // nil: none
	secret bytes.Buffer
	held   []sentDatagram // of the server, while they are held back
	hold   bool
	logged [2][]*recorder // of the connections of the client and the server
}

func newHub() *hub {
	return &hub{conns: map[netip.AddrPort]*hubConn{}, server: netip.MustParseAddrPort("198.18.0.2:443")}
}

// Write takes lines of a key log.
func (h *hub) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.secret.Write(b)
}

// tickets counts the tickets that the client stored.
func (h *hub) tickets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Count(h.secret.Bytes(), []byte(LabelPSK))
}

func (h *hub) listen(addr string) *hubConn {
	c := &hubConn{hub: h, addr: netip.MustParseAddrPort(addr), in: make(chan sentDatagram, 4096), closed: make(chan struct{})}
	c.deadline.Store(time.Time{})
	h.mu.Lock()
	h.conns[c.addr] = c
	h.mu.Unlock()
	return c
}

func (h *hub) send(d sentDatagram) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.from == h.server {
		d.way = lab.Down
	}
	h.log = append(h.log, d)
	h.count++
	to := h.conns[d.to]
	if to == nil || h.drop != nil && h.drop(h.count) {
		return
	}
	if h.hold && d.way == lab.Down {
		h.held = append(h.held, d)
		return
	}
	to.receive(d)
}

func (c *hubConn) receive(d sentDatagram) {
	select {
	case c.in <- d:
	default:
	}
}

// holdUntilEarly holds the server's datagrams back until the client has sent a stream
// in a 0-RTT packet: a client that is late with its request has 1-RTT keys by then.
func (h *hub) holdUntilEarly() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hold = true
	go func() {
		for range 1000 {
			if h.sentEarly() {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.hold = false
		for _, d := range h.held {
			h.conns[d.to].receive(d)
		}
		h.held = nil
	}()
}

// sentEarly says whether quic-go's client tells of a stream in a 0-RTT packet.
func (h *hub) sentEarly() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.logged[lab.Up] {
		if r.sentEarly() {
			return true
		}
	}
	return false
}

// hubConn is a net.PacketConn of a hub.
type hubConn struct {
	hub      *hub
	addr     netip.AddrPort
	in       chan sentDatagram
	closed   chan struct{}
	once     sync.Once
	deadline atomicTime
}

type atomicTime struct {
	mu   sync.Mutex
	t    time.Time
	wake chan struct{}
}

func (a *atomicTime) Store(t time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.t = t
	if a.wake != nil {
		close(a.wake)
	}
	a.wake = make(chan struct{})
}

func (a *atomicTime) load() (time.Time, chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.t, a.wake
}

func (c *hubConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		t, wake := c.deadline.load()
		var late <-chan time.Time
		if !t.IsZero() {
			late = time.After(time.Until(t))
		}
		select {
		case d := <-c.in:
			return copy(b, d.payload), net.UDPAddrFromAddrPort(d.from), nil
		case <-late:
			return 0, nil, os.ErrDeadlineExceeded
		case <-wake:
		case <-c.closed:
			return 0, nil, net.ErrClosed
		}
	}
}

func (c *hubConn) WriteTo(b []byte, to net.Addr) (int, error) {
	c.hub.send(sentDatagram{from: c.addr, to: to.(*net.UDPAddr).AddrPort(), payload: bytes.Clone(b)})
	return len(b), nil
}

func (c *hubConn) Close() error                       { c.once.Do(func() { close(c.closed) }); return nil }
func (c *hubConn) LocalAddr() net.Addr                { return net.UDPAddrFromAddrPort(c.addr) }
func (c *hubConn) SetDeadline(t time.Time) error      { return c.SetReadDeadline(t) }
func (c *hubConn) SetReadDeadline(t time.Time) error  { c.deadline.Store(t); return nil }
func (c *hubConn) SetWriteDeadline(t time.Time) error { return nil }

// recorder keeps what quic-go's own log says of the packets that one end of a
// connection sent.
type recorder struct {
	mu   sync.Mutex
	sent []qlog.PacketSent
}

func (r *recorder) AddProducer() qlogwriter.Recorder { return r }
func (r *recorder) Close() error                     { return nil }
func (r *recorder) RecordEvent(e qlogwriter.Event) {
	if sent, ok := e.(qlog.PacketSent); ok {
		r.mu.Lock()
		sent.Frames = slices.Clone(sent.Frames)
		r.sent = append(r.sent, sent)
		r.mu.Unlock()
	}
}

func (r *recorder) sentEarly() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.sent, func(p qlog.PacketSent) bool {
		return p.Header.PacketType == qlog.PacketType0RTT && slices.ContainsFunc(p.Frames, func(f qlog.Frame) bool {
			_, ok := f.Frame.(*qlog.StreamFrame)
			return ok
		})
	})
}

func (h *hub) config(versions ...quicgo.Version) *quicgo.Config {
	return &quicgo.Config{
		Versions: versions, Allow0RTT: true, EnableDatagrams: true, MaxIdleTimeout: 20 * time.Second,
		Tracer: func(_ context.Context, client bool, _ quicgo.ConnectionID) qlogwriter.Trace {
			side := lab.Down
			if client {
				side = lab.Up
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			r := &recorder{}
			h.logged[side] = append(h.logged[side], r)
			return r
		},
	}
}

func tlsConfigs(t testing.TB, h *hub) (client, server *cryptotls.Config) {
	t.Helper()
	authority, err := lab.NewAuthority(1)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := cryptotls.X509KeyPair(authority.CertPEM, authority.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.RootPEM)
	client = &cryptotls.Config{
		RootCAs: roots, ServerName: lab.ServerName, NextProtos: []string{"test"}, KeyLogWriter: h,
		ClientSessionCache: &ticketLog{cryptotls.NewLRUClientSessionCache(4), h},
	}
	server = &cryptotls.Config{Certificates: []cryptotls.Certificate{cert}, NextProtos: []string{"test"}}
	return client, server
}

// serve answers each stream with as many bytes as its first 4 bytes ask for.
func serve(t testing.TB, l *quicgo.EarlyListener) {
	for {
		conn, err := l.Accept(context.Background())
		if err != nil {
			return
		}
		go func() {
			for {
				s, err := conn.AcceptStream(context.Background())
				if err != nil {
					return
				}
				go answer(s)
			}
		}()
	}
}

func answer(s *quicgo.Stream) {
	ask, err := io.ReadAll(s)
	if err != nil || len(ask) < 4 {
		return
	}
	n := int(ask[0])<<24 | int(ask[1])<<16 | int(ask[2])<<8 | int(ask[3])
	_, _ = s.Write(make([]byte, n))
	_ = s.Close()
}

func request(t testing.TB, conn *quicgo.Conn, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, err := conn.OpenStreamSync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	got, err := io.ReadAll(s)
	if err != nil || len(got) != n {
		t.Fatalf("read %d of %d bytes: %v", len(got), n, err)
	}
}

func (h *hub) secrets(t testing.TB) *keylog.Log {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	log, err := keylog.Parse(h.secret.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return log
}
