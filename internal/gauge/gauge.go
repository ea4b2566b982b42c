package gauge

import (
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Job says what is to be measured.
type Job struct {
	Path  lab.Path      // as asked; what is measured is what the Lab has
	Quick bool          // delay, rate and MTU only, in about a second
	Span  time.Duration // how long one instrument may send; 0 means DefaultSpan, or a third of a second in the quick form
	Seed  uint64        // of what is drawn to say what is asked
	Parts []Part        // of Packets; none means all
}

// Part names a part of what Packets measures.
type Part string

// The parts.
const (
	DelayPart      Part = "delay" // and jitter
	LossPart       Part = "loss"  // in three forms; and duplicates
	MarksPart      Part = "marks" // ECN
	OrderPart      Part = "order" // reordering
	CorruptionPart Part = "corruption"
	RatePart       Part = "rate" // and queue
	MTUPart        Part = "mtu"
	RebindingPart  Part = "rebinding"
)

// Parts lists all parts, in the order in which they are measured.
func Parts() []Part {
	return []Part{DelayPart, LossPart, MarksPart, OrderPart, CorruptionPart, RatePart, MTUPart, RebindingPart}
}

func (j Job) has(p Part) bool { return len(j.Parts) == 0 || slices.Contains(j.Parts, p) }

// DefaultSpan is how long one instrument sends.
const DefaultSpan = 3 * time.Second

// quickSpan is the same in the quick form.
const quickSpan = 350 * time.Millisecond

func (j Job) span() time.Duration {
	switch {
	case j.Span > 0:
		return j.Span
	case j.Quick:
		return quickSpan
	}
	return DefaultSpan
}
