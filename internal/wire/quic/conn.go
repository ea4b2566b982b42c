package quic

import (
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
	"github.com/samewire/samewire/internal/wire/tls"
)

// The versions that can be read.
const (
	Version1 uint32 = 0x00000001
	Version2 uint32 = 0x6b3343cf
)

// Conn reads the packets of one connection. Use NewConn.
type Conn struct {
	secrets  *keylog.Log
	messages tls.Messages
}

// NewConn begins a connection. secrets may be nil: then only Initial packets can
// be opened.
func NewConn(secrets *keylog.Log) *Conn { return &Conn{secrets: secrets} }

// Read reads one UDP payload that went in direction d.
func (c *Conn) Read(d lab.Direction, payload []byte) []Packet {
	return c.ReadCut(d, payload, len(payload))
}

// ReadCut reads a UDP payload of size bytes of which only the first were kept.
func (c *Conn) ReadCut(d lab.Direction, payload []byte, size int) []Packet { return nil }

// Hello is what the TLS handshake said so far. It is never nil.
func (c *Conn) Hello() *tls.Hello { return c.messages.Hello() }

// Keys counts what the connection has learnt to open packets with. It grows when
// a datagram with a packet that Waits is worth reading again.
func (c *Conn) Keys() int { return 0 }

// Version is the version in use: the one that the server chose, before that the
// client's first; 0 where none was seen.
func (c *Conn) Version() uint32 { return 0 }

// Params are the transport parameters of the side that sends in direction d; nil
// where they were not seen.
func (c *Conn) Params(d lab.Direction) *Params { return nil }

// IDLength is the length in bytes of the connection ID that the side that sends
// in direction d chose for itself; -1 where it was not seen.
func (c *Conn) IDLength(d lab.Direction) int { return -1 }

// KeyUpdates counts the key updates of the packets opened in direction d.
func (c *Conn) KeyUpdates(d lab.Direction) int { return 0 }
