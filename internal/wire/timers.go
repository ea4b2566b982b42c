package wire

import (
	"sort"
	"strconv"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

const (
	// rttWindow is how many of the newest packets round trips are measured from.
	// What is older hardly counts: each sample takes an eighth of the weight.
	rttWindow = 1024
	// maxRings is how many times of one timer a record describes.
	maxRings = 4
)

// tempo is the round trip as a sender measures it (RFC 6298, section 2; RFC 9002,
// section 5.3).
type tempo struct {
	smoothed, variation time.Duration
	samples             int
	last                time.Duration // when the last sample was taken
}

// sample takes a round trip, of which n are expected in each.
func (t *tempo) sample(at, rtt time.Duration, n int) {
	t.samples++
	t.last = at
	if t.samples == 1 {
		t.smoothed, t.variation = rtt, rtt/2
		return
	}
	smooth(&t.smoothed, &t.variation, rtt, n)
}

// measure is the round trip as the sender in direction d had measured it when the
// silence began: one sample for each acknowledgement, of the newest packet that
// it acknowledged, and none of what was sent more than once (Karn's algorithm).
// What the receiver waited before it acknowledged is not taken off, which may
// make timers a little later than the sender's own, never earlier.
func (x *autopsy) measure(d lab.Direction) (t tempo) {
	sent := x.sentBy(d, x.s.from)
	sent = sent[max(len(sent)-rttWindow, 0):]
	type place struct {
		space  int
		number uint64
	}
	times := map[place]int{}
	newest := map[time.Duration]Sent{}
	for _, s := range sent {
		times[place{s.Space, s.Number}]++
		if s.Acked <= x.s.from {
			newest[s.Acked] = s
		}
	}
	acks := make([]time.Duration, 0, len(newest))
	for at := range newest {
		acks = append(acks, at)
	}
	sort.Slice(acks, func(i, j int) bool { return acks[i] < acks[j] })
	for _, at := range acks {
		if s := newest[at]; times[place{s.Space, s.Number}] == 1 && (x.c.Transport != "tcp" || s.Again == 0) {
			t.sample(at, at-x.r.Events[s.Event].At, 1)
		}
	}
	return t
}

// watch is a timer that a standard prescribes to one side, and how often it was
// due in a silence.
//
// The times are those of the side's own timer as far as the wire shows it: it
// starts at base, with the first wait; after that it is due again after twice the
// wait, or twice what it really took where that was a little less. What the side sends sooner than half of a wait was
// not the timer's doing, and starts it again. Implementations differ, and round
// trips are known only as they look on the wire, so that nobody is accused in
// haste: a timer is said not to have fired only where nothing was sent for two
// waits more, and with TCP for three, and at least 100 ms. (Of gVisor's
// timers some fire after up to three times of what is worked out here.)
type watch struct {
	x           *autopsy
	side        lab.Direction
	name        string
	base, first time.Duration
	most        time.Duration // the longest wait; 0: there is none
	early       time.Duration // what was sent sooner was not the timer's doing; 0: half of a wait
	any         bool          // any packet of the side answers it, not only what must be acknowledged
	once        bool
	probed      bool   // a probe started it: a sender that had backed off before goes on with its longer timer, which does not show
	why, twice  string // of the first wait, and of the longer ones

	rings []ring
}

type ring struct {
	due, wait time.Duration
	fired     bool
	at        time.Duration // when it fired
}

// slack is how late a timer may be.
func (w *watch) slack(wait time.Duration) time.Duration {
	if w.x.c.Transport == "tcp" {
		wait += wait / 2
	}
	if w.probed {
		wait *= 2
	}
	return max(2*wait, 100*time.Millisecond)
}

// run fills in when the timer was due, and whether it fired.
func (w *watch) run() *watch {
	s := w.x.s
	sends := w.x.sends(w.side, w.base, s.to, w.any)
	base, wait := w.base, max(w.first, time.Millisecond) // without delays there is no round trip to wait for
	for done := false; !done; {
		for len(sends) > 0 && sends[0] <= base {
			sends = sends[1:]
		}
		due, shown := base+wait, wait
		fired := len(sends) > 0 && sends[0] <= due+w.slack(wait)
		switch {
		case fired:
			since := sends[0] - base
			base = sends[0]
			if since < w.soonest(wait) {
				continue
			}
			if shown = wait; w.early > 0 || since >= wait*3/4 {
				wait = min(wait, since) // its own is shorter
			}
		case due+w.slack(wait) > s.to:
			return w
		default:
			base = due
		}
		if base > s.from {
			w.rings = append(w.rings, ring{due, shown, fired, base})
			done = w.once
		}
		if wait *= 2; w.most > 0 {
			wait = min(wait, w.most)
		}
	}
	return w
}

func (w *watch) soonest(wait time.Duration) time.Duration {
	if w.early > 0 {
		return w.early
	}
	return wait / 2
}

// count says how often the timer was due, and how often it fired.
func (w *watch) count() (due, fired int) {
	for _, r := range w.rings {
		if r.fired {
			fired++
		}
	}
	return len(w.rings), fired
}

// timers describes the first times at which the timer was due; the last of them
// says how many there were besides.
func (w *watch) timers(r *Reading) (all []lab.Timer) {
	for i, g := range w.rings {
		if i == maxRings {
			break
		}
		why := w.why
		if g.wait != w.first {
			why = "after " + length(g.wait) + ": " + w.twice
		}
		if g.fired {
			why += "; it fired at " + r.clockTime(g.at)
		}
		all = append(all, lab.Timer{Side: sideOf(w.side), Name: w.name, Due: r.stallTime(g.due), Fired: g.fired, Why: why})
	}
	if more := len(w.rings) - maxRings; more > 0 {
		last := &all[maxRings-1]
		_, fired := w.count()
		for _, t := range all {
			if t.Fired {
				fired--
			}
		}
		last.Why += "; " + plural(more, "time") + " more, the last at " + r.clockTime(w.rings[len(w.rings)-1].due) +
			", of which it fired " + strconv.Itoa(fired)
	}
	return all
}
