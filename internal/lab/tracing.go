package lab

import "io"

// Tracing is where a program leaves what makes its encrypted packets readable.
// The zero value is nowhere. It is no part of a configuration as text: a process
// is told by its environment.
type Tracing struct {
	// Keys takes the TLS secrets of each connection, as lines of NSS's key log
	// (SSLKEYLOGFILE). A write must not fail: crypto/tls would give the connection
	// up. It is written to by several goroutines at once, a line at a time.
	Keys io.Writer
	// QLog opens the qlog of a QUIC connection, which is given as file name. Where
	// it returns nil the connection has none.
	QLog func(name string) io.WriteCloser
}
