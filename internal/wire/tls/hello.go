// Package tls reads TLS records and handshake messages (RFC 8446, RFC 5246).
package tls

// Hello is what the handshake's messages say of a connection.
type Hello struct {
	Version    string // negotiated: "1.3", "1.2"; empty: not seen
	ServerName string
	Offered    []string // ALPN offered
	ALPN       string   // chosen; empty: not seen
	Suite      string   // by its name in the IANA registry
	Groups     []string // offered
	Group      string   // chosen
	ClientSize int      // bytes of the first ClientHello
	// ServerFlight is the bytes of the server's messages up to its Finished.
	ServerFlight int
	HelloRetry   bool
	Resumed      bool
	Tickets      int
	// EarlyOffered: the ClientHello has early_data; EarlyAccepted: the server's
	// EncryptedExtensions have it, nil where they could not be read.
	EarlyOffered  bool
	EarlyAccepted *bool
	EarlyBytes    int64
	ClientRandom  [32]byte
}
