package inproc

import (
	"net"
	"net/netip"
	"syscall"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
)

// udpConn is gonet's UDP socket with a SyscallConn.
type udpConn struct {
	*gonet.UDPConn
}

func listenUDP(s *stack.Stack, addr netip.AddrPort) (net.PacketConn, error) {
	local := fullAddress(addr)
	c, err := gonet.DialUDP(s, &local, nil, protocolOf(addr.Addr()))
	if err != nil {
		return nil, opError("listen", "udp", addr, system(err))
	}
	return &udpConn{c}, nil
}

// Close closes the socket, and the timers of its deadlines.
func (c *udpConn) Close() error {
	err := c.UDPConn.Close()
	_ = c.SetDeadline(time.Time{})
	return err
}

// LocalAddr returns the socket's address. Where that is of no host in particular
// it is without an IP address, as quic-go's qlogs need it: gonet's is of none but
// not nil, at which they panic (toTupleEndpointInfo, quic-go v0.65.0).
func (c *udpConn) LocalAddr() net.Addr {
	a, ok := c.UDPConn.LocalAddr().(*net.UDPAddr)
	if ok && len(a.IP) == 0 {
		a.IP = nil
	}
	return a
}

// SyscallConn returns a connection without a descriptor. quic-go looks for the
// path's MTU only where it could forbid fragmentation through one; here the
// link never fragments.
func (c *udpConn) SyscallConn() (syscall.RawConn, error) { return rawConn{}, nil }

// rawConn is a syscall.RawConn that does nothing, successfully.
type rawConn struct{}

func (rawConn) Control(func(uintptr)) error    { return nil }
func (rawConn) Read(func(uintptr) bool) error  { return nil }
func (rawConn) Write(func(uintptr) bool) error { return nil }
