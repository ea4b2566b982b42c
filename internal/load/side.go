package load

import (
	"runtime/debug"

	"github.com/samewire/samewire/internal/lab"
)

// The receive windows of one stream, in bytes.
const (
	// http2Window is what net/http announces: http2transportDefaultStreamFlow
	// in net/http/h2_bundle.go, Go 1.26.
	http2Window = 4 << 20
	// quicWindow is the most that quic-go's automatic tuning reaches, from
	// 512 KiB on: DefaultMaxReceiveStreamFlowControlWindow in
	// internal/protocol/params.go, v0.65.0.
	quicWindow = 6 << 20
)

// side says what is known of the client's side.
func (d *dialer) side() lab.Side {
	s := lab.Side{Program: lab.Program(debug.ReadBuildInfo()), Window: window(d.cfg.Protocol)}
	for _, c := range d.attempts {
		s.Senders = append(s.Senders, c.senders...)
		if c.buffer != nil && (s.UDPReceiveBuffer == nil || *c.buffer < *s.UDPReceiveBuffer) {
			s.UDPReceiveBuffer = c.buffer
		}
	}
	return s
}

// window is what a stream of the protocol may receive unasked. HTTP/1.1 has
// TCP's window only, which nobody tells.
func window(p lab.Protocol) *int64 {
	var w int64
	switch p {
	case lab.H2:
		w = http2Window
	case lab.H3:
		w = quicWindow
	default:
		return nil
	}
	return &w
}
