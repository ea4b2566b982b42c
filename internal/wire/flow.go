package wire

import "github.com/samewire/samewire/internal/lab"

// sender is what is known of one direction of a TCP connection.
type sender struct {
	next  uint32 // the sequence number after the highest one sent,
	whole int64  // and its place in the stream: the first packet seen begins at 0
}

// recentFlow remembers a flow, so that a packet costs no search in a map as a
// rule.
type recentFlow struct {
	source, dest uint16
	sender       *sender
}

// recentFlows is how many flows of a direction are remembered: a load's
// connections have ports that follow each other.
const recentFlows = 16

// sender returns the sender of a segment; nil where there is none.
func (w *Witness) sender(d lab.Direction, h *header) *sender {
	r := &w.recent[d][(h.source^h.dest)%recentFlows]
	if r.sender != nil && r.source == h.source && r.dest == h.dest {
		return r.sender
	}
	s := w.flows[flow{d, h.source, h.dest}]
	if s != nil {
		*r = recentFlow{h.source, h.dest, s}
	}
	return s
}

// seeTCP returns the place of the segment in its direction's stream.
func (w *Witness) seeTCP(d lab.Direction, h *header) int64 {
	length := uint32(h.payload())
	if h.flags&(flagSYN|flagFIN) != 0 {
		length += uint32(h.flags&flagFIN) + uint32(h.flags&flagSYN)/flagSYN
	}
	s := w.sender(d, h)
	if s == nil || h.flags&flagSYN != 0 && h.seq+length != s.next {
		w.open(d, h, length)
		return 0
	}
	// Sequence numbers compare modulo 2³² (RFC 9293, section 3.4).
	behind := int64(int32(s.next - h.seq))
	at := s.whole - behind
	if length == 0 {
		return at
	}
	if behind > 0 {
		w.ways[d].TCPRetransmits++
		w.again[d] += min(behind, int64(h.payload()))
	}
	if more := int64(length) - behind; more > 0 {
		s.next, s.whole = h.seq+length, s.whole+more
	}
	return at
}

// open takes note of a connection's first segment in a direction.
func (w *Witness) open(d lab.Direction, h *header, length uint32) {
	if h.flags&(flagSYN|flagACK) == flagSYN {
		w.tcp++
	}
	s := &sender{next: h.seq + length, whole: int64(length)}
	w.flows[flow{d, h.source, h.dest}] = s
	w.recent[d][(h.source^h.dest)%recentFlows] = recentFlow{h.source, h.dest, s}
}
