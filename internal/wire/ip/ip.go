// Package ip reads the headers of IPv4 and IPv6 packets, TCP segments and UDP
// datagrams, without a link layer.
//
// In goes a packet from its IP header on, perhaps cut short; out come its
// addresses, the transport's header with its options, and where the payload is.
package ip

import "net/netip"

// Protocol numbers (IANA).
const (
	ProtoICMP   = 1
	ProtoTCP    = 6
	ProtoUDP    = 17
	ProtoICMPv6 = 58
)

// TCP's flags (RFC 9293, section 3.1; RFC 3168).
const (
	FIN = 1 << iota
	SYN
	RST
	PSH
	ACK
	URG
	ECE
	CWR
)

// Packet is what the headers say.
type Packet struct {
	Version      byte           // 4 or 6
	Source, Dest netip.AddrPort // port 0 where there is none
	Proto        byte
	ECN          byte // 0 not capable, 1 and 2 capable, 3 congestion experienced
	TCP          TCP  // where Proto is ProtoTCP
	// Fragment: it is a datagram's first fragment, and more follow. Payload and Size
	// are this packet's.
	Fragment bool
	// Payload is what follows the transport's header, as far as the packet was
	// kept; Size is how long it is by what the headers say. Of what is neither TCP
	// nor UDP it is what follows the IP headers: of ICMP the whole message.
	Payload []byte
	Size    int
}

// TCP is a segment's header.
type TCP struct {
	Seq, Ack uint32
	Flags    byte
	Window   uint16 // not scaled

	// Options (RFC 9293, RFC 7323, RFC 2018).
	MSS           uint16 // 0: not there
	WindowScale   int8   // -1: not there
	SACKPermitted bool
	SACKs         int // how many of SACK are there
	SACK          [4]Block
	Timestamps    bool
	TSval, TSecr  uint32
}

// Block is a range of sequence numbers [Left, Right).
type Block struct{ Left, Right uint32 }
