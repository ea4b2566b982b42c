package kernel

import "time"

const (
	// pollShare is the part of the time, 1 in so many, that a poller may poll.
	pollShare = 16
	// pollMost is how long it may poll at a time, when it has not for a while.
	pollMost = time.Millisecond
	// leadFirst is by how much the first sleep ends early, and leadMost by how
	// much any may.
	leadFirst, leadMost = 50 * time.Microsecond, 250 * time.Microsecond
)

// poller says when a thread that waits for an instant should sleep, and until
// when. The kernel wakes threads late, by tens of microseconds on virtual
// machines, so the sleep ends early by about as much, and what is left is
// polled away.
//
// Properties that an edit must keep: it polls for at most 1/pollShare of the
// time, and pollMost, so that the hosts' programs keep their cores where there
// is always something due soon.
type poller struct {
	lead    time.Duration // by how much the kernel wakes late, mostly
	budget  time.Duration // for how long it may poll
	last    time.Duration // when it was asked last
	polling bool
}

// wait says for how long to sleep at time now, for an instant at time at; not at
// all means to look again at once.
func (p *poller) wait(now, at time.Duration) (sleep time.Duration) {
	passed := now - p.last
	p.last = now
	if p.polling {
		p.budget -= passed
	}
	p.budget = min(p.budget+passed/pollShare, pollMost)
	lead := p.lead
	if p.budget <= 0 {
		lead = 0
	}
	sleep = max(at-lead-now, 0)
	p.polling = sleep == 0
	return sleep
}

// woke says that a sleep for an instant at time at ended at time now.
func (p *poller) woke(now, at time.Duration) {
	// Quickly up, since a run may have few packets, and slowly down: so that
	// about one sleep in ten still ends too late.
	const up, down, step = 4, 64, 25 * time.Microsecond
	if now > at {
		p.lead = min(p.lead+min((now-at)/up+1, step), leadMost)
	} else {
		p.lead -= p.lead / down
	}
}
