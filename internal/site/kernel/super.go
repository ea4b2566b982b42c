package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Where the fields of headers are (RFC 791, 8200, 9293, 768).
const (
	protoTCP, protoUDP = 6, 17

	header4, header6            = 20, 40 // least lengths
	headerTCP, headerUDP        = 20, 8
	total4, id4, fragment4      = 2, 4, 6
	proto4, check4              = 9, 10
	length6, next6              = 4, 6
	source4, source6            = 12, 8
	seqTCP, dataTCP             = 4, 12
	flagsTCP, checkTCP          = 13, 16
	lengthUDP, udpCheck         = 4, 6
	flagFIN, flagPSH            = 0x01, 0x08
	flagCWR                byte = 0x80
)

// maxHeader is the most bytes of IP and transport headers that a super-packet
// may have: an IPv6 header, some extensions, and TCP's longest.
const maxHeader = 256

// errMalformed says that what a device gave is no packet that can be carried.
var errMalformed = errors.New("malformed packet")

// super says how wire packets lie in a packet as it was read. A super-packet is
// one header and the payloads of all its wire packets, one after the other; any
// other packet is one wire packet.
//
// Properties that an edit must keep: the wire packets are those that the kernel
// itself would have made of the super-packet (tcp_gso_segment,
// __udp_gso_segment and inet_gso_segment in Linux), byte for byte once their
// checksums are complete; wire packets i to i+n-1, laid as one, are a
// super-packet of which the kernel would make the same.
type super struct {
	vnet  vnet // as it is to be written again, for the whole
	count int  // wire packets, at least 1

	// Of a super-packet. In any other, header is 0 and size the packet's length.
	header    int // bytes of IP and transport header, which each wire packet has
	size      int // payload bytes of each wire packet but the last
	payload   int // of all
	transport int // where the transport header begins
	first     int // the wire packet whose payload lies first; those before it are gone

	six, tcp bool
	id       uint16 // of the first wire packet
	seq      uint32
	flags    byte
	ipSum    uint32 // of the IPv4 header without length, identification and checksum
	pseudo   uint32 // of the pseudo-header without the length
}

// parseSuper reads what a device gave: its header, and a packet of at least one
// byte.
func parseSuper(v vnet, p []byte) (super, error) {
	s := super{count: 1, size: len(p), payload: len(p), vnet: vnet{flags: v.flags & needsChecksum}}
	if s.vnet.flags != 0 {
		s.vnet.start, s.vnet.offset = v.start, v.offset
		if int(v.start)+int(v.offset)+2 > len(p) {
			return s, fmt.Errorf("%w: the checksum is at %d+%d of %d bytes", errMalformed, v.start, v.offset, len(p))
		}
	}
	if v.gso == gsoNone {
		return s, nil
	}
	if err := s.parseGSO(v, p); err != nil {
		return s, fmt.Errorf("%w: super-packet of type %#x and %d bytes: %w", errMalformed, v.gso, len(p), err)
	}
	return s, nil
}

// parseGSO reads a super-packet. Its IP header has been looked at by nobody yet.
func (s *super) parseGSO(v vnet, p []byte) error {
	if s.vnet.flags == 0 {
		return errors.New("its checksum is complete")
	}
	if v.size == 0 {
		return errors.New("its packets have no size")
	}
	s.transport = int(v.start)
	if err := s.parseIP(v, p); err != nil {
		return err
	}
	if err := s.parseTransport(v, p); err != nil {
		return err
	}
	s.pseudo = s.pseudoSum(p)
	if s.header > len(p) || s.header > maxHeader {
		return fmt.Errorf("its header has %d bytes", s.header)
	}
	s.payload = len(p) - s.header
	s.size = int(v.size)
	s.count = max((s.payload+s.size-1)/s.size, 1)
	if s.count == 1 { // not super after all
		s.header, s.size, s.payload = 0, len(p), len(p)
		return nil
	}
	s.vnet.gso, s.vnet.size, s.vnet.header = v.gso, v.size, uint16(s.header)
	return nil
}

