package lab

import "time"

// DefaultMTU is the largest IP packet of a path that names none, in bytes.
const DefaultMTU = 1500

// DefaultQueue is what waits for the rate where a path names no queue: netem's
// default limit, in packets.
const DefaultQueue = 1000

// Family is the IP version of a path.
type Family string

// The families. The empty Family means IPv4.
const (
	IPv4 Family = "ipv4"
	IPv6 Family = "ipv6"
)

// Path is the network between the two hosts, each direction on its own. Times
// count from the first packet that either host sends.
//
// A Path is comparable: equal paths are equal values. What is a list (Rules) or
// a file (Trace) is therefore kept as text.
type Path struct {
	Name   string `json:"name"`
	Family Family `json:"family"`          // empty means IPv4
	Up     Way    `json:"up"`              // client to server
	Down   Way    `json:"down"`            // server to client
	Rebind Rebind `json:"rebind,omitzero"` // of the client's address translation
}

// RTT is the path's round-trip time without queueing or serialisation.
func (p Path) RTT() time.Duration { return p.Up.Delay + p.Down.Delay }

// Way returns the direction d of the path.
func (p Path) Way(d Direction) Way {
	if d == Up {
		return p.Up
	}
	return p.Down
}

// Lossless says that no packet of the path is lost by chance or by a rule. A
// queue can still overflow, and a policer drop.
func (p Path) Lossless() bool { return p.Up.lossless() && p.Down.lossless() }

// InOrder says that no packet of the path overtakes another of its flow.
func (p Path) InOrder() bool { return p.Up.inOrder() && p.Down.inOrder() }

// Outages says that there are times at which nothing passes.
func (p Path) Outages() bool { return p.Up.Outages() || p.Down.Outages() }

// Way is one direction of a path. The zero Way delivers everything at once.
type Way struct {
	Delay  time.Duration // one way, 0 or more
	Jitter Jitter        // what is added to the delay, packet by packet

	Rate     Rate  // of IP bytes; 0 means unlimited
	Overhead int   // bytes that the rate counts besides each IP packet (netem's packet overhead), -1000 to 1000
	Burst    int64 // token bucket: bytes that may leave at once after a pause; 0 means a plain wire
	Police   bool  // no queue: what exceeds rate and burst is dropped. Needs a rate and a burst
	Trace    Trace // a rate that changes, instead of Rate
	Queue    Queue // what may wait for the rate; zero means DefaultQueue packets
	AQM      AQM   // which of what waits is dropped or marked early
	// Limit is netem's: packets in the direction in all, those that wait and
	// those under way; what comes on top is dropped. 0 means none.
	Limit    int
	Throttle Throttle // a policer of its own for UDP or TCP

	Loss      Loss    // by chance
	Rules     Rules   // exact: which packets are dropped or rejected, and when
	Duplicate Chance  // share of packets that arrive twice
	Corrupt   Chance  // share of packets of which one bit is flipped
	Reorder   Reorder // share of packets that are not delayed, and so overtake

	MTU    int    // largest IP packet in bytes; 0 means DefaultMTU
	Shrink Shrink // of the MTU, later
	TooBig bool   // what exceeds the MTU is answered with ICMP; otherwise it vanishes (a black hole)
}

// DeviceMTU is the MTU of the host's device that sends into the way, in bytes:
// an ordinary network's, or the way's own where that is larger. A host does not
// know of a smaller MTU farther on: dropping what is too large is the link's
// affair.
func (w Way) DeviceMTU() int { return max(w.MTU, DefaultMTU) }

func (w Way) lossless() bool { return w.Loss == (Loss{}) && w.Rules == "" && w.Corrupt == (Chance{}) }

func (w Way) inOrder() bool {
	return w.Reorder == (Reorder{}) && (w.Jitter == (Jitter{}) || w.Jitter.InOrder)
}

// MeanRate is the way's rate in the long run: the fixed one, or its trace's mean;
// 0 where there is no limit, or where the trace's content is not known.
func (w Way) MeanRate() Rate {
	if w.Rate > 0 || w.Trace.Data == "" {
		return w.Rate
	}
	rate, err := w.Trace.Mean()
	if err != nil {
		return 0
	}
	return rate
}

// Limited says that the way has a limit of rate: a fixed one, or a trace's.
func (w Way) Limited() bool { return w.Rate > 0 || w.Trace != (Trace{}) }

// Queue is a limit on what waits for the rate. Exactly one field is set; the
// zero Queue means DefaultQueue packets. It has no meaning without a rate.
type Queue struct {
	Packets int
	Bytes   int64
	BDP     float64       // times rate × RTT of the path
	Time    time.Duration // the longest wait
}

// Jitter is what is added to the delay of each packet (netem's delay TIME
// JITTER CORRELATION distribution …). A delay never becomes negative.
type Jitter struct {
	Spread       time.Duration // uniform: at most, either way; others: the standard deviation, as netem has it
	Correlation  float64       // of one packet's with the one before, 0 to 1 (1 excluded)
	Distribution Distribution
	InOrder      bool // no packet overtakes: one waits for those before it
}

