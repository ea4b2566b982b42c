package link

import (
	"encoding/binary"

	"github.com/samewire/samewire/internal/lab"
)

// Protocol numbers (IANA, Assigned Internet Protocol Numbers).
const (
	protoHopByHop = 0
	protoICMP     = 1
	protoTCP      = 6
	protoUDP      = 17
	protoRouting  = 43
	protoFragment = 44
	protoICMPv6   = 58
	protoOptions  = 60
)

// Lengths of headers in bytes, and how many extension headers of IPv6 the link
// reads before it gives a packet up.
const (
	ipv4Header    = 20
	ipv6Header    = 40
	udpHeader     = 8
	tcpHeader     = 20
	maxExtensions = 8
)

// headers is what the link reads of a packet: no more than the path asks for,
// and never beyond the packet's end. The zero headers are those of bytes that
// are no IP packet.
type headers struct {
	version  uint8 // 4 or 6; 0 when it is neither
	ecn      uint8 // RFC 3168: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE
	proto    uint8 // of what the IP packet carries
	fragment bool  // a fragment other than the first: it has no transport header
	ports    bool  // src and dst are known
	src, dst uint16
	at       int // where the transport header begins; 0 when it is not there
}

// transport is the packet's transport; empty when it is neither UDP nor TCP. A
// fragment has the transport of the whole.
func (h *headers) transport() lab.Transport {
	switch h.proto {
	case protoUDP:
		return lab.UDP
	case protoTCP:
		return lab.TCP
	default:
		return ""
	}
}

// readHeaders reads the headers of an IP packet.
func readHeaders(b []byte) headers {
	var h headers
	if len(b) == 0 {
		return h
	}
	switch b[0] >> 4 {
	case 4:
		h.readIPv4(b)
	case 6:
		h.readIPv6(b)
	}
	if h.at == 0 || (h.proto != protoUDP && h.proto != protoTCP) || len(b) < h.at+4 {
		return h
	}
	h.ports = true
	h.src, h.dst = binary.BigEndian.Uint16(b[h.at:]), binary.BigEndian.Uint16(b[h.at+2:])
	return h
}

// readIPv4 reads the header of RFC 791.
func (h *headers) readIPv4(b []byte) {
	length := int(b[0]&15) * 4
	if length < ipv4Header || len(b) < length {
		return
	}
	h.version, h.ecn, h.proto = 4, b[1]&3, b[9]
	if binary.BigEndian.Uint16(b[6:])&0x1fff != 0 {
		h.fragment = true
		return
	}
	h.at = length
}

// readIPv6 reads the header of RFC 8200, and walks over extension headers.
func (h *headers) readIPv6(b []byte) {
	if len(b) < ipv6Header {
		return
	}
	h.version, h.ecn = 6, b[1]>>4&3
	next, at := b[6], ipv6Header
	for range maxExtensions {
		switch next {
		case protoHopByHop, protoRouting, protoOptions:
			if len(b) < at+8 {
				return
			}
			next, at = b[at], at+8+8*int(b[at+1])
		case protoFragment:
			if len(b) < at+8 {
				return
			}
			h.fragment = binary.BigEndian.Uint16(b[at+2:])&0xfff8 != 0
			next, at = b[at], at+8
			if h.fragment {
				h.proto = next
				return
			}
		default:
			h.proto = next
			if at < len(b) {
				h.at = at
			}
			return
		}
	}
}

// addresses are the packet's source and destination.
func (h *headers) addresses(b []byte) (src, dst []byte) {
	if h.version == 4 {
		return b[12:16], b[16:20]
	}
	return b[8:24], b[24:40]
}

// flow is a hash of addresses, ports and protocol. Packets that are no IP
// packets are all of one flow.
func (h *headers) flow(b []byte) uint32 {
	if h.version == 0 {
		return 0
	}
	x := uint64(h.proto)<<32 | uint64(h.src)<<16 | uint64(h.dst)
	src, dst := h.addresses(b)
	for _, a := range [2][]byte{src, dst} {
		for ; len(a) >= 4; a = a[4:] {
			x = lab.Mix64(x ^ uint64(binary.BigEndian.Uint32(a)))
		}
	}
	return uint32(x)
}

// QUIC's versions (RFC 9000 and RFC 9369), which number the types of their
// long headers differently.
const (
	quicV1 = 0x00000001
	quicV2 = 0x6b3343cf
)

// longKinds are the kinds of version 1 by the type in the first byte. Version 2
// has each moved on by one.
var longKinds = [4]lab.PacketKind{lab.KindInitial, lab.KindZeroRTT, lab.KindHandshake, lab.KindRetry}

// kind is what kind of packet it is; of a datagram, its first QUIC packet's. The
// fixed bit is not looked at, since it may be greased (RFC 9287).
func (h *headers) kind(b []byte) lab.PacketKind {
	if h.at == 0 {
		return ""
	}
	switch h.proto {
	case protoTCP:
		if len(b) > h.at+13 && b[h.at+13]&2 != 0 {
			return lab.KindSYN
		}
	case protoUDP:
		if len(b) > h.at+udpHeader {
			return quicKind(b[h.at+udpHeader:])
		}
	}
	return ""
}

// quicKind is the kind of the first QUIC packet in a datagram that is not empty.
func quicKind(datagram []byte) lab.PacketKind {
	if datagram[0]&0x80 == 0 {
		return lab.KindOneRTT
	}
	if len(datagram) < 5 {
		return ""
	}
	number := int(datagram[0] >> 4 & 3)
	switch binary.BigEndian.Uint32(datagram[1:]) {
	case quicV1:
		return longKinds[number]
	case quicV2:
		return longKinds[(number+3)%4]
	default:
		return ""
	}
}
