// Package quic reads QUIC packets, versions 1 and 2 (RFC 8999, 9000, 9001, 9369).
package quic

// Kind is a packet's type.
type Kind string

// The kinds.
const (
	Initial            Kind = "Initial"
	ZeroRTT            Kind = "0-RTT"
	Handshake          Kind = "Handshake"
	Retry              Kind = "Retry"
	VersionNegotiation Kind = "VersionNegotiation"
	OneRTT             Kind = "1-RTT"
	StatelessReset     Kind = "StatelessReset"
	Unknown            Kind = "Unknown" // a version that is not known, or no QUIC
)

// Packet is one QUIC packet of a datagram.
type Packet struct {
	Kind       Kind
	Version    uint32 // 0 for 1-RTT
	DCID, SCID []byte // SCID: long headers only
	Token      int    // length in bytes: Initial and Retry
	Size       int    // bytes in the datagram, header and tag included
	// Opened says that the packet was decrypted: what follows is valid.
	Opened   bool
	Number   uint64
	KeyPhase bool // 1-RTT
	Frames   []Frame
	// Problem says why the packet could not be opened, or read to its end; empty: it was.
	Problem string
	// Supported are the versions that a VersionNegotiation names.
	Supported []uint32
}

// FrameKind is a frame's type, by the name of RFC 9000, section 19.
type FrameKind string

// The kinds of frames (RFC 9000, section 19; RFC 9221).
const (
	Padding            FrameKind = "PADDING"
	Ping               FrameKind = "PING"
	Ack                FrameKind = "ACK"
	ResetStream        FrameKind = "RESET_STREAM"
	StopSending        FrameKind = "STOP_SENDING"
	Crypto             FrameKind = "CRYPTO"
	NewToken           FrameKind = "NEW_TOKEN"
	Stream             FrameKind = "STREAM"
	MaxData            FrameKind = "MAX_DATA"
	MaxStreamData      FrameKind = "MAX_STREAM_DATA"
	MaxStreams         FrameKind = "MAX_STREAMS"
	DataBlocked        FrameKind = "DATA_BLOCKED"
	StreamDataBlocked  FrameKind = "STREAM_DATA_BLOCKED"
	StreamsBlocked     FrameKind = "STREAMS_BLOCKED"
	NewConnectionID    FrameKind = "NEW_CONNECTION_ID"
	RetireConnectionID FrameKind = "RETIRE_CONNECTION_ID"
	PathChallenge      FrameKind = "PATH_CHALLENGE"
	PathResponse       FrameKind = "PATH_RESPONSE"
	ConnectionClose    FrameKind = "CONNECTION_CLOSE"
	HandshakeDone      FrameKind = "HANDSHAKE_DONE"
	Datagram           FrameKind = "DATAGRAM"
)

// Frame is one frame. Which fields mean something follows from its kind.
type Frame struct {
	Kind   FrameKind
	Stream uint64 // STREAM, RESET_STREAM, STOP_SENDING, MAX_STREAM_DATA, STREAM_DATA_BLOCKED
	Offset uint64 // STREAM, CRYPTO
	Length int    // of the data; of PADDING: how many bytes
	Fin    bool   // STREAM
	// Max is what a MAX_ or _BLOCKED frame says, and the final size of RESET_STREAM.
	Max      uint64
	Uni      bool // MAX_STREAMS, STREAMS_BLOCKED: of unidirectional streams
	Ranges   []Range
	Delay    uint64 // ACK: as sent, not scaled
	ECN      *[3]uint64
	Sequence uint64 // NEW_CONNECTION_ID, RETIRE_CONNECTION_ID
	Retire   uint64 // NEW_CONNECTION_ID: retire prior to
	ID       []byte // NEW_CONNECTION_ID
	Error    uint64 // CONNECTION_CLOSE, RESET_STREAM, STOP_SENDING
	App      bool   // CONNECTION_CLOSE: by the application (0x1d)
	Reason   string
	// Data of STREAM and CRYPTO. It is valid only until the next datagram is read.
	Data []byte
}

// Range is acknowledged packet numbers, both ends included. An ACK has the
// highest range first.
type Range struct{ Smallest, Largest uint64 }
