package link

import "encoding/binary"

// change is what the path does to a packet's bytes. The zero change is nothing.
type change struct {
	flip  uint32 // the bit that is flipped, from 1; 0 means none
	nat   translation
	alias uint16 // the translated address: the client's own for 0, or the nth alias
	port  uint16 // the translated port
	mark  bool   // congestion experienced
}

// translation says what of a packet the address translation rewrites.
type translation uint8

const (
	translateNothing translation = iota
	translateSource
	translateDestination
)

// apply changes a packet, and keeps its checksums right but for a flipped bit.
func (c *change) apply(packet []byte) {
	if c.nat != translateNothing {
		c.translate(packet)
	}
	if c.mark {
		markCE(packet)
	}
	if i := int(c.flip) - 1; i >= 0 && i/8 < len(packet) {
		packet[i/8] ^= 1 << (i % 8)
	}
}

// markCE sets congestion experienced (RFC 3168).
func markCE(b []byte) {
	switch h := readHeaders(b); h.version {
	case 4:
		old := binary.BigEndian.Uint16(b)
		b[1] |= 3
		putChecksum(b[10:], updateChecksum(binary.BigEndian.Uint16(b[10:]), old, binary.BigEndian.Uint16(b)))
	case 6:
		b[1] |= 0x30
	}
}

// updateChecksum is the Internet checksum after a word under it has changed (RFC
// 1624, equation 3).
func updateChecksum(sum, old, now uint16) uint16 {
	x := uint32(^sum) + uint32(^old) + uint32(now)
	x = x>>16 + x&0xffff
	x = x>>16 + x&0xffff
	return ^uint16(x)
}

func putChecksum(b []byte, sum uint16) { binary.BigEndian.PutUint16(b, sum) }

// internetSum is the Internet checksum (RFC 1071) over data, added to a start.
func internetSum(start uint32, data []byte) uint16 {
	sum := uint64(start)
	for ; len(data) >= 2; data = data[2:] {
		sum += uint64(binary.BigEndian.Uint16(data))
	}
	if len(data) == 1 {
		sum += uint64(data[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
