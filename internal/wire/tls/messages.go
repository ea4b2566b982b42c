package tls

import "github.com/samewire/samewire/internal/lab"

// Level is an encryption level of QUIC's CRYPTO streams (RFC 9001, section 4).
type Level int

// The levels that carry CRYPTO frames.
const (
	LevelInitial Level = iota
	LevelHandshake
	LevelApplication // 1-RTT
)

// Messages reads bare handshake messages, without records: QUIC's CRYPTO
// streams, one for each level and direction. Its zero value is ready.
type Messages struct {
	hello Hello
}

// Hello is what the handshake said so far.
func (m *Messages) Hello() *Hello { return &m.hello }

// Read takes the next bytes of a CRYPTO stream, in order and without gaps, and
// returns the messages that they completed. Begin and End are offsets in that
// level's stream.
func (m *Messages) Read(d lab.Direction, level Level, data []byte) []Message { return nil }
