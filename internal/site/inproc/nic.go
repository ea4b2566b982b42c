package inproc

import (
	"bytes"
	"net/netip"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"

	"github.com/samewire/samewire/internal/lab"
)

// nic is a host's network interface: what its stack sends goes to the pump.
// It implements stack.LinkEndpoint.
type nic struct {
	pump     *pump
	way      lab.Direction // of what it sends
	mtu      int           // netstack fragments UDP over IPv4 at this size
	peer     *nic
	addr     []byte
	aliases  netip.Prefix // other addresses under which the peer knows this host
	protocol tcpip.NetworkProtocolNumber

	// stack is set before the pump starts and unset after it has ended.
	stack stack.NetworkDispatcher
}

// newNICs makes the interfaces of client and server.
func newNICs(p *pump, path lab.Path) (c, s *nic) {
	client, server := path.Family.Hosts()
	c = &nic{pump: p, way: lab.Up, mtu: path.Up.DeviceMTU(), addr: client.AsSlice(), protocol: protocolOf(client)}
	s = &nic{pump: p, way: lab.Down, mtu: path.Down.DeviceMTU(), addr: server.AsSlice(), protocol: protocolOf(server), peer: c}
	c.aliases = path.Family.Aliases()
	c.peer = s
	p.to = [2]*nic{lab.Up: s, lab.Down: c}
	return c, s
}

func protocolOf(a netip.Addr) tcpip.NetworkProtocolNumber {
	if a.Is4() {
		return header.IPv4ProtocolNumber
	}
	return header.IPv6ProtocolNumber
}

// WritePackets implements stack.LinkEndpoint. It never fails: what does not
// arrive was lost on the link.
func (n *nic) WritePackets(list stack.PacketBufferList) (int, tcpip.Error) {
	for _, b := range list.AsSlice() {
		packet := b.ToView()
		if n.carries(packet.AsSlice()) {
			n.pump.offer(n.way, packet)
			continue
		}
		packet.Release()
		n.pump.foreign(n.way)
	}
	return list.Len(), nil
}

// carries says whether a packet is from this host to the other one, or to an
// address that the path translates to it.
func (n *nic) carries(packet []byte) bool {
	source, size := header.IPv4MinimumSize-8, header.IPv4AddressSize
	if n.protocol == header.IPv6ProtocolNumber {
		source, size = header.IPv6MinimumSize-32, header.IPv6AddressSize
	}
	dest := source + size
	if len(packet) < dest+size || !bytes.Equal(packet[source:dest], n.addr) {
		return false
	}
	to := packet[dest : dest+size]
	return bytes.Equal(to, n.peer.addr) || n.peer.aliased(to)
}

func (n *nic) aliased(addr []byte) bool {
	a, ok := netip.AddrFromSlice(addr)
	return ok && n.aliases.IsValid() && n.aliases.Contains(a)
}

// receive hands a packet that has crossed the link to the stack.
func (n *nic) receive(packet *buffer.View) {
	b := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithView(packet)})
	n.stack.DeliverNetworkPacket(n.protocol, b)
	b.DecRef()
}

// Attach implements stack.LinkEndpoint.
func (n *nic) Attach(s stack.NetworkDispatcher) { n.stack = s }

// IsAttached implements stack.LinkEndpoint.
func (n *nic) IsAttached() bool { return n.stack != nil }

// MTU implements stack.LinkEndpoint.
func (n *nic) MTU() uint32 { return uint32(n.mtu) }

// Capabilities implements stack.LinkEndpoint: none, so that the packets on the
// wire are whole, checksums included.
func (n *nic) Capabilities() stack.LinkEndpointCapabilities { return 0 }

// ARPHardwareType implements stack.LinkEndpoint: there is no link layer.
func (n *nic) ARPHardwareType() header.ARPHardwareType { return header.ARPHardwareNone }

// ParseHeader implements stack.LinkEndpoint.
func (n *nic) ParseHeader(*stack.PacketBuffer) bool { return true }

// The rest of stack.LinkEndpoint has nothing to do here.

// SetMTU implements stack.LinkEndpoint.
func (n *nic) SetMTU(uint32) {}

// MaxHeaderLength implements stack.LinkEndpoint.
func (n *nic) MaxHeaderLength() uint16 { return 0 }

// LinkAddress implements stack.LinkEndpoint.
func (n *nic) LinkAddress() tcpip.LinkAddress { return "" }

// SetLinkAddress implements stack.LinkEndpoint.
func (n *nic) SetLinkAddress(tcpip.LinkAddress) {}

// Wait implements stack.LinkEndpoint.
func (n *nic) Wait() {}

// AddHeader implements stack.LinkEndpoint.
func (n *nic) AddHeader(*stack.PacketBuffer) {}

// Close implements stack.LinkEndpoint.
func (n *nic) Close() {}

// SetOnCloseAction implements stack.LinkEndpoint.
func (n *nic) SetOnCloseAction(func()) {}
