package wire

import (
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// recoveryKind is what made a sender send again.
type recoveryKind int

const (
	noRecovery recoveryKind = iota
	fastRecovery
	byRTO
	byTLP
	byPTO
)

// episode is one recovery.
type episode struct {
	kind  recoveryKind
	first int   // index of sent that began it
	point int64 // TCP: the recovery point (RFC 6675): the end of what had been sent
	// acked is how many of sent were acknowledged when it began.
	acked int
	begin time.Duration
	end   time.Duration // when it was over for the sender; Never: not before the load's end
}

// recoveries returns a half's recoveries, in order.
//
// Properties that an edit must keep:
//   - what counts as evidence is what had reached the sender when it sent, never
//     what the link did;
//   - something sent again is by evidence (fast) where a packet sent after its
//     last carrier is known to have arrived, or after three duplicate
//     acknowledgements (RFC 5681), and it followed soon; else only a timer can have
//     done it;
//   - TCP's episode lasts until the recovery point is acknowledged (RFC 6675,
//     section 5); of QUIC all that was sent before the episode began belongs to it
//     (RFC 9002, section 7.3.2);
//   - a timer within an episode is a recovery of its own, but for one that goes
//     off again with nothing acknowledged since it did before: backing off, or a
//     probe's second packet;
//   - data that is known to have arrived and is sent all the same, and data that a
//     Retry, a refused version or refused early data made void, is no recovery.
func (h *half) recoveries() []episode {
	s := recoverer{half: h, rtt: rttEstimate{}, newest: [3]int{-1, -1, -1}}
	for i := range h.sent {
		s.advance(h.at(i))
		s.step(i)
		s.highest = max(s.highest, h.end(i))
	}
	s.advance(Never - 1)
	return s.episodes
}

func tally(episodes []episode) *lab.Recoveries {
	t := &lab.Recoveries{}
	for _, e := range episodes {
		switch e.kind {
		case fastRecovery:
			t.Fast++
		case byRTO:
			t.RTO++
		case byTLP:
			t.TLP++
		case byPTO:
			t.PTO++
		}
	}
	return t
}

// recoverer walks along a half's packets, knowing at each what the sender knew.
type recoverer struct {
	*half
	episodes []episode
	open     bool // the last of episodes goes on

	acked      int    // how many of learnt had reached the sender
	newest     [3]int // the newest acknowledged, by space
	rtt        rttEstimate
	acks       int   // how many of the connection's Acks had reached the sender
	una        int64 // TCP: up to where all is acknowledged
	duplicates int   // TCP: acknowledgements in a row that said nothing new
	window     uint16
	arrived    int // how many of arrivals had reached the sender
	highest    int64
}

// advance takes note of what reached the sender up to a time.
func (s *recoverer) advance(now time.Duration) {
	for ; s.acks < len(s.c.Acks[s.d]) && s.c.Acks[s.d][s.acks].At <= now; s.acks++ {
		s.acknowledge(&s.c.Acks[s.d][s.acks])
	}
	for ; s.acked < len(s.learnt) && s.sent[s.learnt[s.acked]].Acked <= now; s.acked++ {
		k := s.learnt[s.acked]
		p := &s.sent[k]
		if s.before[k] < 0 && !s.repeated[k] && s.samples(s.acked) { // Karn's rule
			s.rtt.sample(p.Acked - s.at(k))
		}
		s.newest[p.Space] = max(s.newest[p.Space], k)
		if e := s.current(); e != nil && s.quic && k >= e.first {
			e.end = min(e.end, p.Acked)
		}
	}
	for ; s.arrived < len(s.arrivals) && s.arrivals[s.arrived].at <= now; s.arrived++ {
	}
}

// samples says whether a round trip is measured with the nth of learnt: QUIC takes
// only the newest of what one acknowledgement tells (RFC 9002, section 5.1). With
// all of them the variation, and so the timer, would be too small.
func (s *recoverer) samples(n int) bool {
	return !s.quic || n+1 == len(s.learnt) || s.sent[s.learnt[n+1]].Acked != s.sent[s.learnt[n]].Acked
}

// acknowledge takes note of an acknowledgement of TCP.
func (s *recoverer) acknowledge(a *Acked) {
	if s.quic {
		return
	}
	e := &s.r.Events[a.Event]
	window := e.IP.TCP.Window
	switch {
	case a.Offset > s.una:
		s.una, s.duplicates = a.Offset, 0
	case a.Offset == s.una && e.IP.Size == 0 && window == s.window && e.IP.TCP.Flags&(ip.SYN|ip.FIN) == 0:
		s.duplicates++ // RFC 5681, section 2
	}
	s.window = window
	if e := s.current(); e != nil && s.una >= e.point {
		e.end, s.open = min(e.end, a.At), false
	}
}

// current is the episode that goes on; nil: none.
func (s *recoverer) current() *episode {
	if !s.open {
		return nil
	}
	return &s.episodes[len(s.episodes)-1]
}

// step looks at the ith of sent.
func (s *recoverer) step(i int) {
	kind := noRecovery
	if b := s.before[i]; b >= 0 {
		kind = s.again(i, b)
	} else if s.probe(i) {
		kind = byPTO
		if !s.quic {
			kind = byTLP
		}
	}
	if kind != noRecovery && !s.belongs(i, kind) {
		s.begin(i, kind)
	}
}

func (s *recoverer) begin(i int, kind recoveryKind) {
	if e := s.current(); e != nil {
		e.end = min(e.end, s.at(i)) // this one takes over
	}
	s.episodes = append(s.episodes, episode{
		kind: kind, first: i, point: max(s.highest, s.end(i)), acked: s.acked, begin: s.at(i), end: Never,
	})
	s.open = true
}

// belongs says whether a recovery of a kind that the ith of sent shows is part
// of the episode that goes on.
func (s *recoverer) belongs(i int, kind recoveryKind) bool {
	e := s.current()
	if e == nil {
		return false
	}
	if kind == fastRecovery {
		return !s.quic || s.before[i] < e.first
	}
	return kind == e.kind && s.acked == e.acked
}

// again says why the ith of sent repeats what b carried.
func (s *recoverer) again(i, b int) recoveryKind {
	switch {
	case s.sent[b].Acked <= s.at(i) || s.void(b, i):
		return noRecovery
	case (s.newest[s.sent[b].Space] > b || s.duplicates >= 3) && !s.late(i):
		return fastRecovery
	case s.at(i)-s.at(b) < granularity:
		return s.same(i)
	case s.quic:
		return byPTO
	case s.open && s.prompted(i):
		return fastRecovery // a rescue (RFC 6675, section 4, NextSeg)
	case s.tail(i):
		return byTLP
	default:
		return byRTO
	}
}

// late says whether the ith of sent came so long after the last thing that the
// sender heard, or sent, that it did not wait for a threshold of time (an eighth
// of a round trip of RFC 9002, a quarter to one of RFC 8985): the evidence that it
// had was not what made it send.
func (s *recoverer) late(i int) bool {
	rtt := s.rtt.smoothed
	if rtt == 0 {
		rtt = firstPTO
	}
	return s.quiet(i) > rtt*3/2+5*time.Millisecond
}

// same is the kind of the timer that went off at the time of the ith of sent, so
// that what comes with its probe belongs to it.
func (s *recoverer) same(i int) recoveryKind {
	if e := s.current(); e != nil && e.begin == s.at(i) {
		return e.kind
	}
	return noRecovery
}

// prompted says whether something reached the sender just before it sent the ith
// of sent.
func (s *recoverer) prompted(i int) bool {
	return s.arrived > 0 && s.at(i)-s.arrivals[s.arrived-1].at < time.Millisecond
}

// tail says whether the ith of sent, which a timer sent again, is a tail loss
// probe (RFC 8985, section 7.3): the last segment, once, and not in recovery. A
// lone segment is both the last and the oldest: then it is the probe where SACK
// was agreed on, without which there is none, since the timer of the probe is
// never later than that of the retransmission (section 7.2).
func (s *recoverer) tail(i int) bool {
	if s.open || s.end(i) < s.highest || s.event(i).IP.TCP.Flags&ip.SYN != 0 {
		return false
	}
	return int64(s.sent[i].Number) > s.una || s.c.sacks(s.r)
}

// sacks says whether both hosts allowed SACK; they are taken to where one's SYN
// was not seen.
func (c *Connection) sacks(r *Reading) bool {
	for _, i := range c.Events[:min(len(c.Events), 8)] {
		if e := &r.Events[i]; e.IP.TCP.Flags&ip.SYN != 0 && !e.IP.TCP.SACKPermitted {
			return false
		}
	}
	return true
}

// void says whether what b carried had to be sent again for another reason than
// loss: it belonged to an attempt that the server refused, or was too large for
// the path, and the router said so.
func (s *recoverer) void(b, i int) bool {
	if s.event(b).Fate.Drop == lab.DropMTU && s.r.Events[s.sent[i].Event].Size < s.event(b).Size {
		return true
	}
	if !s.quic {
		return false
	}
	if p, q := s.packet(b), s.packet(i); p != nil && q != nil && p.Kind == quic.ZeroRTT && q.Kind == quic.OneRTT {
		hello := s.c.Hello
		if hello != nil && hello.EarlyAccepted != nil && !*hello.EarlyAccepted {
			return true
		}
	}
	return s.sent[b].Space == 0 && s.refused(s.at(b), s.at(i))
}

// refused says whether a Retry or a refusal of the version reached the sender
// within (from, to]. They come first on a connection.
func (s *recoverer) refused(from, to time.Duration) bool {
	for _, k := range s.c.Events[:min(len(s.c.Events), 64)] {
		e := &s.r.Events[k]
		if e.Way != s.d && e.Left > from && e.Left <= to && slices.ContainsFunc(e.QUIC, func(p quic.Packet) bool {
			return p.Kind == quic.Retry || p.Kind == quic.VersionNegotiation
		}) {
			return true
		}
	}
	return false
}
