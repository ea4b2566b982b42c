package link

import "github.com/samewire/samewire/internal/lab"

// losses decides which packets are lost by chance.
//
// Properties that an edit must keep: the state moves once for each packet
// offered, whatever became of it (or once for each super-packet), so that the
// nth fate depends on seed, direction and n alone; independent losses are
// those of lab.Loss without bursts in all versions.
type losses struct {
	kind  lossKind
	loss  lab.Loss
	from  stream
	moves stream // of Gilbert's state

	start float64 // chance of a burst to start, for a packet that no burst takes
	left  int     // packets that the burst still takes
	bad   bool    // Gilbert's state

	supers uint64 // super-packets so far
	super  bool   // what was decided about the one offered last
}

type lossKind int

const (
	lossNone lossKind = iota
	lossIndependent
	lossBursts
	lossGilbert
)

func newLosses(l lab.Loss, key uint64) losses {
	made := losses{loss: l, from: newStream(key, forLoss), moves: newStream(key, forMoves)}
	switch {
	case l.Gilbert != (lab.Gilbert{}):
		made.kind = lossGilbert
	case !(l.Share > 0):
		made.kind = lossNone
	case l.Burst > 1:
		made.kind = lossBursts
		made.start = burstStart(l.Share, l.Burst)
	default:
		made.kind = lossIndependent
	}
	return made
}

// burstStart is the chance s with which a burst of k must start at a packet that
// is in none, so that a share p of all packets is lost: of the packets at which
// a burst could start, s cost k packets each, and 1-s one each that arrives, so
// that p = k·s / (k·s + 1 - s).
func burstStart(p float64, k int) float64 { return p / (float64(k)*(1-p) + p) }

// next decides about a packet; continues says that it is of the same
// super-packet as the one before. It must be called once for each packet of the
// direction, in their order.
func (l *losses) next(i index, continues bool) bool {
	if l.kind == lossNone {
		return false
	}
	if !l.loss.Super {
		return l.decide(i)
	}
	if !continues || l.supers == 0 {
		l.super = l.decide(newIndex(l.supers))
		l.supers++
	}
	return l.super
}

func (l *losses) decide(i index) bool {
	switch l.kind {
	case lossIndependent:
		return l.from.uniform(i) < l.loss.Share
	case lossBursts:
		return l.burst(i)
	case lossGilbert:
		return l.gilbert(i)
	default:
		return false
	}
}

// burst takes exactly so many packets one after the other. The packet after a
// burst can start the next one.
func (l *losses) burst(i index) bool {
	if l.left > 0 {
		l.left--
		return true
	}
	if l.from.uniform(i) < l.start {
		l.left = l.loss.Burst - 1
		return true
	}
	return false
}

// gilbert does what loss_gilb_ell of Linux' net/sched/sch_netem.c does: it starts
// in the good state; the state in which a packet finds it decides about that
// packet, even when it changes with it.
func (l *losses) gilbert(i index) bool {
	g, bad := l.loss.Gilbert, l.bad
	move, share := g.P, g.Good
	if bad {
		move, share = g.R, g.Bad
	}
	if l.moves.uniform(i) < move {
		l.bad = !bad
	}
	return l.from.uniform(i) < share
}
