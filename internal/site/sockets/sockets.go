// Package sockets is the operating system's own network, for the embedded
// server and client wherever they run as programs of their own: in a host of
// the site kernel, or on a real machine.
//
// In go addresses; out come TCP and UDP sockets, and what the operating system
// says of them. Sockets are plain: TCP without keep-alive probes and without
// multipath, so that a packet on the wire is one that the load caused.
//
// Not modelled: name resolution, proxies, socket options. Congestion control
// and initial window are the route's or the system's; they are only read back.
package sockets

import (
	"context"
	"net"
	"net/netip"

	"github.com/samewire/samewire/internal/lab"
)

// Net is the operating system's network. The zero value is ready for use. Its
// errors are those of package net: they name operation and address, and wrap
// the system's.
type Net struct{}

// Listen listens for TCP connections. An unspecified IPv6 address takes IPv4
// too where the system does so; port 0 is any free one.
func (Net) Listen(addr netip.AddrPort) (net.Listener, error) {
	c := net.ListenConfig{KeepAlive: -1}
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), network("tcp", addr), addr.String())
}

// ListenPacket opens a UDP socket, with addr as in Listen.
func (Net) ListenPacket(addr netip.AddrPort) (net.PacketConn, error) {
	return net.ListenPacket(network("udp", addr), addr.String())
}

// Dial opens a TCP connection. It gives up when ctx ends, or the system does.
func (Net) Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{KeepAlive: -1}
	d.SetMultipathTCP(false)
	return d.DialContext(ctx, network("tcp", addr), addr.String())
}

// Sender reads back the congestion control of a TCP connection, and its window
// in segments: the initial window, as long as nothing was sent. False where
// the system does not tell, or c is no connection of it.
func (Net) Sender(c net.Conn) (lab.Sender, bool) { return sender(c) }

// UDPReceiveBuffer reads back the receive buffer of a UDP socket in bytes, as
// the system counts it: Linux includes its own overhead, and so doubles what
// was asked for (socket(7)). False where the system does not tell.
func (Net) UDPReceiveBuffer(c net.PacketConn) (int, bool) { return udpReceiveBuffer(c) }

// network names the address family, since Go takes an unspecified IPv4
// address for one of IPv6 too.
func network(transport string, addr netip.AddrPort) string {
	if addr.Addr().Is4() {
		return transport + "4"
	}
	return transport
}
