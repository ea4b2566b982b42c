package inproc

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"

	"github.com/samewire/samewire/internal/lab"
)

// backlog is how many connections may wait to be accepted.
const backlog = 4096

// tcpConn is gonet's connection with its endpoint in reach.
type tcpConn struct {
	*gonet.TCPConn
	ep tcpip.Endpoint
}

func newTCPConn(q *waiter.Queue, ep tcpip.Endpoint) *tcpConn {
	return &tcpConn{gonet.NewTCPConn(q, ep), ep}
}

// Read implements net.Conn.
func (c *tcpConn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	return n, system(err)
}

// Write implements net.Conn.
func (c *tcpConn) Write(b []byte) (int, error) {
	n, err := c.TCPConn.Write(b)
	return n, system(err)
}

// Close closes the connection, and the timers of its deadlines.
func (c *tcpConn) Close() error {
	err := c.TCPConn.Close()
	_ = c.SetDeadline(time.Time{})
	return err
}

// sender reads back the connection's congestion control and window.
func (c *tcpConn) sender() (lab.Sender, bool) {
	var control tcpip.CongestionControlOption
	var info tcpip.TCPInfoOption
	if c.ep.GetSockOpt(&control) != nil || c.ep.GetSockOpt(&info) != nil {
		return lab.Sender{}, false
	}
	return lab.Sender{Transport: "tcp", CC: string(control), InitialWindow: int(info.SndCwnd), Source: "socket"}, true
}

// dialTCP connects to addr.
func dialTCP(ctx context.Context, s *stack.Stack, addr netip.AddrPort) (net.Conn, error) {
	q := new(waiter.Queue)
	ep, err := s.NewEndpoint(tcp.ProtocolNumber, protocolOf(addr.Addr()), q)
	if err != nil {
		return nil, opError("dial", "tcp", addr, failure(err))
	}
	if err := connect(ctx, ep, q, addr); err != nil {
		ep.Close()
		return nil, opError("dial", "tcp", addr, err)
	}
	return newTCPConn(q, ep), nil
}

func connect(ctx context.Context, ep tcpip.Endpoint, q *waiter.Queue, addr netip.AddrPort) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entry, ready := waiter.NewChannelEntry(waiter.WritableEvents)
	q.EventRegister(&entry)
	defer q.EventUnregister(&entry)
	err := ep.Connect(fullAddress(addr))
	if _, started := err.(*tcpip.ErrConnectStarted); started {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ready:
		}
		err = ep.LastError()
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

// tcpListener accepts connections whose endpoint is in reach.
type tcpListener struct {
	ep     tcpip.Endpoint
	queue  *waiter.Queue
	addr   *net.TCPAddr
	once   sync.Once
	closed chan struct{}
}

func listenTCP(s *stack.Stack, addr netip.AddrPort) (net.Listener, error) {
	q := new(waiter.Queue)
	ep, err := s.NewEndpoint(tcp.ProtocolNumber, protocolOf(addr.Addr()), q)
	if err != nil {
		return nil, opError("listen", "tcp", addr, failure(err))
	}
	if err := ep.Bind(fullAddress(addr)); err != nil {
		ep.Close()
		return nil, opError("listen", "tcp", addr, failure(err))
	}
	if err := ep.Listen(backlog); err != nil {
		ep.Close()
		return nil, opError("listen", "tcp", addr, failure(err))
	}
	local := addr
	if a, err := ep.GetLocalAddress(); err == nil {
		local = netip.AddrPortFrom(addr.Addr(), a.Port)
	}
	return &tcpListener{ep: ep, queue: q, addr: net.TCPAddrFromAddrPort(local), closed: make(chan struct{})}, nil
}

// Accept implements net.Listener. Its error wraps net.ErrClosed after Close.
func (l *tcpListener) Accept() (net.Conn, error) {
	entry, ready := waiter.NewChannelEntry(waiter.ReadableEvents)
	l.queue.EventRegister(&entry)
	defer l.queue.EventUnregister(&entry)
	for {
		ep, q, err := l.ep.Accept(nil)
		if err == nil {
			return newTCPConn(q, ep), nil
		}
		if _, wait := err.(*tcpip.ErrWouldBlock); !wait {
			return nil, l.failed(failure(err))
		}
		select {
		case <-l.closed:
			return nil, l.failed(net.ErrClosed)
		case <-ready:
		}
	}
}

func (l *tcpListener) failed(err error) error {
	select {
	case <-l.closed:
		err = net.ErrClosed
	default:
	}
	return &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: err}
}

// Close implements net.Listener.
func (l *tcpListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.ep.Close()
	})
	return nil
}

// Addr implements net.Listener.
func (l *tcpListener) Addr() net.Addr { return l.addr }

// fullAddress names an address as netstack does, where no address is empty.
func fullAddress(a netip.AddrPort) tcpip.FullAddress {
	full := tcpip.FullAddress{NIC: nicID, Port: a.Port()}
	if !a.Addr().IsUnspecified() {
		full.Addr = tcpip.AddrFromSlice(a.Addr().AsSlice())
	}
	return full
}

func opError(op, network string, addr netip.AddrPort, err error) error {
	return fmt.Errorf("%s %s %s: %w", op, network, addr, err)
}
