package wire

import (
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Never is the time of what did not happen.
const Never = time.Duration(math.MaxInt64)

// Packet is one packet that a host put on the wire, as the log keeps it.
type Packet struct {
	N    int // its number in the run, from 1, both directions together
	Way  lab.Direction
	At   time.Duration // when it was offered to the link, in the run's own time
	Left time.Duration // when the link delivered it; Never: dropped, or still under way at the end
	// Waited is how long it was queued before its own transmission began, and
	// Sending how long the link transmitted it at its rate; 0 without a rate.
	Waited, Sending time.Duration
	Size            int      // bytes of the whole IP packet
	Fate            lab.Fate // with what active queue management did to it later
	// Data is the packet from its IP header on. It is cut where len(Data) < Size.
	Data []byte
}

// Delivered says whether the packet reached the other host.
func (p *Packet) Delivered() bool { return p.Left != Never }

// Cut says whether the packet was not kept whole.
func (p *Packet) Cut() bool { return len(p.Data) < p.Size }

// Capture is what was kept of a run's packets, in the order in which they were
// offered to the link.
type Capture struct {
	Packets []Packet
	// Skipped counts packets that were seen and not kept at all. They stand
	// before Packets[Gap]; 0: none is missing.
	Skipped, Gap int
	// Secrets are the TLS secrets of the run's connections, in the format of NSS's
	// key log (SSLKEYLOGFILE). Empty: nothing encrypted can be read but Initials.
	Secrets []byte
	// Start and End are the load's, in the run's own time.
	Start, End time.Duration
	// Name tells what was captured: of a run its path, load, protocol and site.
	Name string
}
