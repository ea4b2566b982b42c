// Package http tells where requests and responses begin and end in the
// application data of a connection: HTTP/1.1 (RFC 9112), HTTP/2 (RFC 9113) and
// HTTP/3 (RFC 9114).
//
// In goes decrypted data in order, per direction (h3: per stream); out come
// events with their offsets in it. Fields are not decoded (no HPACK, no QPACK),
// and content is not kept.
package http

import "github.com/samewire/samewire/internal/lab"

// Kind names an event.
type Kind string

// The kinds. Of frames, the names are those of RFC 9113 and RFC 9114.
const (
	// The first byte of a request or response. An interim response (1xx) is the
	// start of its response.
	RequestStart  Kind = "request"
	ResponseStart Kind = "response"
	// The last byte, of the content or the trailers.
	RequestEnd  Kind = "end of request"
	ResponseEnd Kind = "end of response"

	Preface      Kind = "preface" // h2: the client's connection preface
	Data         Kind = "DATA"
	Headers      Kind = "HEADERS" // and CONTINUATION: those that are no start
	Priority     Kind = "PRIORITY"
	Reset        Kind = "RST_STREAM"
	Settings     Kind = "SETTINGS"
	SettingsAck  Kind = "SETTINGS ack"
	Push         Kind = "PUSH_PROMISE"
	Ping         Kind = "PING"
	PingAck      Kind = "PING ack"
	GoAway       Kind = "GOAWAY"
	WindowUpdate Kind = "WINDOW_UPDATE"
	CancelPush   Kind = "CANCEL_PUSH"
	MaxPushID    Kind = "MAX_PUSH_ID"
	StreamType   Kind = "stream" // h3: a unidirectional stream's type; see Note
	Other        Kind = "other"  // a frame of another type; see Note
	// Broken: from Begin on the direction (h3: the stream) cannot be read.
	Broken Kind = "broken"
)

// Event is something that the bytes said.
type Event struct {
	Kind Kind
	Way  lab.Direction
	// Stream is the request's: h1 counts requests from 0, h2 and h3 have their
	// stream IDs. Of h2's connection-wide frames it is 0.
	Stream uint64
	// [Begin, End) are offsets in the direction's application data (h3: of the
	// stream's data in that direction). Of starts, Begin is the first byte and End
	// follows the bytes that told it (the first byte of h1, a frame's header); of
	// ends, End follows the last byte. Of an end of h3, and of h1's responses that
	// last until the connection's end, both are the length of the data: the end was
	// told by what carried it, and not by a byte. Of frames they are the whole frame.
	Begin, End int64
	// Size is of DATA the bytes that count for flow control (with padding); of other
	// frames their payload.
	Size int64
	// Value is of WINDOW_UPDATE the increment, of RST_STREAM and GOAWAY the error
	// code (h3's GOAWAY: the ID), of PUSH_PROMISE the promised stream, of
	// CANCEL_PUSH and MAX_PUSH_ID the push ID.
	Value    uint64
	Last     uint64    // h2's GOAWAY: the last stream
	Settings []Setting // SETTINGS, at most MaxSettings of them
	Note     string    // for a person
}

// MaxSettings is how many settings of a frame are kept.
const MaxSettings = 32

// Setting is one setting of a SETTINGS frame.
type Setting struct{ ID, Value uint64 }

// Settings of h2 (RFC 9113, section 6.5.2) that matter for flow control.
const (
	SettingHeaderTableSize      = 1
	SettingEnablePush           = 2
	SettingMaxConcurrentStreams = 3
	SettingInitialWindowSize    = 4
	SettingMaxFrameSize         = 5
	SettingMaxHeaderListSize    = 6
)

// DefaultWindow is h2's initial flow-control window of the connection and of
// each stream, in bytes (RFC 9113, section 6.9.2).
const DefaultWindow = 65535
