package wire

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/quic"
)

// firstFlight is the bytes sent before the first acknowledgement of any of them.
func (h *half) firstFlight() (bytes int64) {
	first := Never
	for _, k := range h.learnt {
		if h.sent[k].Bytes > 0 {
			first = h.sent[k].Acked
			break
		}
	}
	for i := range h.sent {
		if h.at(i) >= first {
			break
		}
		bytes += int64(h.bytes(i))
	}
	return bytes
}

// reaction is how soon after an acknowledgement a sender that waited for it
// sends: at once in virtual time, after some of its processor's time else.
const reaction = time.Millisecond

// defaultWindow is the initial window of RFC 6928, in segments.
const defaultWindow = 10

// searched is how many packets are searched for the first stop. A sender that
// did not stop within them was limited by something else.
const searched = 1024

// initialWindow is what was in flight when the sender had to stop for the first
// time, for want of nothing but acknowledgements.
//
// A stop shows in this: the sender is silent, although more follows; an
// acknowledgement without payload reaches it; and a full packet of new data
// leaves at once. Where payload comes with the acknowledgement, what follows may
// be the answer to it, and is no stop.
//
// Properties that an edit must keep:
//   - nothing was sent again before, and what followed was not held back by the
//     receiver's credit: then null;
//   - QUIC's server does not stop for the client's address (RFC 9000, section
//     8.1): only what is sent after it was validated counts;
//   - what was acknowledged before the stop may have made the window larger.
//     QUIC's grows only where half of it or more was in use (RFC 9002, section 7.8,
//     and what implementations take for it): then only windows in common use are
//     told. TCP's may grow all the same (RFC 5681: gVisor) or not (RFC 7661, Linux):
//     the truth lies between what was in flight, and that less what had been
//     acknowledged. Null where that leaves it open, but for the window that the lab
//     set, and RFC 6928's ten, which are told if they lie there; and where more was
//     acknowledged than half of what is in flight.
func (h *half) initialWindow(a About) (bytes *int64, packets *int) {
	k, full := 0, 0
	var before []growth
	for i := 1; i < min(len(h.sent), searched); i++ {
		if h.before[i] >= 0 {
			return nil, nil
		}
		full = max(full, h.sent[i-1].Bytes)
		var g growth
		for ; k < len(h.learnt) && h.sent[h.learnt[k]].Acked <= h.at(i); k++ {
			g.packets++
			g.acked += int64(h.sent[h.learnt[k]].Bytes)
		}
		if g.packets == 0 {
			continue
		}
		last := h.sent[h.learnt[k-1]].Acked
		w := h.inFlight(i, last)
		if w.packets == 0 || !h.goesOn(i, full) || !h.stopped(i, last) {
			g.used = w.bytes
			before = append(before, g)
			continue
		}
		if h.lacksCredit(i, last) || h.flushes(i, k, g.acked) {
			return nil, nil
		}
		return h.settle(a, w, before)
	}
	return nil, nil
}

// window is what was in flight at a stop.
type window struct {
	bytes   int64
	packets int
	acked   int   // packets with payload that had been acknowledged before
	sizes   []int // of the packets, the newest first
}

// growth is what may have made a window larger: an acknowledgement of some packets
// and their bytes, with so many bytes in flight.
type growth struct {
	packets     int
	acked, used int64
}

// inFlight is what was in flight right before time at, at which the sender heard
// something, of what was sent before i.
func (h *half) inFlight(i int, at time.Duration) (w window) {
	for k := i - 1; k >= 0; k-- {
		if h.sent[k].Bytes == 0 {
			continue
		}
		if h.gone[k] < at {
			w.acked++
			continue
		}
		w.bytes += int64(h.sent[k].Bytes)
		w.packets++
		w.sizes = append(w.sizes, h.sent[k].Bytes)
	}
	return w
}

// goesOn says whether a full packet leaves with the ith of sent: small ones come
// also where there is nothing more to send.
func (h *half) goesOn(i, full int) bool {
	for k := i; k < len(h.sent) && h.at(k)-h.at(i) <= reaction/4; k++ {
		if h.sent[k].Bytes >= full*4/5 && h.before[k] < 0 {
			return true
		}
	}
	return false
}

// stopped says whether the sender had stopped before the ith of sent, which it
// sent because of what it heard at time at.
func (h *half) stopped(i int, at time.Duration) bool {
	last := h.at(i - 1)
	pause := at - last
	if h.at(i)-at > reaction || pause <= 2*reaction || h.answers(last, h.at(i)) {
		return false
	}
	for k := i - 1; k > 0 && h.gone[k-1] >= at; k-- {
		// Of a paced flight the end must have been reached: the pause is longer
		// than those within it, after what started it.
		if gap := h.at(k) - h.at(k-1); gap*2 > pause && !h.answers(h.at(k-1), h.at(k)) {
			return false
		}
	}
	return !h.quic || h.d == lab.Up || h.sent[i-1].Space == 2 && h.validated() < last
}

