package inproc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/samewire/samewire/internal/lab"
)

const alpn = "plain"

// quicServer sends so many bytes on the first stream of each connection.
type quicServer int

func (size quicServer) Start(host *Host, run lab.Run) (Running, error) {
	c, err := run.ServerConfig()
	if err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(c.CertPEM, c.KeyPEM)
	if err != nil {
		return nil, err
	}
	u, err := host.ListenPacket(c.Addr)
	if err != nil {
		return nil, err
	}
	transport := &quic.Transport{Conn: u}
	l, err := transport.Listen(&tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{alpn}}, nil)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	done := make(chan error, 1)
	go func() { done <- serveQUIC(l, int(size)) }()
	return &quicRunning{transport, u, done}, nil
}

func serveQUIC(l *quic.Listener, size int) error {
	for {
		c, err := l.Accept(context.Background())
		if err != nil {
			if errors.Is(err, quic.ErrTransportClosed) || errors.Is(err, quic.ErrServerClosed) {
				err = nil
			}
			return err
		}
		s, err := c.OpenUniStream()
		if err != nil {
			return err
		}
		if _, err := s.Write(make([]byte, size)); err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
}

type quicRunning struct {
	transport *quic.Transport
	socket    net.PacketConn
	done      chan error
}

func (*quicRunning) Side() lab.Side { return lab.Side{} }

func (r *quicRunning) Close() error {
	return errors.Join(r.transport.Close(), r.socket.Close(), <-r.done)
}

// getQUIC reads the first stream of a connection to its end.
func getQUIC(ctx context.Context, host *Host, run lab.Run) (int64, error) {
	c, err := run.ClientConfig()
	if err != nil {
		return 0, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.RootPEM)
	u, err := host.ListenPacket(netip.AddrPortFrom(host.Addr(), 0))
	if err != nil {
		return 0, err
	}
	defer func() { _ = u.Close() }()
	transport := &quic.Transport{Conn: u}
	defer func() { _ = transport.Close() }()
	conn, err := transport.Dial(ctx, net.UDPAddrFromAddrPort(c.Addr),
		&tls.Config{RootCAs: roots, ServerName: c.ServerName, NextProtos: []string{alpn}}, nil)
	if err != nil {
		return 0, err
	}
	s, err := conn.AcceptUniStream(ctx)
	if err != nil {
		return 0, err
	}
	return io.Copy(io.Discard, s)
}

// quicClient is getQUIC as a client.
type quicClient int64

func (size quicClient) Get(ctx context.Context, host *Host, run lab.Run) lab.Report {
	start := time.Now()
	n, err := getQUIC(ctx, host, run)
	if err == nil && n != int64(size) {
		err = errors.New("wrong size")
	}
	if err != nil {
		return lab.Report{Error: err.Error()}
	}
	return lab.Report{Duration: time.Since(start).Seconds()}
}

// quic-go finds the path's MTU, which it does not look for on a socket without
// a SyscallConn: its packets then stay at 1280 bytes.
func TestVirtualQUICFindsPathMTU(t *testing.T) {
	var jobs []job
	for _, f := range []lab.Family{lab.IPv4, lab.IPv6} {
		p := path(10*time.Millisecond, 1e8, 0)
		p.Family = f
		jobs = append(jobs, job{Path: p, Size: 12e6, QUIC: true})
	}
	answers, _ := virtually(t, jobs...)
	for i, j := range jobs {
		a := answers[i][0]
		down := a.Facts.Wire.Down
		if a.Error != "" || down.UDPPackets == 0 || down.UDPPackets != down.Packets || a.Facts.Wire.Connections != 1 {
			t.Fatalf("%s: %+v %s", j.Path.Family, a.Facts.Wire, a.Error)
		}
		// Without discovery no datagram is longer than 1280 bytes.
		if mean := down.Bytes / int64(down.Packets); mean < 1400 {
			t.Errorf("%s: %d packets of %d bytes", j.Path.Family, down.Packets, mean)
		}
		if a.Goroutines != 1 {
			t.Errorf("%s: %d goroutines left", j.Path.Family, a.Goroutines)
		}
	}
}
