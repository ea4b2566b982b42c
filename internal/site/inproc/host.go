package inproc

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv6"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"

	"github.com/samewire/samewire/internal/lab"
)

// Buffer sizes in bytes. netstack's own for UDP (32 KiB) loses datagrams at
// high rates that no link has dropped.
const (
	bufferMin = 4 << 10
	tcpBuffer = 1 << 20
	udpBuffer = 4 << 20
	bufferMax = 16 << 20
)

// nicID names the only interface of a host.
const nicID = 1

// Host is one of the two hosts of a run: the network that a server or client
// speaks through. It is safe for concurrent use.
type Host struct {
	stack *stack.Stack
	clock *clock
	addr  netip.Addr

	qlog     bool // connections leave qlogs
	tracings tracings
}

// newHost makes a host whose stack is attached to interface n.
func newHost(name string, n *nic, addr netip.Addr, cc string, seed uint64) (*Host, error) {
	c := newClock(n.pump.opened)
	r := newRandom(seed, name)
	h := &Host{clock: c, addr: addr, stack: stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{networkOf(addr)},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol, udp.NewProtocol},
		Clock:              c, RandSource: r, SecureRNG: r,
		HandleLocal: true,
	})}
	if err := h.configure(n, cc); err != nil {
		h.destroy()
		return nil, fmt.Errorf("make %s host: %w", name, err)
	}
	return h, nil
}

func networkOf(a netip.Addr) stack.NetworkProtocolFactory {
	if a.Is4() {
		return ipv4.NewProtocol
	}
	return ipv6.NewProtocol
}

// configure gives the stack its interface, address, route and options.
func (h *Host) configure(n *nic, cc string) error {
	if err := h.stack.CreateNIC(nicID, n); err != nil {
		return fmt.Errorf("create interface: %w", failure(err))
	}
	addr := tcpip.ProtocolAddress{Protocol: n.protocol, AddressWithPrefix: tcpip.AddrFromSlice(n.addr).WithPrefix()}
	if err := h.stack.AddProtocolAddress(nicID, addr, stack.AddressProperties{}); err != nil {
		return fmt.Errorf("add address: %w", failure(err))
	}
	everywhere := header.IPv4EmptySubnet
	if n.protocol == header.IPv6ProtocolNumber {
		everywhere = header.IPv6EmptySubnet
	}
	h.stack.SetRouteTable([]tcpip.Route{{Destination: everywhere, NIC: nicID}})
	if err := h.setTCP(cc); err != nil {
		return err
	}
	size := tcpip.ReceiveBufferSizeOption{Min: bufferMin, Default: udpBuffer, Max: bufferMax}
	if err := h.stack.SetOption(size); err != nil {
		return fmt.Errorf("set UDP receive buffer: %w", failure(err))
	}
	return nil
}

func (h *Host) setTCP(cc string) error {
	var (
		sack     = tcpip.TCPSACKEnabled(true)
		control  = tcpip.CongestionControlOption(cc)
		autotune = tcpip.TCPModerateReceiveBufferOption(true)
		receive  = tcpip.TCPReceiveBufferSizeRangeOption{Min: bufferMin, Default: tcpBuffer, Max: bufferMax}
		send     = tcpip.TCPSendBufferSizeRangeOption{Min: bufferMin, Default: tcpBuffer, Max: bufferMax}
	)
	for _, o := range []tcpip.SettableTransportProtocolOption{&sack, &control, &autotune, &receive, &send} {
		if err := h.stack.SetTransportProtocolOption(tcp.ProtocolNumber, o); err != nil {
			return fmt.Errorf("set TCP option %T: %w", o, failure(err))
		}
	}
	return nil
}

// describe adds what the stack knows to what the host's program said.
func (h *Host) describe(s *lab.Side) {
	size := udpBuffer
	dropped := int(h.stack.Stats().UDP.ReceiveBufferErrors.Value())
	s.UDPReceiveBuffer, s.UDPReceiveErrors = &size, &dropped
}

// destroy ends the stack with all that is open on it. Nothing may send to it
// any more.
func (h *Host) destroy() {
	h.stack.Close()
	h.stack.Destroy()
	h.clock.stop()
}

// Addr returns the host's address.
func (h *Host) Addr() netip.Addr { return h.addr }

// Listen listens on a TCP address. Port 0 means an ephemeral one, an
// unspecified IP address the host's own.
func (h *Host) Listen(addr netip.AddrPort) (net.Listener, error) { return listenTCP(h.stack, addr) }

// ListenPacket opens a UDP socket. Port 0 means an ephemeral one, an
// unspecified IP address the host's own. The result has a SyscallConn, as
// quic-go needs in order to look for the path's MTU, whose Control does nothing.
func (h *Host) ListenPacket(addr netip.AddrPort) (net.PacketConn, error) {
	return listenUDP(h.stack, addr)
}

// Dial opens a TCP connection. The error wraps ctx's when ctx ended first.
func (h *Host) Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	return dialTCP(ctx, h.stack, addr)
}

// Sender reads back what the sending half of a connection really uses. The
// window is the current one: it is the initial window until the first data has
// been acknowledged. It is not ok for what Listen or Dial did not make, and is
// not hidden behind a NetConn method, as in a *tls.Conn.
func (h *Host) Sender(c net.Conn) (s lab.Sender, ok bool) {
	for {
		if t, ok := c.(*tcpConn); ok {
			return t.sender()
		}
		inner, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return lab.Sender{}, false
		}
		c = inner.NetConn()
	}
}
