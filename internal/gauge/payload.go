package gauge

import (
	"encoding/binary"
	"hash/crc32"
)

// leastPayload is the size of the smallest datagram's payload: an identity of
// the train, the datagram's number, three times, and a checksum at the end.
const leastPayload = 4 + 4 + 3*8 + 4

// smallPayload is that of ordinary probes.
const smallPayload = 64

// stamps are the times that a datagram carries, in ns since 1970.
type stamps struct{ sent, turned, returned int64 }

// encode writes a datagram into b, whose length is its payload's. What is
// between is left as it is.
func encode(b []byte, train uint32, number int, s stamps) {
	le := binary.LittleEndian
	le.PutUint32(b, train)
	le.PutUint32(b[4:], uint32(number))
	le.PutUint64(b[8:], uint64(s.sent))
	le.PutUint64(b[16:], uint64(s.turned))
	le.PutUint64(b[24:], uint64(s.returned))
	end := len(b) - 4
	le.PutUint32(b[end:], crc32.ChecksumIEEE(b[:end]))
}

// decode reads a datagram; ok is false when its content was altered.
func decode(b []byte) (train uint32, number int, s stamps, ok bool) {
	le := binary.LittleEndian
	end := len(b) - 4
	if len(b) < leastPayload || le.Uint32(b[end:]) != crc32.ChecksumIEEE(b[:end]) {
		return 0, 0, s, false
	}
	s = stamps{int64(le.Uint64(b[8:])), int64(le.Uint64(b[16:])), int64(le.Uint64(b[24:]))}
	return le.Uint32(b), int(le.Uint32(b[4:])), s, true
}
