package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/samewire/samewire/internal/lab"
)

// Network is what a server listens on.
type Network interface {
	// Listen listens for TCP connections. Port 0 means any free one.
	Listen(addr netip.AddrPort) (net.Listener, error)
	// ListenPacket opens a UDP socket.
	ListenPacket(addr netip.AddrPort) (net.PacketConn, error)
	// Sender reads back congestion control and initial window of a fresh TCP
	// connection; false where they cannot be known.
	Sender(net.Conn) (lab.Sender, bool)
}

// bufferTeller is a Network that can tell the receive buffer of a UDP socket.
type bufferTeller interface {
	UDPReceiveBuffer(net.PacketConn) (bytes int, ok bool)
}

// Server is a server that has been started. Its methods are safe for
// concurrent use.
type Server struct {
	addr netip.AddrPort
	cert []byte
	side side

	tcp      *http.Server
	quic     *http3.Server
	listener *quic.EarlyListener
	socket   *quic.Transport

	closing atomic.Bool
	close   func() error // once
	running sync.WaitGroup
	handler *handler
}

// Start starts a server that listens when Start returns. Port 0 means any port
// that is free for TCP and UDP. Without a certificate in cfg the server makes
// one of its own: see Server.Certificate.
func Start(n Network, cfg lab.ServerConfig) (*Server, error) {
	cert, err := certificate(cfg)
	if err != nil {
		return nil, err
	}
	tcpTLS, quicTLS, err := tlsConfigs(cfg, cert)
	if err != nil {
		return nil, err
	}
	listener, socket, err := listen(n, cfg.Addr)
	if err != nil {
		return nil, err
	}
	s := &Server{addr: listenAddr(listener, cfg.Addr), cert: certificatePEM(cert), side: newSide(n)}
	s.handler = &handler{altSvc: altSvc(s.addr.Port())}
	s.close = sync.OnceValue(s.shutdown)
	s.socket = &quic.Transport{Conn: socket}
	s.listener, err = s.socket.ListenEarly(http3.ConfigureTLSConfig(quicTLS), quicConfig(cfg.Tracing))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for QUIC: %w", err), listener.Close(), s.socket.Close(), socket.Close())
	}
	s.side.setBuffer(n, socket)
	s.tcp = &http.Server{
		Handler: s.handler, TLSConfig: tcpTLS, HTTP2: http2Config(),
		ReadHeaderTimeout: handshakeLimit, IdleTimeout: idleLimit,
		ConnState: s.connState, ErrorLog: log.New(io.Discard, "", 0),
	}
	s.quic = &http3.Server{Handler: s.handler, ConnContext: s.quicConnected, Logger: slog.New(slog.DiscardHandler)}
	s.running.Go(func() { _ = s.tcp.ServeTLS(watched{listener, s.tcpAccepted}, "", "") })
	s.running.Go(func() { _ = s.quic.ServeListener(s.listener) })
	return s, nil
}

// Addr is the address that the server listens on, for TCP and UDP.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// Certificate returns the server's certificate in PEM, for clients that have to
// trust one which the server made itself.
func (s *Server) Certificate() []byte { return s.cert }

// Close ends the server, open requests included. It returns when all its
// connections and requests have ended. Only the first call does something.
func (s *Server) Close() error { return s.close() }

func (s *Server) shutdown() error {
	s.closing.Store(true)
	err := errors.Join(
		s.tcp.Close(),
		s.quic.Close(), // says goodbye on open connections
		s.listener.Close(),
		s.socket.Close(),
		s.socket.Conn.Close(),
	)
	s.running.Wait()
	s.handler.wait()
	if err != nil {
		return fmt.Errorf("close server: %w", err)
	}
	return nil
}

// connState counts the connections on TCP, so that Close can wait for them.
func (s *Server) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.running.Add(1) // not after Close: the goroutine that accepts is counted too
		if s.closing.Load() {
			_ = c.Close() // net/http may have looked for open connections before this one
		}
	case http.StateClosed, http.StateHijacked:
		s.running.Done()
	}
}

func (s *Server) tcpAccepted(c net.Conn) { s.side.tcp(c) }

func (s *Server) quicConnected(ctx context.Context, _ *quic.Conn) context.Context {
	s.side.quic()
	return ctx
}

// watched is a listener that shows each connection before it is served.
type watched struct {
	net.Listener
	see func(net.Conn)
}

func (l watched) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.see(c)
	}
	return c, err
}
