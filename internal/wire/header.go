package wire

import "encoding/binary"

// IP protocol numbers and TCP flags that the witness tells apart.
const (
	protoTCP = 6
	protoUDP = 17

	flagFIN = 0x01
	flagSYN = 0x02
	flagACK = 0x10
)

// header is what the witness reads of a packet.
type header struct {
	source, dest uint16
	proto        byte
	flags        byte   // TCP only
	seq          uint32 // TCP only
	start, end   int    // of the payload in the packet
}

// payload is how many bytes come after the transport header.
func (h *header) payload() int { return h.end - h.start }

// parse reads the IP and transport headers of a packet. It is false for what is
// neither TCP nor UDP, or is cut short.
func (h *header) parse(p []byte) bool {
	proto, start, end, ok := parseIP(p)
	if !ok {
		return false
	}
	b := p[start:end]
	switch {
	case proto == protoTCP && len(b) >= 20: // RFC 9293, section 3.1
		offset := int(b[12]>>4) * 4
		if offset < 20 || offset > len(b) {
			return false
		}
		h.seq, h.flags = binary.BigEndian.Uint32(b[4:]), b[13]
		start += offset
	case proto == protoUDP && len(b) >= 8: // RFC 768
		start += 8
	default:
		return false
	}
	h.source, h.dest, h.proto = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]), proto
	h.start, h.end = start, end
	return true
}

// parseIP finds where the transport header begins, and where the packet ends.
// IPv6 extension headers are not followed: neither host sends any.
func parseIP(p []byte) (proto byte, start, end int, ok bool) {
	if len(p) < 1 {
		return 0, 0, 0, false
	}
	switch p[0] >> 4 {
	case 4: // RFC 791
		if len(p) < 20 {
			return 0, 0, 0, false
		}
		start, end = int(p[0]&0x0f)*4, int(binary.BigEndian.Uint16(p[2:]))
		first := binary.BigEndian.Uint16(p[6:])&0x1fff == 0
		return p[9], start, end, start >= 20 && end >= start && end <= len(p) && first
	case 6: // RFC 8200
		if len(p) < 40 {
			return 0, 0, 0, false
		}
		end = 40 + int(binary.BigEndian.Uint16(p[4:]))
		return p[6], 40, end, end <= len(p)
	default:
		return 0, 0, 0, false
	}
}

// QUIC versions whose Initial packets can be told apart (RFC 9000, RFC 9369).
const (
	quicV1 = 1
	quicV2 = 0x6b3343cf
)

// initialSource returns the source connection ID of a QUIC Initial packet, the
// first of its datagram (RFC 9000, section 17.2.2; RFC 8999, section 5.1).
func initialSource(p []byte) (id []byte, ok bool) {
	if len(p) < 7 || p[0]&0x80 == 0 {
		return nil, false
	}
	kind := p[0] >> 4 & 3
	switch binary.BigEndian.Uint32(p[1:]) {
	case quicV1:
		ok = kind == 0
	case quicV2:
		ok = kind == 1
	}
	if !ok {
		return nil, false
	}
	p = p[5:]
	dest := int(p[0])
	if dest > 20 || len(p) < 2+dest {
		return nil, false
	}
	p = p[1+dest:]
	source := int(p[0])
	if source > 20 || len(p) < 1+source {
		return nil, false
	}
	return p[1 : 1+source], true
}
