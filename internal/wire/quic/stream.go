package quic

import "slices"

// What a CRYPTO stream holds of data that came before what precedes it.
const (
	maxHeld   = 256 << 10 // bytes
	maxPieces = 1024
)

// stream puts the data of a CRYPTO stream into order. What it holds is a copy of
// bytes that came, never room for bytes that an offset promises.
type stream struct {
	next uint64 // offset up to which all was read
	held []piece
	size int // bytes held
}

type piece struct {
	offset uint64
	data   []byte
}

func (p piece) end() uint64 { return p.offset + uint64(len(p.data)) }

// add takes data and calls read with what is now in order. It says false where
// there is no room for data that is out of order.
func (s *stream) add(offset uint64, data []byte, read func([]byte)) bool {
	p := piece{offset, data}
	if p.end() <= s.next {
		return true
	}
	if offset > s.next {
		return s.hold(p)
	}
	read(data[s.next-offset:])
	s.next = p.end()
	for len(s.held) > 0 && s.held[0].offset <= s.next {
		p := s.held[0]
		s.held, s.size = s.held[1:], s.size-len(p.data)
		if p.end() > s.next {
			read(p.data[s.next-p.offset:])
			s.next = p.end()
		}
	}
	return true
}

// hold keeps a piece; the pieces are in the order of their offsets.
func (s *stream) hold(p piece) bool {
	at, _ := slices.BinarySearchFunc(s.held, p.offset, func(h piece, offset uint64) int {
		if h.offset <= offset {
			return -1
		}
		return 1
	})
	if at > 0 && s.held[at-1].end() >= p.end() {
		return true // it is there
	}
	if s.size+len(p.data) > maxHeld || len(s.held) == maxPieces {
		return false
	}
	p.data = slices.Clone(p.data)
	s.held, s.size = slices.Insert(s.held, at, p), s.size+len(p.data)
	return true
}
