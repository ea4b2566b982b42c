package http

import "github.com/samewire/samewire/internal/lab"

// Conn reads the application data of a connection with h1 or h2.
type Conn struct{}

// NewConn begins a connection with the protocol that ALPN chose: "h2", or
// "http/1.1". With any other, the first bytes tell which of the two it is.
func NewConn(alpn string) *Conn { return &Conn{} }

// Read takes the next bytes of a direction, in order and without gaps.
func (c *Conn) Read(d lab.Direction, data []byte) []Event { return nil }

// Close says that a direction has ended: no byte follows.
func (c *Conn) Close(d lab.Direction) []Event { return nil }

// Lost says that bytes of a direction are missing from here on: nothing more is
// read in it.
func (c *Conn) Lost(d lab.Direction) {}

// Restart says that what a direction has brought so far never reached the
// application (rejected early data): it begins again at offset 0.
func (c *Conn) Restart(d lab.Direction) {}