// Distribution is the distribution of a jitter.
type Distribution string

// The distributions. The empty one is uniform, as in netem.
const (
	Uniform Distribution = ""
	Normal  Distribution = "normal" // netem's table: cut off at 4 standard deviations
	// Pareto is netem's table: (4/3)·(u^(-1/3) − 3/2), cut off at 4; its mean
	// is −0.033 (0 without the cut), its least value −2/3.
	Pareto Distribution = "pareto"
)

// Chance is a share of packets, and the correlation of one packet's fate with
// the one before. The share is exact whatever the correlation (netem's own
// arithmetic changes it).
type Chance struct {
	Share       float64 // 0 to 1
	Correlation float64 // 0 to 1 (1 excluded)
}

// Reorder lets some packets pass without delay and jitter (netem's reorder
// PERCENT CORRELATION gap N): after N−1 that were delayed each has the chance,
// until one has passed. The share of all packets is 1 / (N − 1 + 1/Share).
type Reorder struct {
	Share       float64 // 0 to 1
	Correlation float64
	Gap         int // 0 and 1 mean that each packet has the chance, always
}

// Loss is loss by chance.
type Loss struct {
	Share   float64 // of packets, 0 to 1; not with Gilbert
	Burst   int     // they are lost in bursts of exactly so many; 0 and 1 mean independently
	Gilbert Gilbert // the Gilbert–Elliott model instead
	// Super decides once for each super-packet that segmentation offload made,
	// as netem does on a host, and not for each packet on the wire. In the
	// sites without offload it makes no difference.
	Super bool
	ECN   bool // packets that understand ECN are marked instead (netem's ecn)
}

// Mean is the share of packets that are lost in the long run.
func (l Loss) Mean() float64 {
	g := l.Gilbert
	if g == (Gilbert{}) {
		return l.Share
	}
	if g.P+g.R == 0 {
		return g.Good // it starts in the good state, and never leaves it
	}
	bad := g.P / (g.P + g.R)
	return bad*g.Bad + (1-bad)*g.Good
}

// Gilbert is the Gilbert–Elliott model with netem's four parameters (loss
// gemodel P R 1-H 1-K). The zero value is none.
type Gilbert struct {
	P    float64 // from the good state to the bad one, per packet
	R    float64 // from the bad state to the good one
	Bad  float64 // 1-h: loss in the bad state
	Good float64 // 1-k: loss in the good state
}

// AQM is an active queue management on what waits for the rate.
type AQM struct {
	Kind     AQMKind
	Target   time.Duration // 0 means 5 ms
	Interval time.Duration // 0 means 100 ms
	ECN      bool          // packets that understand ECN are marked instead of dropped
	Flows    int           // fq_codel: buckets; 0 means 1024
	Quantum  int           // fq_codel: bytes a flow may send a turn; 0 means the MTU + 14
}

// AQMKind names an active queue management as tc does.
type AQMKind string

// The kinds. The empty one is none: a tail drop queue.
const (
	CoDel   AQMKind = "codel"    // RFC 8289
	FQCoDel AQMKind = "fq_codel" // RFC 8290
)

// Throttle is a policer for one transport alone: what exceeds it is dropped.
// The zero Throttle is none.
type Throttle struct {
	Transport Transport // "" means UDP and TCP together
	Rate      Rate
	Burst     int64 // bytes; 0 means what the rate carries in 10 ms, and at least 10 packets of 1500 B
}

// Transport is a transport protocol.
type Transport string

// The transports.
const (
	UDP Transport = "udp"
	TCP Transport = "tcp"
)

// Shrink is an MTU that becomes smaller. The zero Shrink is none.
type Shrink struct {
	MTU int
	At  time.Duration
}

// Trace is a rate that changes over time, from a file. The zero Trace is none.
type Trace struct {
	Name string // the file, as the study names it
	Kind TraceKind
	Data string // its content; empty in a path that was just read from JSON (see Traces)
	// SHA256 is the content's digest in hexadecimal digits, as NewTrace sets it.
	SHA256 string
}

// TraceKind is the format of a trace.
type TraceKind string

// The formats.
const (
	// Mahimahi has a line for each opportunity to deliver up to 1500 B, in ms;
	// it starts again at its end.
	Mahimahi TraceKind = "mahimahi"
	// RateCSV has lines "seconds,rate"; the last rate stays.
	RateCSV TraceKind = "csv"
)

// Rebind is what the address translation on the client's side does to its
// flows: their port, or the address, changes as the server sees it. The zero
// Rebind is none.
type Rebind struct {
	At        time.Duration // once, at this time; 0 means no such time
	Every     time.Duration // and then again and again; 0 means not
	Idle      time.Duration // when a flow has been idle for so long; 0 means not
	Address   bool          // the address changes; otherwise the port does
	Transport Transport     // only flows of this transport; "" means all
}
