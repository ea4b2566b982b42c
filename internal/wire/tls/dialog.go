package tls

import (
	"bytes"
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// Types of handshake messages (IANA's registry "TLS HandshakeType").
const (
	typeClientHello         = 1
	typeServerHello         = 2
	typeEncryptedExtensions = 8
	typeServerKeyExchange   = 12
	typeServerHelloDone     = 14
)

var handshakeKinds = map[byte]Kind{
	0: HelloRequest, typeClientHello: ClientHello, typeServerHello: ServerHello, 4: NewSessionTicket,
	5: EndOfEarlyData, typeEncryptedExtensions: EncryptedExtensions, 11: Certificate,
	typeServerKeyExchange: ServerKeyExchange, 13: CertificateRequest, typeServerHelloDone: ServerHelloDone,
	15: CertificateVerify, 16: ClientKeyExchange, 20: Finished, 22: CertificateStatus, 24: KeyUpdate, 25: CompressedCert,
}

// dialog is what the handshake's messages of both directions say, with records
// (Conn) or without (Messages).
type dialog struct {
	hello         Hello
	clientHello   bool
	serverHello   bool // a real one, no HelloRetryRequest
	serverRandom  [32]byte
	helloDone     bool   // TLS 1.2: ServerHelloDone was seen
	legacyVersion uint16 // of the ClientHello
}

// take reads one message. problem says why it could not be read; empty: it was.
func (g *dialog) take(d lab.Direction, m piece) (kind Kind, note, problem string) {
	kind, known := handshakeKinds[m.kind]
	if !known {
		kind, note = OtherHandshake, fmt.Sprintf("type %d", m.kind)
	}
	if m.kind == typeServerHello && len(m.body) >= 34 && bytes.Equal(m.body[2:34], retryRandom[:]) {
		kind = HelloRetryRequest
	}
	g.count(d, kind, m.size)
	if m.long {
		return kind, note, fmt.Sprintf("%s of %d bytes: only up to %d are read", kind, m.size, maxHandshake)
	}
	if !g.read(d, m.kind, kind, &cursor{b: m.body}) {
		problem = fmt.Sprintf("%s: malformed", kind)
	}
	return kind, note, problem
}

// count counts a message, whatever it says.
func (g *dialog) count(d lab.Direction, kind Kind, size int) {
	h := &g.hello
	switch {
	case d == lab.Up && kind == Finished:
		h.ClientFinished = true
	case d == lab.Up && kind == ClientHello && h.ClientSize == 0:
		h.ClientSize = size
	case d == lab.Down && kind == NewSessionTicket:
		h.Tickets++
	}
	if d == lab.Down && !h.ServerFinished {
		h.ServerFlight += size
		h.ServerFinished = kind == Finished
	}
}

// read reads the messages that say something.
func (g *dialog) read(d lab.Direction, number byte, kind Kind, c *cursor) bool {
	switch {
	case number == typeClientHello && d == lab.Up:
		if g.clientHello {
			return true // after a HelloRetryRequest: the first one counts
		}
		return g.readClientHello(c)
	case number == typeServerHello && d == lab.Down:
		return g.readServerHello(c, kind == HelloRetryRequest)
	case number == typeEncryptedExtensions && d == lab.Down:
		return g.readEncryptedExtensions(c)
	case number == typeServerKeyExchange && d == lab.Down:
		g.readServerKeyExchange(c)
	case number == typeServerHelloDone && d == lab.Down:
		g.helloDone = true
	}
	return true
}

// changed takes the server's ChangeCipherSpec of TLS 1.2: where it comes without
// a ServerHelloDone, the handshake is the abbreviated one (RFC 5246, section 7.3;
// RFC 5077, section 3.1).
func (g *dialog) changed(d lab.Direction) {
	if d == lab.Down && g.serverHello && g.hello.Version != "1.3" && !g.helloDone && !g.hello.ServerFinished {
		g.hello.Resumed = true
	}
}
