package lab

// Reason says why a packet was not delivered; the empty Reason that it was.
type Reason string

// The reasons for a drop.
const (
	NotDropped   Reason = ""
	DropMTU      Reason = "mtu"      // larger than the direction's MTU
	DropLoss     Reason = "loss"     // by chance
	DropRule     Reason = "rule"     // by an exact rule
	DropReject   Reason = "reject"   // by a rule, and answered with ICMP
	DropOutage   Reason = "outage"   // nothing passed
	DropQueue    Reason = "queue"    // the queue was full
	DropAQM      Reason = "aqm"      // by active queue management
	DropPolice   Reason = "police"   // by the policer: there is no queue
	DropThrottle Reason = "throttle" // by the policer of one transport
	DropLimit    Reason = "limit"    // too many packets under way (netem's limit)
	DropNAT      Reason = "nat"      // to an address that is no longer the client's
)

// DropNetem is the reason for what the kernel's netem dropped, where that moves
// the packets: by chance, or for its limit, which it does not tell apart.
const DropNetem Reason = "netem"

// Reasons lists all reasons for which the link drops.
func Reasons() []Reason {
	return []Reason{
		DropMTU, DropLoss, DropRule, DropReject, DropOutage, DropQueue, DropAQM, DropPolice, DropThrottle, DropLimit, DropNAT,
	}
}

// Fate is what the link decided about a packet when it was offered. With active
// queue management a packet may still be dropped or marked while it waits.
type Fate struct {
	Drop       Reason
	Duplicated bool // it will arrive twice
	Corrupted  bool // one bit of it will be flipped
	Reordered  bool // it was let pass without its delay
	Marked     bool // it will arrive with ECN's congestion experienced
}
