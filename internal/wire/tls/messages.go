package tls

import "github.com/samewire/samewire/internal/lab"

// Level is an encryption level of QUIC's CRYPTO streams (RFC 9001, section 4).
type Level int

// The levels that carry CRYPTO frames.
const (
	LevelInitial Level = iota
	LevelHandshake
	LevelApplication // 1-RTT
	levels
)

// Messages reads bare handshake messages, without records: QUIC's CRYPTO
// streams, one for each level and direction. Its zero value is ready.
type Messages struct {
	dialog  dialog
	streams [2][levels]crypto
}

// crypto is one CRYPTO stream.
type crypto struct {
	hand   assembler
	offset int64
}

// Hello is what the handshake said so far.
func (m *Messages) Hello() *Hello { return &m.dialog.hello }

// Read takes the next bytes of a CRYPTO stream, in order and without gaps, and
// returns the messages that they completed. Begin and End are offsets in that
// level's stream.
func (m *Messages) Read(d lab.Direction, level Level, data []byte) []Message {
	if d != lab.Up && d != lab.Down || level < 0 || level >= levels {
		return nil
	}
	var list []Message
	s := &m.streams[d][level]
	for len(data) > 0 {
		p, rest, done := s.hand.next(data, s.offset)
		if !done {
			s.offset += int64(len(data))
			break
		}
		s.offset += int64(len(data) - len(rest))
		data = rest
		kind, note, problem := m.dialog.take(d, p)
		list = append(list, Message{Kind: kind, Way: d, Begin: s.hand.begin, End: s.offset, Size: p.size,
			Encrypted: level != LevelInitial, Opened: problem == "", Note: note, Problem: problem})
	}
	return list
}
