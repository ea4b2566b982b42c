package wire

import (
	"slices"
	"sort"
)

// spans is what was sent of one stream of bytes, by which packets: of one
// direction of a TCP connection, where SYN and FIN take a place each, of one
// CRYPTO stream of QUIC, or of one direction of a QUIC stream, where FIN takes
// the place behind the last byte.
//
// Properties that an edit must keep: first never overlaps and is in order of
// offsets, so that each byte has one packet that carried it first; the cost of a
// packet that goes on where the one before ended is constant, and that of any
// other is bounded (maxMoves).
type spans struct {
	first []span // the first transmission of each byte
	again []span // all others, in order of sending
}

// span is the bytes [begin, end) of a stream in one packet.
type span struct {
	begin, end int64
	event      int
}

// add notes that a packet carried [begin, end), and returns how many of these
// bytes came for the first time.
func (s *spans) add(begin, end int64, event int) (fresh int64) {
	if begin >= end {
		return 0
	}
	i := s.at(begin)
	for most := i + maxMoves; begin < end; i++ {
		if n := len(s.first); i == most && i < n { // of the rest only what is behind all others can be new
			last := s.first[n-1].end
			s.repeat(span{begin, min(end, last), event})
			if begin, i = max(begin, last), n; begin >= end {
				return fresh
			}
		}
		if i == len(s.first) || s.first[i].begin >= end {
			s.insert(i, span{begin, end, event})
			return fresh + end - begin
		}
		old := s.first[i]
		if begin < old.begin {
			fresh += old.begin - begin
			if !s.insert(i, span{begin, old.begin, event}) {
				i--
			}
			begin = old.begin
			continue
		}
		upto := min(end, old.end)
		s.repeat(span{begin, upto, event})
		begin = upto
	}
	return fresh
}

// repeat notes bytes that had been carried before: those of one packet in one
// span, however many packets carried them first.
func (s *spans) repeat(p span) {
	if p.begin >= p.end {
		return
	}
	if n := len(s.again); n > 0 && s.again[n-1].event == p.event && s.again[n-1].end == p.begin {
		s.again[n-1].end = p.end
		return
	}
	s.again = append(s.again, p)
}

// maxMoves is how far before the newest bytes a gap can be filled, in spans. A
// sender sends in order: only a capture made to cost much goes back farther, and
// of that what fills the gap is forgotten.
const maxMoves = 4096

func (s *spans) insert(i int, p span) bool {
	if len(s.first)-i > maxMoves {
		return false
	}
	s.first = slices.Insert(s.first, i, p)
	return true
}

// at is the index of the first span of first that ends after offset.
func (s *spans) at(offset int64) int {
	n := len(s.first)
	if n == 0 || s.first[n-1].end <= offset {
		return n
	}
	return sort.Search(n, func(i int) bool { return s.first[i].end > offset })
}

// firsts returns who carried the bytes [begin, end) first, cut to them. It is
// not ok where some of them were not seen.
func (s *spans) firsts(begin, end int64) (list []span, ok bool) {
	for i := s.at(begin); i < len(s.first) && s.first[i].begin < end; i++ {
		p := s.first[i]
		if p.begin > begin {
			return nil, false
		}
		list = append(list, span{begin, min(p.end, end), p.event})
		begin = p.end
	}
	return list, begin >= end
}

// carrier is the event that carried the byte at offset first; -1: none was seen.
func (s *spans) carrier(offset int64) int {
	if i := s.at(offset); i < len(s.first) && s.first[i].begin <= offset {
		return s.first[i].event
	}
	return -1
}

// carriers returns all transmissions of the bytes [begin, end), cut to them.
func (s *spans) carriers(begin, end int64) (list []span) {
	cut := func(p span) {
		p.begin, p.end = max(p.begin, begin), min(p.end, end)
		if p.begin < p.end {
			list = append(list, p)
		}
	}
	for i := s.at(begin); i < len(s.first) && s.first[i].begin < end; i++ {
		cut(s.first[i])
	}
	for _, p := range s.again {
		cut(p)
	}
	return list
}

// piece is bytes of a stream.
type piece struct {
	begin int64
	data  []byte
}

// assembler puts the bytes of a stream in order.
type assembler struct {
	next  int64   // offset of the next byte
	held  []piece // beyond a gap, by their offsets
	bytes int     // in held
	lost  bool    // nothing more can be read
}

// maxHeld bounds what is held beyond gaps of one stream, in bytes.
const maxHeld = 4 << 20

// take gives the assembler the bytes at offset begin, and calls read with those
// that are now in order. What is kept for later is held as keep returns it.
func (a *assembler) take(begin int64, data []byte, keep func([]byte) []byte, read func([]byte)) {
	if a.lost || begin+int64(len(data)) <= a.next {
		return
	}
	if begin > a.next {
		if a.bytes+len(data) > maxHeld || len(a.held) >= maxMoves {
			a.lost = true
			a.held = nil
			return
		}
		i := sort.Search(len(a.held), func(i int) bool { return a.held[i].begin > begin })
		a.held = slices.Insert(a.held, i, piece{begin, keep(data)})
		a.bytes += len(data)
		return
	}
	a.pass(piece{begin, data}, read)
	n := 0
	for ; n < len(a.held) && a.held[n].begin <= a.next; n++ {
		a.bytes -= len(a.held[n].data)
		a.pass(a.held[n], read)
	}
	a.held = slices.Delete(a.held, 0, n)
}

func (a *assembler) pass(p piece, read func([]byte)) {
	if skip := a.next - p.begin; skip < int64(len(p.data)) {
		a.next = p.begin + int64(len(p.data))
		read(p.data[skip:])
	}
}

// itself keeps what is not overwritten.
func itself(b []byte) []byte { return b }
