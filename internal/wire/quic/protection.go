package quic

// space is one packet number space of one direction.
//
// An edit must keep: largest follows authenticated packets only, so that a
// corrupted packet cannot harm how later numbers are read. near follows packets
// that the log cut short as well, which cannot be authenticated.
type space struct {
	largest int64 // -1: none yet
	near    int64
	doubted int64 // number of a cut packet that was far from near; -1: none
}

func newSpace() space { return space{-1, -1, -1} }

func (s *space) opened(number uint64) {
	s.largest = max(s.largest, int64(number))
	s.near, s.doubted = max(s.near, s.largest), -1
}

// plausible is how far a cut packet's number may be ahead of the one before. One
// that is farther is believed once a second one is near it.
const plausible = 1 << 14

func (s *space) seenCut(number uint64) {
	n := int64(number)
	switch {
	case n <= s.near:
	case n-s.near <= plausible:
		s.near = n
	case s.doubted >= 0 && max(n, s.doubted)-min(n, s.doubted) <= plausible:
		s.near, s.doubted = n, -1
	default:
		s.doubted = n
	}
}

// decodeNumber is RFC 9000, appendix A.3: of the numbers that end with the
// truncated one it is the one closest to the number after the largest.
func decodeNumber(largest int64, truncated uint64, bytes int) uint64 {
	expected := uint64(largest + 1)
	window := uint64(1) << (8 * bytes)
	candidate := expected&^(window-1) | truncated
	switch {
	case candidate+window/2 <= expected && candidate < 1<<62-window:
		return candidate + window
	case candidate > expected+window/2 && candidate >= window:
		return candidate - window
	}
	return candidate
}

// unmasked is what header protection hid.
type unmasked struct {
	first     byte
	truncated uint64
	bytes     int // of the packet number
}

const sampleEnd = 4 + 16 // of header protection's sample, after the number's begin

// unmask removes header protection; false where the sample is not there.
func (k *keys) unmask(b []byte, number int) (unmasked, bool) {
	if len(b) < number+sampleEnd {
		return unmasked{}, false
	}
	mask := k.sampleMask(b[number+4 : number+sampleEnd])
	bits := byte(0x1f)
	if b[0]&longBit != 0 {
		bits = 0x0f
	}
	u := unmasked{first: b[0] ^ mask[0]&bits}
	u.bytes = int(u.first&3) + 1
	for i := range u.bytes {
		u.truncated = u.truncated<<8 | uint64(b[number+i]^mask[1+i])
	}
	return u, true
}

// opener has the memory into which packets are opened.
type opener struct {
	plain []byte
	head  []byte
	nonce [12]byte
}

// begin makes room for the plaintext of a datagram of n bytes, so that what was
// opened of it does not move.
func (o *opener) begin(n int) {
	if cap(o.plain) < n {
		o.plain = make([]byte, 0, max(n, 2048))
	}
	o.plain = o.plain[:0]
}

// open decrypts a packet whose number begins at b[number].
func (o *opener) open(k *keys, b []byte, number int, u unmasked, full uint64) ([]byte, bool) {
	body := number + u.bytes
	o.head = append(o.head[:0], b[:body]...)
	o.head[0] = u.first
	o.nonce = k.iv
	for i := range 8 {
		o.nonce[11-i] ^= byte(full >> (8 * i))
	}
	for i := range u.bytes {
		o.head[body-1-i] = byte(u.truncated >> (8 * i))
	}
	from := len(o.plain)
	plain, err := k.aead.Open(o.plain, o.nonce[:], b[body:], o.head)
	if err != nil {
		return nil, false
	}
	o.plain = plain
	return plain[from:len(plain):len(plain)], true
}

// try opens a packet by one set of keys, and says its number. Numbers are read by
// what the cut packets suggest first, then by the authenticated ones alone.
func (o *opener) try(k *keys, s *space, b []byte, number int, u unmasked) ([]byte, uint64, bool) {
	full := decodeNumber(s.near, u.truncated, u.bytes)
	if plain, ok := o.open(k, b, number, u, full); ok {
		return plain, full, true
	}
	if again := decodeNumber(s.largest, u.truncated, u.bytes); again != full {
		if plain, ok := o.open(k, b, number, u, again); ok {
			return plain, again, true
		}
	}
	return nil, full, false
}
