package kernel

import (
	"encoding/binary"
	"math/bits"
)

// sum adds the bytes to the Internet checksum's sum (RFC 1071), as if they
// were preceded by an even number of bytes. The sum is not folded: it may be
// added to others, up to 65536 of them, before fold.
func sum(b []byte) uint32 {
	// The sum does not depend on the size of the words, as long as carries are
	// added at the end (RFC 1071, section 2): eight bytes at a time.
	var s, carry uint64
	for len(b) >= 32 {
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[8:]), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[16:]), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[24:]), carry)
		b = b[32:]
	}
	for len(b) >= 2 {
		s, carry = bits.Add64(s, uint64(binary.BigEndian.Uint16(b)), carry)
		b = b[2:]
	}
	if len(b) == 1 {
		s, carry = bits.Add64(s, uint64(b[0])<<8, carry)
	}
	s, carry = bits.Add64(s, 0, carry)
	s += carry
	s = s>>32 + s&0xffffffff
	s = s>>32 + s&0xffffffff
	return uint32(s>>16 + s&0xffff)
}

// fold makes a sum one of 16 bits.
func fold(s uint32) uint16 {
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s&0xffff)
}

// finishChecksum completes the checksum of a packet whose sender left that to
// its network card: the field, at offset from start, holds the sum of the
// pseudo-header, and what it covers begins at start (virtio 1.3, section
// 5.1.6.2). A UDP checksum of zero would mean none (RFC 768).
func finishChecksum(packet []byte, start, offset int) {
	check := ^fold(sum(packet[start:]))
	if check == 0 && offset == udpCheck {
		check = 0xffff
	}
	binary.BigEndian.PutUint16(packet[start+offset:], check)
}
