package model

import (
	"math"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Limits of what is predicted.
const (
	// leastLosses is how many packets of a connection must be expected to be lost:
	// with fewer the median hangs on which they are.
	leastLosses = 20
	// mostLoss is the share of lost packets beyond which timeouts follow each
	// other, and Padhye's formula is not what happens.
	mostLoss = 0.15
	// leastRTT is the round trip below which quic-go's timers, of 1 ms, are what
	// is measured.
	leastRTT = time.Millisecond
	// safeCredit is the flow control, in bytes, that quic-go grants in time.
	safeCredit = h3Stream * 2 / 3
	// likely is how probable a handshake without loss must be for its median to
	// be that of a path without loss, and chain about how many packets it has.
	likely = 0.75
	chain  = 8
)

// plain says that a path has nothing but delay, rate, queue and independent loss.
func plain(p lab.Path) bool { return p.Rebind == (lab.Rebind{}) && plainWay(p.Up) && plainWay(p.Down) }

func plainWay(w lab.Way) bool {
	simple := lab.Way{
		Delay: w.Delay, Rate: w.Rate, Overhead: w.Overhead, Burst: w.Burst, Queue: w.Queue,
		Loss: lab.Loss{Share: w.Loss.Share}, MTU: max(w.MTU, lab.DefaultMTU), TooBig: w.TooBig,
	}
	w.MTU = max(w.MTU, lab.DefaultMTU)
	if w.Loss.Burst == 1 {
		w.Loss.Burst = 0
	}
	w.Loss.Super = false // one packet or many: without offload it is the same
	return w == simple
}

// knownMTU says that no packet is too large for the path.
func knownMTU(p lab.Path) bool {
	return (p.Up.MTU == 0 || p.Up.MTU >= lab.DefaultMTU) && (p.Down.MTU == 0 || p.Down.MTU >= lab.DefaultMTU)
}

// known says that something is predicted of the cell at all.
func known(c lab.Cell) bool {
	return plain(c.Path) && knownMTU(c.Path) && c.Load.Objects > 0 && c.Load.Size >= 0 && c.Load.For(c.Protocol) > 0 && c.Load.Idle == 0 &&
		(c.Protocol == lab.H3 || c.Stack.InitCwnd > 0) &&
		(c.Path.RTT() > 0 || c.Path.Up.Limited() || c.Path.Down.Limited())
}

// knownSender says that it is known how the side that sends the content does it.
func knownSender(c lab.Cell) bool {
	if c.Protocol != lab.H3 {
		return c.Stack.CC == "cubic" || c.Stack.CC == "reno"
	}
	program := c.Stack.Server
	if c.Load.Upload {
		program = c.Stack.Client
	}
	return program == lab.Embedded && c.Path.RTT() >= leastRTT && creditSuffices(c)
}

// creditSuffices says that QUIC's flow control is no limit, or does not become one:
// quic-go widens its windows from 512 KiB as content comes, and how soon is not
// modelled. Up to two thirds of the widest one, no difference was seen.
func creditSuffices(c lab.Cell) bool {
	rate := c.Path.Way(dataWay(c.Load)).Rate
	product := float64(rate) / 8 * c.Path.RTT().Seconds()
	return c.Load.Bytes() <= safeCredit || rate > 0 && product <= safeCredit
}

// requestsFit says that the requests of a connection, which are sent at once, fit
// into a queue that counts packets.
func requestsFit(c lab.Cell) bool {
	w := c.Path.Way(lab.Up)
	if c.Protocol == lab.H1 || w.Rate == 0 || w.Queue.Time+time.Duration(w.Queue.Bytes) > 0 || w.Queue.BDP > 0 {
		return true
	}
	packets := w.Queue.Packets
	if packets == 0 {
		packets = lab.DefaultQueue
	}
	return c.Load.Objects < packets
}

// predictable says that the duration is predicted.
func (t transfer) predictable(c lab.Cell) bool {
	if !known(c) || !knownSender(c) || !requestsFit(c) {
		return false
	}
	if t.loss == 0 {
		return c.Path.Lossless()
	}
	each := float64((t.objects + t.conns - 1) / t.conns)
	lost := t.loss * each * float64(t.size) / t.framing.packet.fill
	return t.loss <= mostLoss && t.conns == 1 && lost >= leastLosses && t.rtt > 0
}

// predict is the duration, where it can be predicted.
func (t transfer) predict(c lab.Cell) (took float64, ok bool) {
	if !t.predictable(c) {
		return 0, false
	}
	took, sound := t.duration()
	return took, sound && t.settled(c, took)
}

// settled says that a prediction does not hang on how many segments Linux makes of
// small h2 objects, which depends on when it is written to: with a twelfth more or
// less of them the transfer takes as many rounds.
func (t transfer) settled(c lab.Cell, took float64) bool {
	if c.Site != lab.Kernel || c.Protocol != lab.H2 || c.Load.Size > tlsRecord {
		return true
	}
	for _, more := range []float64{11. / 12, 13. / 12} {
		other := t
		other.framing.packet.fill /= more
		if d, sound := other.duration(); !sound || math.Abs(d-took) > t.rtt/2 {
			return false
		}
	}
	return true
}
