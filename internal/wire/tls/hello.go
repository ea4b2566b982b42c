package tls

// Hello is what the handshake's messages say of a connection, as far as they
// were seen and could be read.
type Hello struct {
	Version    string // negotiated: "1.3", "1.2"; empty: not seen
	ServerName string
	Offered    []string // ALPN offered
	ALPN       string   // chosen; empty: not seen
	Suite      string   // by its name in the IANA registry
	SuiteID    uint16   // the same by its number; 0: not seen
	Groups     []string // offered
	Group      string   // chosen
	ClientSize int      // bytes of the first ClientHello, with the 4 of its header
	// ServerFlight is the bytes of the server's handshake messages, with their
	// headers, up to and with its Finished, a HelloRetryRequest included, as far as
	// they could be read. It is whole where ServerFinished.
	ServerFlight   int
	ServerFinished bool // the server's Finished was seen
	ClientFinished bool // the client's
	HelloRetry     bool
	Resumed        bool
	Tickets        int
	// EarlyOffered: the ClientHello has early_data; EarlyAccepted: the server's
	// EncryptedExtensions have it, nil where they could not be read.
	EarlyOffered  bool
	EarlyAccepted *bool
	// EarlyBytes are bytes of application data that were sent early and could be
	// decrypted, whether the server accepted them or not. For QUIC the reader of
	// its packets fills it.
	EarlyBytes   int64
	ClientRandom [32]byte
	// What else the first ClientHello says.
	KeyShares     []string // groups of its key shares
	Versions      []string // offered, such as "1.3"; of supported_versions, else the legacy version
	Suites        []string // offered
	PSKs          int      // how many pre-shared keys (1.3) were offered
	SessionID     []byte   // legacy_session_id
	TicketOffered bool     // it has a session ticket of TLS 1.2 (RFC 5077)
	// Params are the QUIC transport parameters (RFC 9001, section 8.2) of the client
	// and the server, by lab.Direction; nil: not seen.
	Params [2][]byte
}