func (s *super) parseIP(v vnet, p []byte) error {
	kind := v.gso &^ gsoECN
	switch {
	case len(p) >= header4 && p[0]>>4 == 4 && (kind == gsoTCP4 || kind == gsoUDP):
		if length := int(p[0]&0xf) * 4; length < header4 || length != s.transport {
			return fmt.Errorf("its IP header has %d bytes, its transport header begins at %d", length, s.transport)
		}
		if total := int(binary.BigEndian.Uint16(p[total4:])); total != len(p) {
			return fmt.Errorf("it says it had %d bytes", total)
		}
		if binary.BigEndian.Uint16(p[fragment4:])&0x3fff != 0 {
			return errors.New("it is a fragment")
		}
		s.id = binary.BigEndian.Uint16(p[id4:])
		s.ipSum = sum(p[:total4]) + sum(p[fragment4:check4]) + sum(p[source4:s.transport])
	case len(p) >= header6 && p[0]>>4 == 6 && (kind == gsoTCP6 || kind == gsoUDP):
		s.six = true
		if s.transport < header6 {
			return fmt.Errorf("its transport header begins at %d", s.transport)
		}
		if length := int(binary.BigEndian.Uint16(p[length6:])); length != len(p)-header6 {
			return fmt.Errorf("it says it had %d bytes after its header", length)
		}
	default:
		return errors.New("no such type for its IP version")
	}
	return nil
}

func (s *super) parseTransport(v vnet, p []byte) error {
	s.tcp = v.gso&^gsoECN != gsoUDP
	least, check, proto := headerUDP, udpCheck, byte(protoUDP)
	if s.tcp {
		least, check, proto = headerTCP, checkTCP, protoTCP
	}
	if len(p) < s.transport+least || int(v.offset) != check {
		return fmt.Errorf("its checksum is at %d+%d", s.transport, v.offset)
	}
	if have := s.protocol(p); have != proto && (!s.six || s.transport == header6) {
		return fmt.Errorf("its protocol is %d", have)
	}
	s.header = s.transport + least
	if s.tcp {
		t := p[s.transport:]
		length := int(t[dataTCP]>>4) * 4
		if length < headerTCP {
			return fmt.Errorf("its TCP header has %d bytes", length)
		}
		s.header = s.transport + length
		s.seq, s.flags = binary.BigEndian.Uint32(t[seqTCP:]), t[flagsTCP]
	}
	return nil
}

// protocol is what the IP header says comes next.
func (s *super) protocol(p []byte) byte {
	if s.six {
		return p[next6]
	}
	return p[proto4]
}

func (s *super) pseudoSum(p []byte) uint32 {
	proto := uint32(protoUDP)
	if s.tcp {
		proto = protoTCP
	}
	if s.six {
		return proto + sum(p[source6:header6])
	}
	return proto + sum(p[source4:header4])
}

// at is where wire packet i begins once it is laid.
func (s *super) at(i int) int { return (i - s.first) * s.size }

// bytes is how many bytes wire packets i to i+n-1 have as one packet.
func (s *super) bytes(i, n int) int {
	return s.header + min((i+n)*s.size, s.payload) - i*s.size
}

// lay writes the header of wire packets i to i+n-1 as one packet in front of
// their payload, in p, which begins with the header that was read. What it
// covers must be saved before, and put back before another is laid.
func (s *super) lay(p []byte, i, n int) {
	at, length := s.at(i), s.bytes(i, n)
	h := p[at : at+s.header]
	copy(h, p[:s.header])
	if s.six {
		binary.BigEndian.PutUint16(h[length6:], uint16(length-header6))
	} else {
		id := s.id + uint16(i)
		binary.BigEndian.PutUint16(h[total4:], uint16(length))
		binary.BigEndian.PutUint16(h[id4:], id)
		binary.BigEndian.PutUint16(h[check4:], ^fold(s.ipSum+uint32(length)+uint32(id)))
	}
	t := h[s.transport:]
	partial := fold(s.pseudo + uint32(length-s.transport))
	if !s.tcp {
		binary.BigEndian.PutUint16(t[lengthUDP:], uint16(length-s.transport))
		binary.BigEndian.PutUint16(t[udpCheck:], partial)
		return
	}
	binary.BigEndian.PutUint32(t[seqTCP:], s.seq+uint32(i*s.size))
	t[flagsTCP] = s.flagsOf(i, n)
	binary.BigEndian.PutUint16(t[checkTCP:], partial)
}

// flagsOf are the TCP flags of wire packets i to i+n-1: congestion window
// reduced is said once, by the first, and the end by the last.
func (s *super) flagsOf(i, n int) byte {
	flags := s.flags
	if i > 0 {
		flags &^= flagCWR
	}
	if i+n < s.count {
		flags &^= flagFIN | flagPSH
	}
	return flags
}

// vnetOf is the device's header for wire packets i to i+n-1 as one packet.
func (s *super) vnetOf(i, n int) vnet {
	v := s.vnet
	if n == 1 {
		v.gso, v.size, v.header = gsoNone, 0, 0
	}
	if i > 0 {
		v.gso &^= gsoECN
	}
	return v
}
