package link

import (
	"encoding/binary"
	"slices"
)

// message is an ICMP error that the emulated network answers a packet with.
type message struct {
	tooBig bool   // packet too big; otherwise port unreachable
	mtu    uint32 // of the next hop, where the packet was too big
}

// Types and codes of RFC 792 and RFC 4443, and how long a message that quotes a
// packet may be: RFC 1812, 4.3.2.3, and RFC 4443, 2.4 (c).
const (
	icmp4Unreachable     = 3
	icmp4PortUnreachable = 3
	icmp4FragNeeded      = 4
	icmp4Longest         = 576

	icmp6Unreachable     = 1
	icmp6PortUnreachable = 4
	icmp6PacketTooBig    = 2
	icmp6Longest         = 1280

	icmpHeader = 8
	hopLimit   = 64
	// internetControl is the precedence that RFC 1812, 4.3.2.5, gives to errors.
	internetControl = 0xc0
	dontFragment    = 0x4000
)

// bytes is the IP packet that carries the message to the packet's sender, as
// from its destination: the one address besides its own that the sender is sure
// to know. It is nil where no error may be sent: about errors, fragments but the
// first, and packets that no single host sent or is to get (RFC 1122, 3.2.2; RFC
// 4443, 2.4 (e)).
func (m message) bytes(packet []byte, h *headers) []byte {
	if h.version == 0 || h.at == 0 || h.icmpError(packet) || h.toMany(packet) { // fragments have no at
		return nil
	}
	if h.version == 4 {
		return m.icmp4(packet)
	}
	return m.icmp6(packet)
}

// icmpError says that the packet is an ICMP error message itself, or that it
// cannot be told.
func (h *headers) icmpError(b []byte) bool {
	switch h.proto {
	case protoICMP:
		// Unreachable, source quench, redirect, time exceeded, parameter problem.
		return len(b) <= h.at || slices.Contains([]byte{3, 4, 5, 11, 12}, b[h.at])
	case protoICMPv6:
		return len(b) <= h.at || b[h.at] < 128 || b[h.at] == 137 // errors and redirects
	}
	return false
}

// toMany says that the packet comes from no single host, or goes to many.
func (h *headers) toMany(b []byte) bool {
	src, dst := h.addresses(b)
	if h.version == 6 {
		return src[0] == 0xff || dst[0] == 0xff || [16]byte(src) == [16]byte{}
	}
	return src[0] == 0 || src[0] >= 224 || dst[0] >= 224
}

// icmp4 is a destination unreachable message (RFC 792; with the next hop's MTU,
// RFC 1191).
func (m message) icmp4(packet []byte) []byte {
	quote := packet[:min(len(packet), icmp4Longest-ipv4Header-icmpHeader)]
	b := make([]byte, ipv4Header+icmpHeader+len(quote))
	b[0], b[1] = 4<<4|ipv4Header/4, internetControl
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	binary.BigEndian.PutUint16(b[6:], dontFragment)
	b[8], b[9] = hopLimit, protoICMP
	copy(b[12:], packet[16:20])
	copy(b[16:], packet[12:16])
	putChecksum(b[10:], internetSum(0, b[:ipv4Header]))

	icmp := b[ipv4Header:]
	icmp[0], icmp[1] = icmp4Unreachable, icmp4PortUnreachable
	if m.tooBig {
		icmp[1] = icmp4FragNeeded
		binary.BigEndian.PutUint16(icmp[6:], uint16(min(m.mtu, 0xffff)))
	}
	copy(icmp[icmpHeader:], quote)
	putChecksum(icmp[2:], internetSum(0, icmp))
	return b
}

// icmp6 is a destination unreachable or a packet too big message (RFC 4443).
func (m message) icmp6(packet []byte) []byte {
	quote := packet[:min(len(packet), icmp6Longest-ipv6Header-icmpHeader)]
	b := make([]byte, ipv6Header+icmpHeader+len(quote))
	icmp := b[ipv6Header:]
	b[0] = 6 << 4
	binary.BigEndian.PutUint16(b[4:], uint16(len(icmp)))
	b[6], b[7] = protoICMPv6, hopLimit
	copy(b[8:], packet[24:40])
	copy(b[24:], packet[8:24])

	icmp[0], icmp[1] = icmp6Unreachable, icmp6PortUnreachable
	if m.tooBig {
		icmp[0], icmp[1] = icmp6PacketTooBig, 0
		binary.BigEndian.PutUint32(icmp[4:], m.mtu)
	}
	copy(icmp[icmpHeader:], quote)
	pseudo := uint32(len(icmp)) + protoICMPv6 + uint32(^internetSum(0, b[8:40]))
	putChecksum(icmp[2:], internetSum(pseudo, icmp))
	return b
}
