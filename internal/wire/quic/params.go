package quic

import (
	"net/netip"
	"time"
)

// Params are transport parameters (RFC 9000, section 18.2). ReadParams fills in
// the defaults of those that were not sent.
type Params struct {
	OriginalDestination []byte        // original_destination_connection_id; nil: not sent
	InitialSource       []byte        // initial_source_connection_id; nil: not sent
	RetrySource         []byte        // retry_source_connection_id; nil: not sent
	ResetToken          []byte        // stateless_reset_token, 16 bytes; nil: not sent
	MaxIdleTimeout      time.Duration // 0: none
	MaxUDPPayloadSize   uint64        // bytes; default 65527
	InitialMaxData      uint64        // bytes
	// Bytes of a stream: bidirectional ones that the sender of the parameter opens
	// (local) or that its peer opens (remote), and unidirectional ones.
	InitialMaxStreamDataBidiLocal  uint64
	InitialMaxStreamDataBidiRemote uint64
	InitialMaxStreamDataUni        uint64
	InitialMaxStreamsBidi          uint64
	InitialMaxStreamsUni           uint64
	AckDelayExponent               uint64        // default 3
	MaxAckDelay                    time.Duration // default 25 ms
	DisableActiveMigration         bool
	PreferredAddress               *PreferredAddress
	ActiveConnectionIDLimit        uint64 // default 2
	MaxDatagramFrameSize           uint64 // RFC 9221; 0: none may be sent
	GreaseQUICBit                  bool   // RFC 9287
	// version_information (RFC 9368); 0 and nil: not sent.
	ChosenVersion     uint32
	AvailableVersions []uint32
}

// PreferredAddress is where a server wants to be reached after the handshake.
type PreferredAddress struct {
	IPv4, IPv6 netip.AddrPort // of zeros: none
	ID         []byte
	ResetToken [16]byte
}

// ReadParams reads the contents of TLS's extension quic_transport_parameters.
func ReadParams(data []byte) (*Params, error) { return nil, nil }
