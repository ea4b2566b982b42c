package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of what belongs to a rate.
const (
	maxOverhead = 1000 // bytes a packet, either way
	maxFlows    = 65536
	maxQuantum  = 1_000_000
)

func rateText(w Way) string {
	switch {
	case w.Rate == 0:
		return ""
	case w.Overhead != 0:
		return w.Rate.String() + " " + strconv.Itoa(w.Overhead)
	}
	return w.Rate.String()
}

// readRate reads RATE [OVERHEAD].
func (w *Way) readRate(v *values) {
	w.Rate, w.Overhead = next(v, "a rate such as 10mbit", ParseRate), 0
	if v.number("a packet overhead in bytes, such as 14") {
		if w.Rate == 0 {
			v.fail("a packet overhead has no meaning without a limit of rate")
		}
		w.Overhead = next(v, "a packet overhead", whole(-maxOverhead, maxOverhead))
	}
	if v.number("") {
		v.fail("netem's cell size and cell overhead are not supported: only a packet overhead, such as rate 10mbit 14")
	}
}

func (w *Way) readBurst(v *values) {
	w.Burst = next(v, "a size such as 15kB", ParseSize)
}

// String writes the queue management as it stands behind a queue's limit.
func (a AQM) String() string {
	words := []string{string(a.Kind)}
	if a.Target != 0 {
		words = append(words, "target", FormatDuration(a.Target))
	}
	if a.Interval != 0 {
		words = append(words, "interval", FormatDuration(a.Interval))
	}
	if a.ECN {
		words = append(words, "ecn")
	}
	if a.Flows != 0 {
		words = append(words, "flows", strconv.Itoa(a.Flows))
	}
	if a.Quantum != 0 {
		words = append(words, "quantum", strconv.Itoa(a.Quantum))
	}
	return strings.Join(words, " ")
}

func queueText(w Way) string {
	switch {
	case w.AQM == AQM{} && w.Queue == Queue{}:
		return ""
	case w.AQM == AQM{}:
		return w.Queue.String()
	case w.Queue == Queue{}:
		return w.AQM.String()
	}
	return w.Queue.String() + " " + w.AQM.String()
}

// readQueue reads a limit, a queue management, or a limit and a queue
// management.
func (w *Way) readQueue(v *values) {
	w.Queue, w.AQM = Queue{}, AQM{}
	if k := AQMKind(v.peek()); k != CoDel && k != FQCoDel {
		w.Queue = next(v, "a queue's limit such as 100p", ParseQueue)
	}
	for _, k := range []AQMKind{CoDel, FQCoDel} {
		if v.word(string(k)) {
			w.AQM = readAQM(v, k)
			return
		}
	}
}

func readAQM(v *values, kind AQMKind) AQM {
	a := AQM{Kind: kind}
	for {
		v.tried = nil
		switch {
		case a.Target == 0 && v.word("target"):
			a.Target = next(v, "a time such as 5ms", parseSpan)
		case a.Interval == 0 && v.word("interval"):
			a.Interval = next(v, "a time such as 100ms", parseSpan)
		case !a.ECN && v.word("ecn"):
			a.ECN = true
		case kind == FQCoDel && a.Flows == 0 && v.word("flows"):
			a.Flows = next(v, "a number of flows", whole(1, maxFlows))
		case kind == FQCoDel && a.Quantum == 0 && v.word("quantum"):
			a.Quantum = next(v, "a number of bytes", whole(1, maxQuantum))
		default:
			return a
		}
	}
}

// String writes the throttle as its word reads it; the zero Throttle is empty.
func (t Throttle) String() string {
	if t == (Throttle{}) {
		return ""
	}
	var words []string
	if t.Transport != "" {
		words = append(words, string(t.Transport))
	}
	words = append(words, t.Rate.String())
	if t.Burst != 0 {
		words = append(words, "burst", FormatSize(t.Burst))
	}
	return strings.Join(words, " ")
}

// readThrottle reads [TRANSPORT] RATE [burst SIZE].
func readThrottle(v *values) (t Throttle) {
	t.Transport = readTransport(v)
	t.Rate = next(v, "a rate such as 1mbit", ParseRate)
	if v.word("burst") {
		t.Burst = next(v, "a size such as 15kB", ParseSize)
	}
	if t.Rate == 0 {
		return Throttle{}
	}
	return t
}

func readTransport(v *values) Transport {
	for _, t := range []Transport{UDP, TCP} {
		if v.word(string(t)) {
			return t
		}
	}
	return ""
}

// The limits of a path's MTU: what every IPv4 host must take (RFC 791, 3.1),
// the least of IPv6 (RFC 8200, 5), and what an IP header can say.
const (
	MinMTU  = 576
	MinMTU6 = 1280
	MaxMTU  = 65535
)

func parseMTU(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < MinMTU || n > MaxMTU {
		return 0, fmt.Errorf("%q: must be from %d (IPv6: %d) to %d bytes", clip(s), MinMTU, MinMTU6, MaxMTU)
	}
	return n, nil
}

func mtuText(w Way) string {
	if w.MTU == 0 && w.Shrink == (Shrink{}) && !w.TooBig {
		return ""
	}
	words := []string{"default"}
	if w.MTU != 0 {
		words[0] = strconv.Itoa(w.MTU)
	}
	if w.TooBig {
		words = append(words, "icmp")
	}
	if w.Shrink != (Shrink{}) {
		words = append(words, "then", strconv.Itoa(w.Shrink.MTU), "at", FormatDuration(w.Shrink.At))
	}
	return strings.Join(words, " ")
}

// readMTU reads BYTES [icmp] [then BYTES at TIME].
func (w *Way) readMTU(v *values) {
	w.MTU, w.TooBig, w.Shrink = 0, false, Shrink{}
	if !v.word("default") {
		w.MTU = next(v, "a number of bytes", parseMTU)
	}
	w.TooBig = v.word("icmp")
	if !v.word("then") {
		return
	}
	now := w.MTU
	if now == 0 {
		now = DefaultMTU
	}
	w.Shrink.MTU = next(v, "a smaller number of bytes", func(s string) (int, error) {
		n, err := parseMTU(s)
		if err == nil && n >= now {
			err = fmt.Errorf("%q: an MTU can only become smaller than it is, %d", s, now)
		}
		return n, err
	})
	if !v.word("at") {
		v.fail("want at and a time: then %d at 5s", w.Shrink.MTU)
	}
	w.Shrink.At = next(v, "a time such as 5s", parseTime)
}
