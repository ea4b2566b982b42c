package http

import "github.com/samewire/samewire/internal/lab"

// H3 reads the streams of a connection with h3.
type H3 struct{}

// NewH3 begins a connection.
func NewH3() *H3 { return &H3{} }

// Read takes the next bytes of a stream in one direction, in order and without
// gaps. fin: they are its last, data may then be empty.
func (c *H3) Read(d lab.Direction, stream uint64, data []byte, fin bool) []Event { return nil }
