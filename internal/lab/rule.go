package lab

import (
	"strings"
	"time"
)

// Rules are exact rules of one direction, as text: rules as ParseRule reads
// them, separated by "; ". Each packet goes through all of them; the first
// that takes it decides.
type Rules string

// Rule says which packets of a direction are dropped, or rejected with ICMP. A
// packet is taken when it matches the filter (Transport, Kind, Above), when it
// comes in the window (From and To, or After and For), and when it is chosen
// among those (Share, Every, Period, Nth: at most one of them is set; none
// means all). Only packets that match and come in the window are counted; what
// exceeds the MTU, or has no valid address translation, does not come to the
// rules.
type Rule struct {
	Verb RuleVerb

	Transport Transport  // "" means any
	Kind      PacketKind // "" means any
	Above     int        // only IP packets of more bytes; 0 means all

	Share float64 // by chance, independently: above 0, to 1
	Every int     // the Nth, 2Nth, 3Nth …
	// Period takes the first packet after each multiple of it, on the path's
	// own clock, that lies in the window: not at 0, where connections begin.
	Period time.Duration
	Nth    []int // these, from 1, in ascending order

	// The window opens at From, and closes before To; To 0 means never.
	From, To time.Duration
	// Or it opens behind the packet with which After IP bytes have been offered
	// to the direction Counts, and closes so much later; For 0 means never.
	After  int64
	Counts RuleSide
	For    time.Duration
}

// RuleVerb says what becomes of the packets that a rule takes.
type RuleVerb string

// The verbs.
const (
	RuleDrop   RuleVerb = "drop"
	RuleReject RuleVerb = "reject" // dropped, and answered with ICMP port unreachable
	RuleOutage RuleVerb = "outage" // dropped, and called an outage
)

// RuleSide is a direction as a rule names it.
type RuleSide string

// The sides.
const (
	OwnSide  RuleSide = ""     // the direction whose rule it is
	UpSide   RuleSide = "up"   // from the client to the server
	DownSide RuleSide = "down" // from the server to the client
)

// Direction is the direction that a rule of direction own means.
func (s RuleSide) Direction(own Direction) Direction {
	switch s {
	case UpSide:
		return Up
	case DownSide:
		return Down
	default:
		return own
	}
}

// PacketKind is what the link can tell of a packet without keys. A datagram with
// several QUIC packets is of the kind of the first.
type PacketKind string

// The kinds.
const (
	KindSYN       PacketKind = "syn"       // TCP with the SYN flag
	KindInitial   PacketKind = "initial"   // a datagram that begins with a QUIC Initial (RFC 9000, 17.2.2)
	KindZeroRTT   PacketKind = "0rtt"      // that begins with a 0-RTT packet
	KindHandshake PacketKind = "handshake" // that begins with a Handshake packet
	KindRetry     PacketKind = "retry"     // that is a Retry
	KindOneRTT    PacketKind = "1rtt"      // with a short header: only after the handshake
)

// Outages says that there are times at which nothing passes in this direction.
func (w Way) Outages() bool { return strings.Contains(string(w.Rules), string(RuleOutage)) }
