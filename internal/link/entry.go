package link

import (
	"time"
)

// entry is a packet on its way through one direction, and what is still to be
// done to it.
type entry[P any] struct {
	hold      P
	size      int           // IP bytes
	offered   time.Duration // when it was offered
	delay     time.Duration // from leaving the queue to delivery
	change    change        // what Apply will do
	twin      twin          // of a packet that was duplicated
	last      bool          // hold will not come out again
	overtakes bool          // was let pass without its delay
	ect       bool          // understands ECN (RFC 3168): may be marked
	flow      uint32        // hash of addresses, ports and protocol; only filled where AQM asks for it
}
