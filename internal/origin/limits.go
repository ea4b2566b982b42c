package origin

import (
	"net/http"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/samewire/samewire/internal/lab"
)

const (
	// streamWindow is the flow-control window of one upload, in bytes, with
	// HTTP/2 and HTTP/3: nine times what 100 Mbit/s over a round trip of 150 ms
	// has in flight, so that flow control is not what an upload measures.
	// HTTP/1.1 has TCP's window only.
	streamWindow = 16 << 20
	// connWindow is HTTP/3's window of all uploads of a connection. HTTP/2's is
	// streamWindow: Go's server sends one window update for both.
	connWindow = 24 << 20
	// maxStreams is how many requests of one connection may be open. Left
	// alone, Go's HTTP/2 allows 250 and quic-go 100 (DefaultMaxIncomingStreams,
	// internal/protocol/params.go), and a page of 200 objects would compare that.
	maxStreams = 250

	// handshakeLimit is how long a handshake may be silent: as long as Linux
	// tries to open a TCP connection (tcp_syn_retries, ip-sysctl). On TCP it is
	// also the limit of TLS and of a request's header; with QUIC the handshake
	// may take twice that. quic-go's own limits, 5 s of silence and 10 s in all
	// (DefaultHandshakeIdleTimeout; config.go, handshakeTimeout), fail handshakes
	// on a long or lossy path where TCP would still be trying.
	handshakeLimit = 127 * time.Second
	// idleLimit is how long a connection may be idle. With QUIC the lower of
	// both ends' limits holds (RFC 9000, section 10.1), so that a client which
	// wants less has less. quic-go's own is 30 s (DefaultIdleTimeout).
	idleLimit = 10 * time.Minute
)

func http2Config() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          maxStreams,
		MaxReceiveBufferPerConnection: streamWindow,
		MaxReceiveBufferPerStream:     streamWindow,
	}
}

// quicConfig leaves the initial windows at quic-go's 512 KiB and 768 KiB: they
// double as fast as an upload's slow start needs them.
func quicConfig(t lab.Tracing) *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout:       handshakeLimit,
		MaxIdleTimeout:             idleLimit,
		MaxIncomingStreams:         maxStreams,
		MaxStreamReceiveWindow:     streamWindow,
		MaxConnectionReceiveWindow: connWindow,
		Tracer:                     tracer(t.QLog),
	}
}
