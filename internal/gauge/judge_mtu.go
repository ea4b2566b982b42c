package gauge

import (
	"fmt"
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// mtuFinding is what was found of a way's MTU.
type mtuFinding struct {
	mtu     int  // the largest IP packet that arrived; 0: none did
	device  bool // the host's own device is no larger: nothing larger could be sent
	tooBig  bool // what was larger was answered with ICMP
	named   int  // the MTU that the answer named
	dropped bool // something larger was sent, and did not arrive
}

// describe says in words what becomes of a packet that is too large.
func (f mtuFinding) describe() string {
	switch {
	case f.device:
		return "the host's own device is no larger"
	case f.tooBig:
		return fmt.Sprintf("a larger packet is answered with ICMP: %d B", f.named)
	case f.dropped:
		return "a larger packet vanishes: a black hole"
	}
	return ""
}

// quicLeast is the largest UDP payload that every QUIC path must carry, in
// bytes (RFC 9000, 14).
const quicLeast = 1200

// judgeMTU judges what was found where an MTU was asked.
func judgeMTU(d lab.Direction, family lab.Family, w lab.Way, asked int, f mtuFinding) []Check {
	note := f.describe()
	if least := quicLeast + headerSize(family == lab.IPv6); asked < least {
		note += fmt.Sprintf("; QUIC is impossible: it needs %d B", least)
	}
	checks := []Check{judge(MTU, d.String(), "B", float64(asked), float64(f.mtu), 0, 1, note)}
	want := 0.0
	if w.TooBig {
		want = 1
	}
	switch {
	case !f.dropped && asked >= w.DeviceMTU():
		return checks // nothing too large can be sent
	case !f.dropped:
		return append(checks, unchecked(TooBig, d.String(), "bool", want, math.NaN(), 0, "nothing too large was dropped"))
	}
	got := 0.0
	if f.tooBig {
		got = 1
	}
	c := judge(TooBig, d.String(), "bool", want, got, 0, 1, f.describe())
	if f.tooBig && f.named != asked {
		c = judge(TooBig, d.String(), "bool", want, math.NaN(), 0, 1, fmt.Sprintf("the answer names %d B, not %d", f.named, asked))
	}
	return append(checks, c)
}

// mtuObstacle says why a way's MTU cannot be found; empty: it can.
func mtuObstacle(w lab.Way) string {
	switch {
	case w.Rules != "":
		return obstacle(w)
	case 1-(1-w.Loss.Mean())*(1-w.Corrupt.Share) > 0.8: // what is corrupted does not arrive either
		return "the loss is too high"
	case longest(w) > longestWait/10:
		return "the delay is too long for a search"
	}
	return ""
}

// askedMTU is what is asked of the MTU at a time since the path's first packet,
// how long to wait for it, and why it cannot be told. An MTU that shrinks within
// patience is looked at afterwards.
func askedMTU(w lab.Way, since, patience time.Duration) (asked int, wait time.Duration, why string) {
	const margin = 100 * time.Millisecond
	switch at := w.Shrink.At; {
	case w.Shrink.MTU == 0 || since+patience < at:
		return mtu(w), 0, ""
	case at+margin < since+patience:
		return w.Shrink.MTU, max(at+margin-since, 0), ""
	default:
		return 0, 0, fmt.Sprintf("it shrinks to %d B at %v, just when it would be measured", w.Shrink.MTU, at)
	}
}
