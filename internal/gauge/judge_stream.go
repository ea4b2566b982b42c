package gauge

import (
	"fmt"
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// bulk is what one TCP connection carried.
type bulk struct {
	bytes   int64
	took    time.Duration // from the first byte received to the last
	resent  int           // segments sent again
	control string        // the congestion control really used
}

// rate is the goodput in bit/s.
func (b bulk) rate() float64 {
	if b.took <= 0 {
		return 0
	}
	return float64(b.bytes) * 8 / b.took.Seconds()
}

// tcpHeaders are those of a segment of Linux: IP, TCP, and the timestamps.
func tcpHeaders(f lab.Family) int {
	if f == lab.IPv6 {
		return 40 + 20 + 12
	}
	return 20 + 20 + 12
}

// judgeGoodput judges TCP's goodput: nothing is asked of it, but no path may
// carry more than its rate does in whole packets.
func judgeGoodput(d lab.Direction, p lab.Path, b bulk) Check {
	w := p.Way(d)
	got := b.rate()
	note := fmt.Sprintf("%s, %d segments sent again", b.control, b.resent)
	if b.bytes == 0 {
		note += "; nothing came through" + blackHole(w)
	}
	size := min(leastMTU(w), lab.DefaultMTU)
	most := math.Inf(1)
	if w.Rate > 0 {
		most = float64(w.Rate) * float64(size-tcpHeaders(p.Family)) / float64(wireSize(w, size))
	}
	if throttled(w, lab.TCP) {
		most = min(most, float64(w.Throttle.Rate))
	}
	took := max(b.took.Seconds(), 1e-3)
	// What a token bucket, or the receiver's reading in pieces, adds at once.
	tolerance := rateTolerance*most + float64(w.Burst+w.Throttle.Burst+bulkChunk)*8/took
	if got > most+tolerance {
		return judge(Goodput, d.String(), "bit/s", most, got, tolerance, int(b.bytes), note+"; more than the rate can carry")
	}
	if !math.IsInf(most, 1) {
		note += fmt.Sprintf("; the rate can carry %s", bits(most))
	}
	return told(Goodput, d.String(), "bit/s", got, int(b.bytes), note)
}

// blackHole says that a way swallows TCP's full segments without a word.
func blackHole(w lab.Way) string {
	if leastMTU(w) < w.DeviceMTU() && !w.TooBig {
		return ": full segments are larger than the MTU, and nobody tells the sender"
	}
	return ""
}

// bulkChunk is how much is written and read at once, in bytes.
const bulkChunk = 256 << 10
