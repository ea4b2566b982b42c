package model

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// transfer is all that the duration of a cell depends on. Explanations change
// one part of it at a time.
type transfer struct {
	rtt      float64 // s
	up, down lab.Way
	loss     float64 // share of packets that carry content

	flights flights
	upload  bool
	objects int
	size    int64
	conns   int
	serial  bool // one request at a time on a connection
	framing framing
	every   int // packets that are acknowledged together

	initial  int     // window, in packets
	grown    int     // packets by which the handshake has widened it
	paced    bool    // as quic-go does
	cubic    bool    // else Reno
	beta     float64 // what is left of the window after a loss
	patience float64 // round trips until a loss is found that later packets do not show
	ceiling  float64 // bytes of flow control; 0 is no limit
}

// quicWindow is quic-go's initial window in packets (v0.65.0,
// internal/congestion/cubic_sender.go), and quicBeta what its Reno backs off to.
const (
	quicWindow = 32
	quicBeta   = 0.7
)

// How long a loss stays unseen that later packets do not show, in round trips:
// TCP probes after two, and the answer takes one (RFC 8985, section 7.2); QUIC
// has a timer of an eighth beside the count of packets (RFC 9002, section 6.1.2),
// and its probes do not reduce the window (section 7.5).
const (
	tcpPatience  = 3
	quicPatience = 1. / 8
)

func newTransfer(c lab.Cell) transfer {
	t := transfer{
		rtt: c.Path.RTT().Seconds(), up: c.Path.Up, down: c.Path.Down,
		loss:    c.Path.Way(dataWay(c.Load)).Loss.Mean(),
		flights: flightsOf(c), upload: c.Load.Upload, objects: c.Load.Objects, size: c.Load.Size,
		conns: c.Load.For(c.Protocol), serial: c.Protocol == lab.H1, framing: framingOf(c),
		every: 1, initial: c.Stack.InitCwnd, cubic: c.Stack.CC == "cubic", beta: 0.5, patience: tcpPatience,
		ceiling: flowControl(c),
	}
	switch {
	case c.Protocol == lab.H3:
		t.every, t.initial, t.cubic, t.beta, t.patience = 2, quicWindow, false, quicBeta, quicPatience
		t.grown = 1 // a packet of the handshake, and the last one may exceed the window
		t.paced = c.Stack.Pacing != lab.PacingOff
	case c.Site != lab.Kernel:
		// gVisor counts the acknowledgements of the handshake's two segments;
		// Linux does not widen a window that was not used.
		t.grown = 2
		if c.Load.Warm { // and of the request that warmed it up
			t.grown += 2 + t.framing.lead
		}
	}
	if c.Load.Warm {
		t.framing.lead = 0
	}
	if t.cubic {
		t.beta = cubicBeta
	}
	return t
}

// dataWay is the direction in which a load's content goes.
func dataWay(l lab.Load) lab.Direction {
	if l.Upload {
		return lab.Up
	}
	return lab.Down
}

// The largest flow-control windows of the embedded programs, in bytes: Go's
// HTTP/2 client for a stream, quic-go's client for a stream and a connection,
// and the server's for an upload (internal/origin). TCP's own are larger.
const (
	h2Stream  = 4 << 20
	h3Stream  = 6 << 20
	h3All     = 15 << 20
	upload    = 16 << 20
	uploadAll = 24 << 20
)

func flowControl(c lab.Cell) float64 {
	streams := math.Ceil(float64(c.Load.Objects) / float64(c.Load.For(c.Protocol)))
	switch {
	case c.Protocol == lab.H1:
		return 0
	case c.Protocol == lab.H2 && c.Load.Upload:
		return upload
	case c.Protocol == lab.H2:
		return streams * h2Stream
	case c.Load.Upload:
		return min(streams*upload, uploadAll)
	default:
		return min(streams*h3Stream, h3All)
	}
}

// ways are the two directions, as the content goes.
func (t transfer) ways() (data, acks *way) {
	up, down := newWay(t.up, t.rtt), newWay(t.down, t.rtt)
	if t.upload {
		return &up, &down
	}
	return &down, &up
}

func (t transfer) sender(data, acks *way) *sender {
	s := &sender{
		data: data, acks: acks, packet: t.framing.packet, every: t.every,
		window: float64(t.initial + t.grown), rtt: t.rtt, small: t.framing.lead,
		pacer:   pacer{on: t.paced},
		control: control{cubic: t.cubic, beta: t.beta},
	}
	if t.ceiling > 0 {
		s.ceiling = t.ceiling / t.framing.packet.fill
	}
	return s
}
