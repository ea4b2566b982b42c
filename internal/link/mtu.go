package link

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// mtus is the largest IP packet that passes, which may become smaller.
type mtus struct {
	first, later int
	at           time.Duration // of the change
	shrinks      bool
}

func newMTUs(w lab.Way) mtus {
	m := mtus{first: w.MTU}
	if m.first == 0 {
		m.first = lab.DefaultMTU
	}
	if w.Shrink != (lab.Shrink{}) {
		m.shrinks, m.later, m.at = true, w.Shrink.MTU, w.Shrink.At
	}
	return m
}

// of is the MTU at time now.
func (m *mtus) of(now time.Duration) int {
	if m.shrinks && now >= m.at {
		return m.later
	}
	return m.first
}
