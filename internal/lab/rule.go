package lab

import "time"

// Rules are exact rules of one direction, as text: rules as ParseRule reads
// them, separated by "; ". Each packet goes through all of them; the first
// that takes it decides.
type Rules string

// Rule says which packets of a direction are dropped, or rejected with ICMP. A
// packet is taken when it matches the filter (Transport, Kind, Above), when it
// comes in the window (From, To, After, For), and when it is chosen among those
// (Share, Every, Period, Nth: at most one of them is set; none means all).
type Rule struct {
	Verb RuleVerb

	Transport Transport  // "" means any
	Kind      PacketKind // "" means any
	Above     int        // only IP packets of more bytes

	Share  float64       // by chance, independently
	Every  int           // the Nth, 2Nth, 3Nth … of those that match
	Period time.Duration // the first that matches after each multiple of the period
	Nth    []int         // these of those that match, from 1

	From, To  time.Duration // window; To 0 means for ever
	After     int64         // the window opens once so many IP bytes have been offered; 0 means at From
	Direction Direction     // in which After counts
	For       time.Duration // the window closes so long after it has opened; 0 means never
}

// RuleVerb says what becomes of the packets that a rule takes.
type RuleVerb string

// The verbs.
const (
	RuleDrop   RuleVerb = "drop"
	RuleReject RuleVerb = "reject" // dropped, and answered with ICMP port unreachable
	RuleOutage RuleVerb = "outage" // dropped, and called an outage
)

// PacketKind is what the link can tell of a packet without keys.
type PacketKind string

// The kinds.
const (
	KindSYN       PacketKind = "syn"       // TCP with the SYN flag
	KindInitial   PacketKind = "initial"   // a datagram that begins with a QUIC Initial (RFC 9000, 17.2.2)
	KindZeroRTT   PacketKind = "0rtt"      // with a 0-RTT packet
	KindHandshake PacketKind = "handshake" // with a Handshake packet
	KindRetry     PacketKind = "retry"
	KindOneRTT    PacketKind = "1rtt" // with a short header: only after the handshake
)
