package wire

import (
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// TCP's timers. Linux adds at least 200 ms to the smoothed round trip; gVisor
// waits for at least 200 ms in all. Both are far below the second that RFC 6298
// asks for, and what they do is what a person compares with. The later of the two
// is used, so that neither is accused for nothing.
const (
	leastRTO     = 200 * time.Millisecond
	firstRTO     = time.Second       // before a round trip was measured (RFC 6298, section 2.1)
	afterSYN     = 3 * time.Second   // the same, where a SYN had to be sent again (section 5.7)
	longRTO      = 120 * time.Second // Linux and gVisor; RFC 6298, section 2.5: at least 60 s
	delayedWorst = 200 * time.Millisecond
	// stampWindow is how many of a connection's newest packets are searched for
	// timestamps.
	stampWindow = 4096
)

const tcpTwice = "twice the wait before (RFC 6298, section 5.5)"

func (t tempo) wait() time.Duration { return min(t.smoothed+max(leastRTO, 4*t.variation), longRTO) }

// rto is TCP's retransmission timeout in direction d when the silence began, and
// how it follows.
//
// Where timestamps are in use a sender may measure what was sent more than once,
// and get other round trips than by Karn's algorithm: the longer of the two
// timeouts counts. And a timeout that was doubled stays doubled until something
// that was sent only once has been acknowledged (RFC 6298, section 5).
func (x *autopsy) rto(d lab.Direction) (time.Duration, string) {
	h := &x.half[d]
	t, how := h.rtt, "RTTVAR "
	if stamps := x.stamps(d); stamps.samples > 0 && (t.samples == 0 || stamps.wait() > t.wait()) {
		stamps.last = t.last
		t, how = stamps, "RTTVAR, by timestamps, "
	}
	wait, why := t.wait(), " = SRTT "+length(t.smoothed)+" + max(200 ms, 4 × "+how+length(t.variation)+
		") (RFC 6298, section 2, with 200 ms as Linux and gVisor have it instead of the RFC's 1 s)"
	if t.samples == 0 {
		wait, why = firstRTO, ", since no round trip had been measured (RFC 6298, section 2.1)"
		if x.again(d) {
			wait, why = afterSYN, ", since no round trip had been measured, and the SYN was sent again (RFC 6298, section 5.7)"
		}
	}
	if n := x.doubled(d, t.last, wait); n > 0 {
		wait = min(wait<<n, longRTO)
		why += ", times 2^" + strconv.Itoa(n) + ", since it was doubled so often after a round trip was last measured (section 5.5)"
	}
	return wait, "after " + length(wait) + why
}

// again says whether direction d is past its SYN, and that had been sent again.
func (x *autopsy) again(d lab.Direction) bool {
	n := 0
	for _, s := range x.c.Sent[d] {
		if s.Number > 0 {
			return n > 1 && x.r.Events[s.Event].At <= x.s.from
		}
		n++
	}
	return false
}

// doubled is how often the timer had fired since a round trip was last measured,
// until what the sender was last told: what was sent again after a wait of at
// least half of the timer, with nothing heard meanwhile.
func (x *autopsy) doubled(d lab.Direction, since, wait time.Duration) (n int) {
	last, told := since, x.half[d].told
	acks := x.c.Acks[d]
	for _, s := range x.c.Sent[d][len(x.sentBy(d, since)):] {
		at := x.r.Events[s.Event].At
		if at > told || wait<<n >= longRTO {
			break
		}
		for len(acks) > 0 && acks[0].At <= at {
			if acks[0].Bytes > 0 {
				last = max(last, acks[0].At)
			}
			acks = acks[1:]
		}
		if s.Again > 0 && at-last >= wait<<n/2 {
			n++
		}
		last = at
	}
	return n
}

// stamps is the round trip by timestamps (RFC 7323, section 4): of each
// acknowledgement of something new, from the first packet that carried the
// timestamp that it returns. Each counts the less, the more of them are to come in
// a round trip (appendix G).
func (x *autopsy) stamps(d lab.Direction) (t tempo) {
	events := x.c.Events
	events = events[:sort.Search(len(events), func(i int) bool { return x.r.Events[events[i]].At > x.s.from })]
	first := map[uint32]time.Duration{}
	for _, i := range events[max(len(events)-stampWindow, 0):] {
		e := &x.r.Events[i]
		if _, seen := first[e.IP.TCP.TSval]; e.Way == d && e.IP.TCP.Timestamps && !seen {
			first[e.IP.TCP.TSval] = e.At
		}
	}
	flying := x.flights(d)
	acks := x.c.Acks[d]
	acks = acks[:sort.Search(len(acks), func(i int) bool { return acks[i].At > x.s.from })]
	told := int64(-1)
	for _, a := range acks[max(len(acks)-rttWindow, 0):] {
		e := &x.r.Events[a.Event]
		at, sent := first[e.IP.TCP.TSecr]
		if sent && e.IP.TCP.Timestamps && (a.Offset > told || a.Bytes > 0) && a.At > at {
			t.sample(a.At, a.At-at, max((flying(a.At)+1)/2, 1))
		}
		told = max(told, a.Offset)
	}
	return t
}

// flights returns a function that says how many of direction d's newest packets
// were in flight just before a time.
func (x *autopsy) flights(d lab.Direction) func(at time.Duration) int {
	var sent, acked []time.Duration
	all := x.sentBy(d, x.s.from)
	for _, s := range all[max(len(all)-stampWindow, 0):] {
		sent = append(sent, x.r.Events[s.Event].At)
		acked = append(acked, s.Acked)
	}
	slices.Sort(acked)
	return func(at time.Duration) int {
		before, _ := slices.BinarySearch(sent, at)
		gone, _ := slices.BinarySearch(acked, at)
		return before - gone
	}
}
