package wire

import (
	"strconv"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// traceLength is how many packets may follow a load's end, to close its
// connections, before the instant of the end is forgotten.
const traceLength = 256

// trace remembers when the newest packets were offered, and a running hash of
// all packets as it was after each.
type trace struct {
	n      int    // packets so far
	sum    uint64 // the hash after the newest
	newest [traceLength]moment
}

type moment struct {
	at  time.Duration
	sum uint64
}

// add adds a packet. Where something was done to it, addFate must follow.
func (t *trace) add(d lab.Direction, at time.Duration, size int) {
	sum := lab.Mix64(t.sum ^ uint64(at))
	t.sum = lab.Mix64(sum ^ uint64(size)<<8 ^ uint64(d)<<1)
	t.newest[uint(t.n)%traceLength] = moment{at, t.sum}
	t.n++
}

// addFate adds what was done to the newest packet.
func (t *trace) addFate(fate lab.Fate) {
	for _, c := range []byte(fate.Drop) {
		t.sum = lab.Mix64(t.sum ^ uint64(c))
	}
	if changes := bits(fate); changes != 0 {
		t.sum = lab.Mix64(t.sum ^ changes<<8)
	}
	t.newest[uint(t.n-1)%traceLength].sum = t.sum
}

// bits has a bit for each thing besides a drop that was done to a packet.
func bits(f lab.Fate) (b uint64) {
	for i, is := range []bool{f.Duplicated, f.Corrupted, f.Reordered, f.Marked} {
		if is {
			b |= 1 << i
		}
	}
	return b
}

// before returns the newest packet before time end, or the oldest that is
// remembered. It is not ok where no packet was before end.
func (t *trace) before(end time.Duration) (m moment, ok bool) {
	for i := t.n - 1; i >= max(t.n-traceLength, 0); i-- {
		if m = t.newest[i%traceLength]; m.at < end {
			return m, true
		}
	}
	return m, t.n > traceLength
}

// digest names the packets before time end.
func (t *trace) digest(end time.Duration) string {
	m, ok := t.before(end)
	if !ok {
		m.sum = 0
	}
	s := strconv.FormatUint(m.sum, 16)
	return "0000000000000000"[len(s):] + s
}

// silence is how long the wire had been silent at time end, leaving out the
// last margin. A wire on which there never was a packet is not silent.
func (t *trace) silence(end, margin time.Duration) time.Duration {
	if t.n == 0 {
		return 0
	}
	m, ok := t.before(end - margin)
	if !ok {
		return 0
	}
	return max(end-m.at, 0)
}
