package tls

// maxHandshake is the size of the longest handshake message that is read. Longer
// ones (the format allows 16 MiB) are told and passed over.
const maxHandshake = 128 << 10

// handshakeHeader is type and length (RFC 8446, section 4).
const handshakeHeader = 4

// assembler puts handshake messages together from pieces of any size. It keeps
// at most maxHandshake bytes, and only as many as came.
type assembler struct {
	head  [handshakeHeader]byte
	body  []byte
	have  int   // bytes of the message that came, header included
	begin int64 // offset of the message's first byte, or of its record
}

// piece is a handshake message.
type piece struct {
	kind byte
	size int // with its header
	// body is what follows the header, valid until the next call; long: it was not kept.
	body []byte
	long bool
}

// next takes bytes up to the end of the current message. It returns the rest,
// and whether the message is complete.
func (a *assembler) next(p []byte, begin int64) (m piece, rest []byte, done bool) {
	if a.have == 0 {
		a.begin, a.body = begin, a.body[:0]
	}
	if a.have < handshakeHeader {
		n := copy(a.head[a.have:], p)
		a.have += n
		p = p[n:]
	}
	if a.have < handshakeHeader {
		return piece{}, nil, false
	}
	size := handshakeHeader + int(a.head[1])<<16 + int(a.head[2])<<8 + int(a.head[3])
	n := min(size-a.have, len(p))
	if size <= maxHandshake {
		a.body = append(a.body, p[:n]...)
	}
	a.have += n
	if a.have < size {
		return piece{}, nil, false
	}
	a.have = 0
	return piece{kind: a.head[0], size: size, body: a.body, long: size > maxHandshake}, p[n:], true
}
