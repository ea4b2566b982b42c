package tls

import (
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// Conn reads one connection of TLS over TCP.
type Conn struct {
	hello   Hello
	secrets *keylog.Log
}

// NewConn begins a connection. secrets may be nil.
func NewConn(secrets *keylog.Log) *Conn { return &Conn{secrets: secrets} }

// Hello is what the handshake said so far.
func (c *Conn) Hello() *Hello { return &c.hello }

// Read takes the next bytes of a direction, in order and without gaps, and
// returns what they completed.
func (c *Conn) Read(d lab.Direction, data []byte) []Message { return nil }

// Lost says that bytes of a direction are missing from here on: nothing more is
// read in it.
func (c *Conn) Lost(d lab.Direction) {}
