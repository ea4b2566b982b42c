package lab

import "time"

// MaxIdle is the longest rest of warm connections.
const MaxIdle = 10 * time.Minute

// Load is what the client does.
type Load struct {
	Name    string `json:"name"`
	Objects int    `json:"objects"` // number of objects, asked for at once; at least 1
	Size    int64  `json:"size"`    // of each object, in bytes
	// Warm opens the connections and carries out one tiny request on each
	// before the clock starts.
	Warm bool `json:"warm"`
	// Idle is how long the warm connections rest before the clock starts, 0 to
	// MaxIdle. It has no meaning without Warm.
	Idle time.Duration `json:"idle_ns"`
	// Upload sends the objects instead of fetching them.
	Upload bool `json:"upload"`
	// Connections the client opens, per protocol; zero fields mean the
	// default: 6 for h1, as browsers do, and 1 for h2 and h3.
	Connections Connections `json:"connections"`
}

// Connections is a number of connections for each protocol. Zero means the
// protocol's default.
type Connections struct {
	H1 int `json:"h1"`
	H2 int `json:"h2"`
	H3 int `json:"h3"`
}

// DefaultConnections is what browsers open: six for HTTP/1.1, else one.
var DefaultConnections = Connections{H1: 6, H2: 1, H3: 1}

// For returns the number of connections that protocol p is asked to open for
// the load: never more than there are objects.
func (l Load) For(p Protocol) int {
	n := l.Connections.of(p)
	if n == 0 {
		n = DefaultConnections.of(p)
	}
	return min(n, l.Objects)
}

func (c Connections) of(p Protocol) int {
	switch p {
	case H1:
		return c.H1
	case H2:
		return c.H2
	default:
		return c.H3
	}
}

// Bytes is the number of body bytes that the whole load moves.
func (l Load) Bytes() int64 { return int64(l.Objects) * l.Size }

// Stack is who speaks, and how.
type Stack struct {
	Server string `json:"server"` // adapter's name; "embedded" is samewire itself
	Client string `json:"client"`
	TLS    string `json:"tls"` // "1.3" or "1.2"; QUIC always uses 1.3 (RFC 9001)
	// CC is the congestion control that the lab sets for TCP on both hosts.
	CC string `json:"cc"`
	// InitCwnd is TCP's initial window in segments, set by the lab on both hosts.
	InitCwnd int `json:"initcwnd"`
	// Pacing of the QUIC side: empty is as the program has it, PacingOff is none.
	Pacing string `json:"pacing"`
}

// PacingOff has QUIC send without pacing, all that its window allows at once.
const PacingOff = "off"

// Embedded is the name of samewire's own server and client.
const Embedded = "embedded"

// DefaultStack is the stack of a study that names none: samewire's own server
// and client, TLS 1.3, CUBIC with ten segments as Linux has it.
var DefaultStack = Stack{Server: Embedded, Client: Embedded, TLS: "1.3", CC: "cubic", InitCwnd: 10}
