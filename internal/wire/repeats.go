package wire

import (
	"slices"

	"github.com/samewire/samewire/internal/wire/quic"
)

// lane is a stream of bytes, and which of a half's packets carried which of them.
//
// Properties that an edit must keep:
//   - a step costs O(log n), whatever the order of the bytes: pieces are only
//     added at the end, and one packet looks at no more than lanePieces;
//   - a piece that is sent again in other portions stays one piece: its carrier
//     is the newest packet that carried any byte of it, but for the bytes that
//     portions in order have not come to yet. The second portion repeats what was
//     lost, not the first portion.
type lane struct{ pieces []pieceOf }

type pieceOf struct {
	begin, end int64
	carrier    int
	upto       int64 // 0, or the bytes from here on are still those of rest
	rest       int
}

// from is the packet that carried the byte at an offset last.
func (p *pieceOf) from(offset int64) int {
	if p.upto > 0 && offset >= p.upto {
		return p.rest
	}
	return p.carrier
}

// carry notes that packet i carries the part of the piece within [begin, end).
func (p *pieceOf) carry(begin, end int64, i int) {
	switch {
	case p.upto > 0 && (begin == p.upto || begin <= p.begin && end <= p.upto):
		p.upto = max(p.upto, end)
	case begin <= p.begin:
		p.rest, p.upto = p.carrier, end
	default:
		p.upto = 0
	}
	if p.upto >= p.end {
		p.upto = 0
	}
	p.carrier = i
}

// lanePieces bounds what a hostile capture of one-byte pieces can cost.
const lanePieces = 64

// carry notes that packet i carries the bytes [begin, end). It returns the
// packet that carried the first of them that was sent before; -1: none was.
func (l *lane) carry(begin, end int64, i int) (before int) {
	before = -1
	k, _ := slices.BinarySearchFunc(l.pieces, begin, func(p pieceOf, begin int64) int {
		if p.end <= begin {
			return -1
		}
		return 1
	})
	for n := 0; n < lanePieces && k+n < len(l.pieces) && l.pieces[k+n].begin < end; n++ {
		p := &l.pieces[k+n]
		if before < 0 {
			before = p.from(begin)
		}
		p.carry(begin, end, i)
	}
	last := begin
	if n := len(l.pieces); n > 0 {
		last = max(begin, l.pieces[n-1].end)
	}
	if end > last {
		l.pieces = append(l.pieces, pieceOf{begin: last, end: end, carrier: i})
	}
	return before
}

// findRepeats fills before and repeated.
func (h *half) findRepeats() {
	h.before, h.repeated = make([]int, len(h.sent)), make([]bool, len(h.sent))
	lanes := map[laneKey]*lane{}
	for i := range h.sent {
		if h.quic {
			h.before[i] = h.carryQUIC(lanes, i)
		} else {
			h.before[i] = carry(lanes, laneKey{}, int64(h.sent[i].Number), h.end(i), i)
		}
		if b := h.before[i]; b >= 0 {
			h.repeated[b] = true
		}
	}
}

// laneKey names a stream: of QUIC a stream's ID, or a space's CRYPTO data.
type laneKey struct {
	crypto bool
	id     uint64
}

// carryQUIC returns the oldest packet of which one repeats data.
func (h *half) carryQUIC(lanes map[laneKey]*lane, i int) (before int) {
	before = -1
	p := h.packet(i)
	if p == nil {
		return before
	}
	for k := range p.Frames {
		f := &p.Frames[k]
		var key laneKey
		switch f.Kind {
		case quic.Crypto:
			key = laneKey{true, uint64(h.sent[i].Space)}
		case quic.Stream:
			key = laneKey{false, f.Stream}
		default:
			continue
		}
		end := int64(f.Offset) + int64(f.Length)
		if f.Fin {
			end++ // as TCP counts a FIN, so that one on its own can be told from nothing
		}
		if b := carry(lanes, key, int64(f.Offset), end, i); b >= 0 && (before < 0 || b < before) {
			before = b
		}
	}
	if before == i {
		return -1 // two frames of one packet
	}
	return before
}

func carry(lanes map[laneKey]*lane, key laneKey, begin, end int64, i int) int {
	if end <= begin {
		return -1
	}
	l := lanes[key]
	if l == nil {
		l = &lane{}
		lanes[key] = l
	}
	return l.carry(begin, end, i)
}
