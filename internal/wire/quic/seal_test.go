package quic

import (
	"encoding/binary"

	"github.com/samewire/samewire/internal/lab"
)

// seal protects a packet: head up to the packet number, of which bytes are sent.
// first has the packet's bits below the length of the number.
func seal(k *keys, head []byte, number uint64, bytes int, plain []byte) []byte {
	b := append([]byte(nil), head...)
	b[0] |= byte(bytes - 1)
	at := len(b)
	for i := bytes - 1; i >= 0; i-- {
		b = append(b, byte(number>>(8*i)))
	}
	nonce := k.iv
	for i := range 8 {
		nonce[11-i] ^= byte(number >> (8 * i))
	}
	b = k.aead.Seal(b, nonce[:], plain, b)
	mask := k.sampleMask(b[at+4 : at+20])
	if b[0]&longBit != 0 {
		b[0] ^= mask[0] & 0x0f
	} else {
		b[0] ^= mask[0] & 0x1f
	}
	for i := range bytes {
		b[at+i] ^= mask[1+i]
	}
	return b
}

// sealShort is a 1-RTT packet.
func sealShort(k *keys, dcid []byte, phase bool, number uint64, bytes int, plain []byte) []byte {
	first := byte(fixedBit)
	if phase {
		first |= phaseBit
	}
	return seal(k, append([]byte{first}, dcid...), number, bytes, plain)
}

// sealLong is an Initial, 0-RTT or Handshake packet.
func sealLong(k *keys, kind Kind, version uint32, dcid, scid []byte, number uint64, plain []byte) []byte {
	t := map[Kind]byte{Initial: 0, ZeroRTT: 1, Handshake: 2}[kind]
	if version == Version2 {
		t = (t + 1) & 3
	}
	b := binary.BigEndian.AppendUint32([]byte{longBit | fixedBit | t<<4}, version)
	b = append(append(b, byte(len(dcid))), dcid...)
	b = append(append(b, byte(len(scid))), scid...)
	if kind == Initial {
		b = append(b, 0)
	}
	b = binary.BigEndian.AppendUint16(b, 0x4000|uint16(4+len(plain)+16))
	return seal(k, b, number, 4, plain)
}

// established is a connection with 1-RTT keys, whose packets a test can seal.
func established(s *suite) (*Conn, [2]*phases) {
	secret := make([]byte, s.hash().Size())
	c := NewConn(nil)
	c.chosen = Version1
	var keys [2]*phases
	for d := range keys {
		secret[0] = byte(d)
		c.oneRTT[d] = newPhases(s, Version1, append([]byte(nil), secret...))
		keys[d] = newPhases(s, Version1, append([]byte(nil), secret...))
	}
	c.named(lab.Up, []byte{1, 1, 1, 1})
	c.named(lab.Down, []byte{2, 2, 2, 2, 2, 2, 2, 2})
	return c, keys
}
