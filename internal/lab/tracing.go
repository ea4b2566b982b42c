package lab

import (
	"bytes"
	"io"
)

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

// QLog is the qlog of one QUIC connection, as one side left it.
type QLog struct {
	Side string // "client" or "server"
	Name string // of the file that the program wrote
	Data []byte
}

// MaxQLog is how many bytes of a qlog are kept: it is then cut, at the end of an
// event.
const MaxQLog = 64 << 20

// WholeEvents is a qlog without its last event, where that was cut. An event
// begins with a record separator (RFC 7464), or as a line.
func WholeEvents(qlog []byte, cut bool) []byte {
	if !cut {
		return qlog
	}
	return qlog[:max(bytes.LastIndexAny(qlog, "\x1e\n"), 0)]
}
