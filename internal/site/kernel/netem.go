package kernel

import (
	"fmt"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
)

// The handles of plan.ExportNetem's queueing disciplines: what tc writes as
// "1:" and so on. Those that act on what leaves or arrives have the last one.
const (
	netemHandle  = 1
	rateHandle   = 2
	aqmHandle    = 3
	delayHandle  = 4
	policeHandle = 0xffff
)

// queue is what the kernel counts for a queueing discipline. Handle and parent
// are the major halves of the numbers.
type queue struct {
	handle, parent uint32
	drops          int
}

// netemDrops says how many packets queueing disciplines dropped, and why. The
// kernel counts a drop at the one that dropped, and again at each that it hangs
// from.
func netemDrops(queues []queue) map[lab.Reason]int {
	drops := map[lab.Reason]int{}
	for _, q := range queues {
		own := q.drops
		for _, child := range queues {
			// The police's own number is also that of having no parent.
			if child.parent == q.handle && q.handle != policeHandle {
				own -= child.drops
			}
		}
		if reason := reasonOf(q.handle); reason != lab.NotDropped && own > 0 {
			drops[reason] += own
		}
	}
	return drops
}

func reasonOf(handle uint32) lab.Reason {
	switch handle {
	case netemHandle:
		return lab.DropNetem
	case rateHandle:
		return lab.DropQueue
	case aqmHandle:
		return lab.DropAQM
	case delayHandle: // behind a rate netem does nothing but delay, and drops for its limit alone
		return lab.DropLimit
	case policeHandle:
		return lab.DropPolice
	}
	return lab.NotDropped
}

// Fits says why a backend cannot make a path; nil: it can. The error wraps
// lab.ErrUnsupported.
func (b Backend) Fits(p lab.Path) error {
	if b != Netem {
		return nil
	}
	absent := plan.ExportNetem(p).Absent
	if p.Up.DeviceMTU() != p.Down.DeviceMTU() {
		absent = append(absent, "another MTU each way, above 1500 bytes")
	}
	if len(absent) == 0 {
		return nil
	}
	return fmt.Errorf("backend %s: %w: %s", Netem, lab.ErrUnsupported, strings.Join(absent, "; "))
}

// tcBatch is tc's commands for a device, as the input of tc -batch.
func tcBatch(commands []string, device string) string {
	var b strings.Builder
	for _, c := range commands {
		b.WriteString(strings.ReplaceAll(c, plan.Device, device))
		b.WriteByte('\n')
	}
	return b.String()
}
