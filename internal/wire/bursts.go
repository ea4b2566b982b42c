package wire

import (
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// Bounds of the gap within a burst. A host's own emission is uneven by some tens
// of µs on a real clock, and what comes less than that apart is one burst for
// anyone who looks; timers that pace have a granularity of 1 ms at best.
const (
	shortestGap = 50 * time.Microsecond
	longestGap  = time.Millisecond
)

// burstGap is how close packets of one burst follow each other in a direction:
// half the time that a full packet takes at the link's rate, so that what comes
// at the link's pace, by pacing or by acknowledgements that the link spaced, is
// no burst. Without a rate it is a hundredth of the round trip.
func burstGap(a About, d lab.Direction) time.Duration {
	gap := a.RTT / 100
	if way := a.Run.Cell.Path.Way(d); way.MeanRate() > 0 {
		size := lab.DefaultMTU
		if way.MTU > 0 {
			size = way.MTU
		}
		gap = time.Duration(float64(size*8) / float64(way.MeanRate()) * 1e9 / 2)
	}
	return min(max(gap, shortestGap), longestGap)
}

// bursts writes how the packets with payload were spaced, while the load went on.
func (r *Reading) bursts(a About, f *lab.Wire) {
	f.Up.Bursts, f.Down.Bursts = r.burstsOf(a, lab.Up), r.burstsOf(a, lab.Down)
}

func (r *Reading) burstsOf(a About, d lab.Direction) *lab.Bursts {
	gap := burstGap(a, d)
	b := &lab.Bursts{Gap: gap.Seconds()}
	var sizes []int
	var s spacing
	packets := 0
	for _, c := range r.Connections {
		shots, heard := r.shots(c, d)
		packets += len(shots)
		sizes = append(sizes, countBursts(b, shots, gap)...)
		s.add(fullOnes(shots), heard, a, d)
	}
	if packets == 0 {
		return nil
	}
	b.Count = len(sizes)
	slices.Sort(sizes)
	if b.Count > 0 {
		b.Largest, b.Median = sizes[b.Count-1], sizes[b.Count/2]
	}
	inside := 0
	for _, n := range sizes {
		inside += n
	}
	b.Share = float64(inside) / float64(packets)
	b.Paced, b.PacingRate = s.verdict()
	return b
}

// countBursts returns the size of each burst, and counts the losses.
func countBursts(b *lab.Bursts, shots []shot, gap time.Duration) (sizes []int) {
	for len(shots) > 0 {
		n := 1
		for n < len(shots) && shots[n].at-shots[n-1].at < gap {
			n++
		}
		if n > 1 {
			sizes = append(sizes, n)
		}
		for i, x := range shots[:n] {
			if x.lost {
				countLoss(b, i, n)
			}
		}
		shots = shots[n:]
	}
	return sizes
}

// countLoss counts the loss of packet i of n by the third in which its middle is.
func countLoss(b *lab.Bursts, i, n int) {
	switch third := (2*i + 1) * 3 / (2 * n); {
	case n == 1:
		b.LostAlone++
	case third == 0:
		b.LostHead++
	case third == 1:
		b.LostMiddle++
	default:
		b.LostTail++
	}
}

// shots returns the packets with payload that were sent on a connection while
// the load went on, and when something reached their sender.
func (r *Reading) shots(c *Connection, d lab.Direction) (shots []shot, heard []time.Duration) {
	for _, i := range c.Events {
		e := &r.Events[i]
		switch {
		case e.At < r.Capture.Start || r.ended(e.At):
		case e.Way == d:
			if carries(e) {
				shots = append(shots, shot{e.At, e.Size, e.Fate.Drop != lab.NotDropped})
			}
		case e.arrived():
			heard = append(heard, e.Left)
		}
	}
	slices.Sort(heard)
	return shots, heard
}

// fullOnes are the packets that are about as large as the largest.
func fullOnes(shots []shot) (full []shot) {
	largest := 0
	for _, x := range shots {
		largest = max(largest, x.size)
	}
	for _, x := range shots {
		if x.size >= largest*4/5 {
			full = append(full, x)
		}
	}
	return full
}

// carries says whether a packet has payload: of TCP any, of QUIC more than
// acknowledgements. What could not be opened is taken to have.
func carries(e *Event) bool {
	if e.IP.Proto == ip.ProtoTCP || len(e.QUIC) == 0 {
		return e.IP.Size > 0
	}
	for i := range e.QUIC {
		p := &e.QUIC[i]
		if !p.Opened && sealed(p.Kind) {
			return true
		}
		for k := range p.Frames {
			switch p.Frames[k].Kind {
			case quic.Ack, quic.Padding, quic.ConnectionClose: // RFC 9002, section 2
			default:
				return true
			}
		}
	}
	return false
}