// flushes says whether more leaves at once from the ith of sent on than
// acknowledgements of acked bytes, and those of learnt from k on that come
// meanwhile, let out in slow start: twice as much. Then it was the host that had
// paused, with room in its window.
func (h *half) flushes(i, k int, acked int64) bool {
	until, out := h.at(i)+reaction, int64(0)
	for ; i < len(h.sent) && h.at(i) <= until; i++ {
		out += int64(h.sent[i].Bytes)
	}
	for ; k < len(h.learnt) && h.sent[h.learnt[k]].Acked <= until; k++ {
		acked += int64(h.sent[h.learnt[k]].Bytes)
	}
	return out > 2*acked+2*int64(h.full)
}

// answers says whether payload reached the sender within (from, to]: what it
// sends then may be because of it.
func (h *half) answers(from, to time.Duration) bool {
	for k := h.firstArrival(from); k < len(h.arrivals) && h.arrivals[k].at <= to; k++ {
		if h.arrivals[k].payload {
			return true
		}
	}
	return false
}

// firstArrival is the index of the first arrival after a time.
func (h *half) firstArrival(after time.Duration) int {
	low, high := 0, len(h.arrivals)
	for low < high {
		if middle := (low + high) / 2; h.arrivals[middle].at <= after {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// validated is when the server knew the client's address: with the first packet
// that the client protected with the handshake's keys (RFC 9001, section 4.1.2).
func (h *half) validated() time.Duration {
	for _, k := range h.c.Events {
		e := &h.r.Events[k]
		if e.Way == h.d || !e.Delivered() {
			continue
		}
		for j := range e.QUIC {
			if kind := e.QUIC[j].Kind; kind == quic.Handshake || kind == quic.OneRTT {
				return e.Left
			}
		}
	}
	return Never
}

// settle says which initial window led to what was in flight.
func (h *half) settle(a About, w window, before []growth) (bytes *int64, packets *int) {
	if h.quic {
		return settleQUIC(w, before)
	}
	n := w.packets
	if w.acked > 0 {
		n = 0
		for _, known := range []int{a.Run.Cell.Stack.InitCwnd, defaultWindow} {
			if n == 0 && known <= w.packets && known >= w.packets-w.acked {
				n = known
			}
		}
	}
	if n == 0 || 2*w.acked > w.packets {
		return nil, nil
	}
	b := w.bytes
	for k := range w.packets - n {
		b -= int64(w.sizes[k])
	}
	return &b, &n
}

// settleQUIC tells the bytes, and how many packets of full size they are. QUIC's
// window is in bytes: small packets leave room for more. A sender may stop less
// than a packet before it (RFC 9002, section 7), or as much behind it (quic-go).
// Where that makes a difference it is told only if one of the numbers is in common
// use.
func settleQUIC(w window, before []growth) (bytes *int64, packets *int) {
	var g growth
	for _, x := range before {
		if 2*x.used >= w.bytes {
			g.packets += x.packets
			g.acked += x.acked
		}
	}
	full := usual(w.sizes)
	if g.packets > 0 {
		return settleGrown(w, g, full)
	}
	below := int(w.bytes) / full
	switch rest := int(w.bytes) % full; {
	case rest == 0 || below == defaultWindow || below == quicGoWindow:
		return &w.bytes, &below
	case below+1 == defaultWindow || below+1 == quicGoWindow:
		below++
		return &w.bytes, &below
	default:
		return nil, nil
	}
}

// settleGrown tells a window in common use that has become what was in flight by
// an acknowledgement of g: it grew by its bytes (RFC 9002, section 7.3.1), or by as
// many full packets (quic-go), and was exceeded by less than a packet.
func settleGrown(w window, g growth, full int) (bytes *int64, packets *int) {
	least, most := w.bytes-int64((g.packets+1)*full), w.bytes-g.acked
	for _, n := range []int{defaultWindow, quicGoWindow} {
		if b := int64(n * full); b > least && b <= most && 2*g.packets < n {
			return &b, &n
		}
	}
	return nil, nil
}

// quicGoWindow is the initial window of quic-go and Chromium, in packets.
const quicGoWindow = 32

// usual is the size that most packets have.
func usual(sizes []int) (size int) {
	count := map[int]int{}
	for _, n := range sizes {
		if count[n]++; count[n] > count[size] {
			size = n
		}
	}
	return size
}
