package gauge

import (
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// How the instruments are set for a path: sizes, numbers and spacing follow from
// what is asked, so that a probe never waits behind another.

const (
	// longestWait is the longest delay that a check waits for.
	longestWait = 30 * time.Second
	// straggle is what a packet may be late on a busy machine before it counts
	// as lost.
	straggle = 300 * time.Millisecond
	// mostProbes bounds a train, and its memory.
	mostProbes = 100_000
	// mostCopies bounds the copies of one probe.
	mostCopies = 300
)

// spacing is the least time between two probes of an IP size: at most half of
// what rate, throttle and limit allow, and not under least.
func spacing(w lab.Way, size int, least time.Duration) time.Duration {
	s := least.Seconds()
	if w.Rate > 0 {
		s = max(s, 2*float64(wireSize(w, size))*8/float64(w.Rate))
	}
	if throttled(w, lab.UDP) {
		s = max(s, 2*float64(size)*8/float64(w.Throttle.Rate))
	}
	if w.Limit > 0 {
		s = max(s, 2*longest(w).Seconds()/float64(w.Limit))
	}
	if w.Trace != (lab.Trace{}) {
		s = max(s, 0.02)
	}
	return time.Duration(s * float64(time.Second))
}

// apart is the least time between two probes of which none may have to wait for
// the other where order is kept. With a normal jitter that is one in 400.
func apart(w lab.Way) time.Duration {
	if !w.Jitter.InOrder {
		return 0
	}
	if w.Jitter.Distribution == lab.Normal {
		return 4 * w.Jitter.Spread
	}
	least := max(w.Delay.Seconds()+jitterQuantile(w.Jitter, 0), 0)
	return longest(w) - time.Duration(least*float64(time.Second))
}

// mixing is the spacing at which reordering shows most: the delays of
// neighbours then differ by about as much.
func mixing(w lab.Way) time.Duration {
	_, sd, _ := delayGrid(lab.Way{Delay: w.Delay, Jitter: w.Jitter}).moments()
	s := sd / 2
	if w.Reorder.Share > 0 {
		s = max(s, earlyShare(w)*w.Delay.Seconds())
	}
	return min(max(time.Duration(s*float64(time.Second)), 200*time.Microsecond), 20*time.Millisecond)
}

// numberIn is how many probes go into a span of time.
func numberIn(span, every time.Duration) int {
	return min(max(int(span/every), 1), mostProbes)
}

// tailOf is how long to wait for a way's last probe.
func tailOf(w lab.Way) time.Duration {
	return longest(w) + straggle
}

// rebinds says that the path's address translation may have changed addresses
// within a time: what the server then sends on its own does not come through.
func rebinds(p lab.Path, within time.Duration) bool {
	r := p.Rebind
	return r.Idle > 0 || r.At > 0 && r.At < within || r.Every > 0 && r.Every < within
}

// translated is why a check down the path is left out then.
const translated = "the client's address changes, and what the server sends on its own does not come through"

// bucket is how many bytes a way's token buckets let UDP pass at once, at most.
func bucket(w lab.Way) (bytes int64) {
	if w.Rate > 0 {
		bytes = w.Burst
	}
	if throttled(w, lab.UDP) {
		least := int64(10 * lab.DefaultMTU)
		if w.Throttle.Burst > 0 {
			return bytes + w.Throttle.Burst
		}
		bytes += max(int64(w.Throttle.Rate)/8/100, least)
	}
	return bytes
}

// policed says that what exceeds the way's rate for UDP is dropped, not queued.
func policed(w lab.Way) bool {
	return w.Police || throttled(w, lab.UDP) && (w.Rate == 0 || w.Throttle.Rate < w.Rate)
}

// roomAtOnce is how many packets of a size a way takes at one instant when
// nothing else is on it.
func roomAtOnce(p lab.Path, w lab.Way, size int) int {
	room := math.MaxInt
	if w.Limit > 0 {
		room = w.Limit
	}
	if queue, ok := queueBytes(w, p.RTT(), size); ok {
		room = min(room, int((queue+float64(w.Burst))/float64(size))+1)
	}
	if b := bucket(w); policed(w) {
		room = min(room, int(b)/size)
	}
	if w.AQM != (lab.AQM{}) && w.Queue.Packets > 0 {
		room = min(room, w.Queue.Packets)
	}
	return room
}

// heldUp is for how long a train may be held up on its way to the path without
// what then comes at once overflowing the path's queue.
const heldUp = 20 * time.Millisecond

// unhurried is the least time between two probes, or two super-packets of count,
// so that a path with room for so many at once takes what was held up.
func unhurried(room, count int) time.Duration {
	return heldUp * time.Duration(count) / time.Duration(max(room, 1))
}

// refused is how many of n packets, at most, the receiver's device may well
// refuse for a bit flipped in the IP version: the path did that, not the lab.
func refused(w lab.Way, size, n int) int {
	if w.Corrupt.Share == 0 {
		return 0
	}
	expected := float64(n) * w.Corrupt.Share * 4 / float64(8*size)
	return int(expected + 4*math.Sqrt(expected) + 1)
}

// obstacle says why series of UDP datagrams say nothing about a way; empty: they
// do.
func obstacle(w lab.Way) string {
	switch {
	case w.Rules != "":
		return "the path has exact rules, which are not checked here"
	case w.Trace != (lab.Trace{}):
		return "the rate follows a trace, so that waiting and drops are the trace's"
	case longest(w) > longestWait:
		return "the delay is longer than a check waits, " + longestWait.String()
	}
	return ""
}

// floodSize is the IP size of the packets that fill a way: as large as may be,
// but small enough for a hundred of them in the span, and for a queue that
// counts packets to drain within it.
func floodSize(w lab.Way, family lab.Family, span time.Duration) int {
	least := headerSize(family == lab.IPv6) + leastPayload
	size := float64(leastMTU(w))
	bytes := float64(w.Rate) / 8 * span.Seconds()
	if w.Rate > 0 {
		size = min(size, bytes/100)
		if packets := queuePackets(w); packets > 0 {
			size = min(size, bytes/float64(packets))
		}
	}
	return max(int(size), least)
}

// queuePackets is a queue limit that counts packets; 0: it counts otherwise.
func queuePackets(w lab.Way) int {
	if w.Queue == (lab.Queue{}) {
		return lab.DefaultQueue
	}
	return w.Queue.Packets
}
