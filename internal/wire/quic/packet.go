package quic

import "github.com/samewire/samewire/internal/wire/tls"

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
	// Unknown is a version that is not known, or no QUIC; without a Problem it is
	// padding after the datagram's last packet.
	Unknown Kind = "Unknown"
)

// Packet is one QUIC packet of a datagram. DCID and SCID point into the payload
// that was read; Frames and what they hold stay valid, but for their Data.
type Packet struct {
	Kind       Kind
	Version    uint32 // 0 for 1-RTT
	DCID, SCID []byte // SCID: long headers only
	Token      int    // length in bytes: Initial and Retry
	Size       int    // bytes in the datagram, header and tag included
	// NumberKnown says that Number and KeyPhase could be read. Without Opened they
	// are not authenticated: the packet was cut short by the log.
	NumberKnown bool
	// Opened says that the packet was decrypted: what follows is valid.
	Opened   bool
	Number   uint64
	KeyPhase bool // 1-RTT
	Frames   []Frame
	// Messages are the TLS handshake messages that CRYPTO frames of this packet
	// completed; their offsets are in the CRYPTO stream of the packet's level.
	Messages []tls.Message
	// Waits says that the packet could not be opened, but may be once later packets
	// were read: read its datagram again when Conn.Keys has grown.
	Waits bool
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

	// Extensions that are drafts: QUIC acknowledgement frequency and reliable resets.
	AckFrequency  FrameKind = "ACK_FREQUENCY"
	ImmediateAck  FrameKind = "IMMEDIATE_ACK"
	ResetStreamAt FrameKind = "RESET_STREAM_AT"
)

// Frame is one frame. Which fields mean something follows from its kind.
type Frame struct {
	Kind   FrameKind
	Stream uint64 // STREAM, RESET_STREAM, STOP_SENDING, MAX_STREAM_DATA, STREAM_DATA_BLOCKED
	Offset uint64 // STREAM, CRYPTO
	Length int    // of the data; of PADDING: how many bytes
	Fin    bool   // STREAM
	// Max is what a MAX_ or _BLOCKED frame says, the final size of RESET_STREAM, and
	// the type of frame that CONNECTION_CLOSE (0x1c) blames, 0 for none.
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
	// Token is the stateless reset token of NEW_CONNECTION_ID.
	Token [16]byte
	// Data of STREAM, CRYPTO, DATAGRAM, NEW_TOKEN, PATH_CHALLENGE and PATH_RESPONSE.
	// It is valid only until the next datagram is read.
	Data []byte
}

// Range is acknowledged packet numbers, both ends included. An ACK has the
// highest range first.
type Range struct{ Smallest, Largest uint64 }
