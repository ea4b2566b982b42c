package inproc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// plainServer speaks the simplest of protocols. Over TCP it reads a number and
// answers with as many bytes; over UDP it sends back what comes.
type plainServer struct{}

func (plainServer) Start(host *Host, run lab.Run) (Running, error) {
	_, addr := run.Cell.Path.Family.Hosts()
	l, err := host.Listen(netip.AddrPortFrom(addr, lab.Port))
	if err != nil {
		return nil, err
	}
	u, err := host.ListenPacket(netip.AddrPortFrom(addr, lab.Port))
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &plainRunning{host: host, listener: l, packets: u}
	s.wait.Add(2)
	go s.accept()
	go s.echo()
	return s, nil
}

type plainRunning struct {
	host     *Host
	listener net.Listener
	packets  net.PacketConn
	wait     sync.WaitGroup

	mu   sync.Mutex
	side lab.Side
	open []net.Conn
}

func (s *plainRunning) accept() {
	defer s.wait.Done()
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		sender, _ := s.host.Sender(c)
		s.mu.Lock()
		s.side.Senders = append(s.side.Senders, sender)
		s.open = append(s.open, c)
		s.wait.Add(1)
		s.mu.Unlock()
		go s.serve(c)
	}
}

func (s *plainRunning) serve(c net.Conn) {
	defer s.wait.Done()
	defer func() { _ = c.Close() }()
	var size [8]byte
	for {
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		left := binary.BigEndian.Uint64(size[:])
		for chunk := make([]byte, 16<<10); left > 0; {
			n, err := c.Write(chunk[:min(left, uint64(len(chunk)))])
			if err != nil {
				return
			}
			left -= uint64(n)
		}
	}
}

func (s *plainRunning) echo() {
	defer s.wait.Done()
	for b := make([]byte, 2048); ; {
		n, from, err := s.packets.ReadFrom(b)
		if err != nil {
			return
		}
		if _, err := s.packets.WriteTo(b[:n], from); err != nil {
			return
		}
	}
}

func (s *plainRunning) Side() lab.Side {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.side
}

func (s *plainRunning) Close() error {
	err := errors.Join(s.listener.Close(), s.packets.Close())
	s.mu.Lock()
	for _, c := range s.open {
		err = errors.Join(err, c.Close())
	}
	s.mu.Unlock()
	s.wait.Wait()
	return err
}

// clientFunc is a client made of one function. Its error is the report's.
type clientFunc func(ctx context.Context, host *Host, server netip.AddrPort) error

func (f clientFunc) Get(ctx context.Context, host *Host, run lab.Run) lab.Report {
	_, addr := run.Cell.Path.Family.Hosts()
	start := time.Now()
	if err := f(ctx, host, netip.AddrPortFrom(addr, lab.Port)); err != nil {
		return lab.Report{Error: err.Error()}
	}
	return lab.Report{Duration: time.Since(start).Seconds()}
}

// plainClient asks for size bytes over one TCP connection, and then sends one
// UDP datagram of datagram bytes, and notes how long each step took.
type plainClient struct {
	size, datagram int

	connect, first, last, udp time.Duration
	sender                    lab.Sender
}

func (p *plainClient) get(ctx context.Context, host *Host, server netip.AddrPort) error {
	start := time.Now()
	c, err := host.Dial(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	p.connect = time.Since(start)
	p.sender, _ = host.Sender(c)
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })
	defer stop()
	if p.size > 0 {
		if err := p.download(c, start); err != nil {
			return err
		}
	}
	if p.datagram > 0 {
		return p.ping(host, server)
	}
	return nil
}

func (p *plainClient) download(c net.Conn, start time.Time) error {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(p.size))
	if _, err := c.Write(size[:]); err != nil {
		return err
	}
	b := make([]byte, 64<<10)
	for got := 0; got < p.size; {
		n, err := c.Read(b)
		if err != nil {
			return fmt.Errorf("after %d bytes: %w", got, err)
		}
		if got == 0 {
			p.first = time.Since(start)
		}
		got += n
	}
	p.last = time.Since(start)
	return nil
}

func (p *plainClient) ping(host *Host, server netip.AddrPort) error {
	u, err := host.ListenPacket(netip.AddrPortFrom(host.Addr(), 0))
	if err != nil {
		return err
	}
	defer func() { _ = u.Close() }()
	start := time.Now()
	if err := u.SetReadDeadline(start.Add(2 * time.Second)); err != nil {
		return err
	}
	if _, err := u.WriteTo(make([]byte, p.datagram), net.UDPAddrFromAddrPort(server)); err != nil {
		return err
	}
	n, _, err := u.ReadFrom(make([]byte, 2048))
	if err != nil {
		return err
	}
	if n != p.datagram {
		return fmt.Errorf("sent %d bytes, got %d back", p.datagram, n)
	}
	p.udp = time.Since(start)
	return nil
}
