package wire

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Capture returns what was kept, for a load from time start to time end. The
// packets' data is the log's own memory: it must not be changed. It ends the
// keeping: what is seen after it is counted, and not kept.
func (w *Witness) Capture(start, end time.Duration) *Capture {
	w.log.sealed = true
	first, n := w.log.gap()
	c := &Capture{
		Packets: make([]Packet, 0, first+w.log.n+1-n), Skipped: n - 1 - first, Start: start, End: end,
	}
	c.Packets = w.packets(c.Packets, 1, first)
	if c.Skipped > 0 {
		c.Gap = first
	}
	c.Packets = w.packets(c.Packets, n, w.log.n)
	return c
}

// packets appends packets i to j.
func (w *Witness) packets(to []Packet, i, j int) []Packet {
	for n := i; n <= j; n++ {
		e, wait := w.log.entry(n), w.log.wait(n)
		to = append(to, Packet{
			N: n, Way: lab.Direction(e.down()), At: e.at, Left: e.left, Waited: wait.waited, Sending: wait.sending,
			Size: int(e.size), Fate: fateOf(w.reasons[e.drop()], e.done()), Data: w.log.data(e),
		})
	}
	return to
}

// fateOf puts a fate together again; done are its bits.
func fateOf(drop lab.Reason, done uint8) lab.Fate {
	return lab.Fate{
		Drop: drop, Duplicated: done&1 != 0, Corrupted: done&2 != 0, Reordered: done&4 != 0, Marked: done&8 != 0,
	}
}

// notKept counts the packets of which the log has not all, or nothing.
func (w *Witness) notKept() int {
	first, n := w.log.gap()
	missing := w.cut + n - 1 - first + w.n - w.log.n
	for ; n <= w.log.n && w.log.first > 0; n++ {
		if e := w.log.entry(n); e.kept() < e.size {
			missing++
		}
	}
	return missing
}
