package wire

import "time"

// Timers that a sender's probes wait for.
const (
	// firstPTO is the shortest that is in use before there is a sample: quic-go
	// takes 100 ms for the round trip, and doubles it.
	firstPTO = 200 * time.Millisecond
)

// How far a silence may be from a timer as it is worked out here. The sender
// saw round trips with its own delays, and subtracts the receiver's.
const (
	probeEarliest = 0.75
	probeLatest   = 1.5
)

// probe says whether the ith of sent, which repeats nothing, is a timer's probe:
// new data, or of QUIC a PING.
//
// Properties that an edit must keep: something is in flight; nothing at all
// reached the sender just before, which could have made it send; and the silence
// is what the timer's rule says: its doubles only after a probe, or where the
// sender's first timer is not known, since any long pause is near one of them.
// QUIC counts it from what was sent last, TCP also from the last acknowledgement.
func (s *recoverer) probe(i int) bool {
	if i == 0 || s.before[i] >= 0 {
		return false
	}
	if !s.waits(i) || s.quiet(i) <= max(time.Millisecond, s.rtt.smoothed/4) {
		return false
	}
	if s.quic {
		doubles := 0
		if e := s.current(); s.rtt.smoothed == 0 || e != nil && e.kind == byPTO {
			doubles = 3
		}
		return s.due(s.at(i)-s.at(i-1), s.pto(i), doubles)
	}
	return !s.open && s.c.sacks(s.r) && s.due(s.quiet(i), s.tlp(i), 0)
}

// quiet is for how long nothing had been sent, and nothing had reached the
// sender, before the ith of sent.
func (s *recoverer) quiet(i int) time.Duration {
	var last time.Duration
	if i > 0 {
		last = s.at(i - 1)
	}
	if s.arrived > 0 {
		last = max(last, s.arrivals[s.arrived-1].at)
	}
	return s.at(i) - last
}

// due says whether a silence is a timer, or its doubles up to some.
func (s *recoverer) due(silence, timer time.Duration, doubles int) bool {
	for range doubles + 1 {
		if f := float64(silence) / float64(timer); f >= probeEarliest && f <= probeLatest {
			return true
		}
		timer *= 2
	}
	return false
}

// waits says whether something is in flight before the ith of sent: what was
// sent just before, or what is a little older.
func (s *recoverer) waits(i int) bool {
	for k := i - 1; k >= max(0, i-32); k-- {
		if s.bytes(k) > 0 && s.gone[k] > s.at(i) {
			return true
		}
	}
	return false
}

// pto is QUIC's probe timeout (RFC 9002, section 6.2.1).
func (s *recoverer) pto(i int) time.Duration {
	if s.rtt.smoothed == 0 {
		return firstPTO
	}
	t := s.rtt.smoothed + max(4*s.rtt.variation, time.Millisecond)
	if s.sent[i].Space == 2 {
		t += ackDelayDue
	}
	return t
}

// tlp is TCP's probe timeout (RFC 8985, section 7.2).
func (s *recoverer) tlp(i int) time.Duration {
	if s.rtt.smoothed == 0 {
		return time.Second
	}
	t := 2 * s.rtt.smoothed
	if int64(s.sent[i-1].Number) <= s.una { // the one before is the only one
		t += delayedWorst
	}
	return t
}
