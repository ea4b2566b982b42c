// Package wire is the witness: it is shown every packet of a run and says what
// was on the wire.
//
// In go packets, from the IP header on, each with its direction, the time at
// which it was offered to the link, and what became of it; out come the facts
// of a lab.Wire. The package is pure: the same packets give the same facts on
// every site.
//
// Not modelled yet: TLS and QUIC beyond the invariants, round trips by cause,
// stalls and their autopsy, bursts. IP fragments count as packets of neither
// TCP nor UDP after the first.
package wire

import (
	"strconv"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Witness gathers the facts of one run. It is not safe for concurrent use.
type Witness struct {
	ways  [2]lab.WireWay
	flows map[flow]*sender
	quic  map[string]bool
	tcp   int

	trace trace
}

// flow names one direction of a TCP connection.
type flow struct {
	d            lab.Direction
	source, dest uint16
}

// sender is what is known of one direction of a TCP connection.
type sender struct {
	next uint32 // the sequence number after the highest one sent
}

// New returns a witness that has seen nothing.
func New() *Witness {
	w := &Witness{flows: map[flow]*sender{}, quic: map[string]bool{}}
	for d := range w.ways {
		w.ways[d].Drops = map[string]int{}
	}
	return w
}

// See shows a packet to the witness. Packets must come in the order in which
// they were offered to the link, each with what the link decided about it. The
// packet is not kept.
func (w *Witness) See(d lab.Direction, now time.Duration, packet []byte, fate lab.Fate) {
	way := &w.ways[d]
	way.Packets++
	way.Bytes += int64(len(packet))
	w.count(way, fate)
	w.trace.add(d, now, len(packet), fate)
	h, ok := parse(packet)
	switch {
	case ok && h.proto == protoTCP:
		way.TCPPackets++
		w.seeTCP(d, h)
	case ok && h.proto == protoUDP:
		way.UDPPackets++
		w.seeUDP(d, h)
	}
}

func (w *Witness) count(way *lab.WireWay, fate lab.Fate) {
	if fate == (lab.Fate{}) {
		return
	}
	if fate.Drop != lab.NotDropped {
		way.Drops[string(fate.Drop)]++
	}
	for _, c := range []struct {
		is bool
		n  *int
	}{
		{fate.Duplicated, &way.Duplicated}, {fate.Corrupted, &way.Corrupted},
		{fate.Reordered, &way.Reordered}, {fate.Marked, &way.Marked},
	} {
		if c.is {
			*c.n++
		}
	}
}

// Later tells the witness what active queue management did at time at to a
// packet of size bytes that it had been shown: a drop, or a mark.
func (w *Witness) Later(d lab.Direction, at time.Duration, size int, fate lab.Fate) {
	w.count(&w.ways[d], fate)
	w.trace.add(d, at, size, fate)
}

// Router tells the witness of a message that the emulated router sent to the
// host at the end of direction d.
func (w *Witness) Router(d lab.Direction) { w.ways[d].Router++ }

// Foreign tells the witness of a packet of neither host, which was not carried.
func (w *Witness) Foreign(d lab.Direction) { w.ways[d].Foreign++ }

// Facts returns what was seen, for a load that ended at time end. Packets of
// that instant and after it are those with which the connections were closed:
// they count as packets, but neither for the digest nor for the silence.
//
// margin is by how much end may be wrong. The silence leaves out packets of the
// last margin before end as well, so that it is never too short for that.
func (w *Witness) Facts(end, margin time.Duration) lab.Wire {
	f := lab.Wire{
		Connections: w.tcp + len(w.quic),
		Digest:      w.trace.digest(end),
		Silence:     w.trace.silence(end, margin).Seconds(),
	}
	f.Up, f.Down = w.way(lab.Up), w.way(lab.Down)
	return f
}

func (w *Witness) way(d lab.Direction) lab.WireWay {
	way := w.ways[d]
	drops := make(map[string]int, len(way.Drops))
	for reason, n := range way.Drops {
		drops[reason] = n
	}
	way.Drops = drops
	return way
}

func (w *Witness) seeTCP(d lab.Direction, h header) {
	length := uint32(len(h.payload))
	if h.flags&flagSYN != 0 {
		length++
	}
	if h.flags&flagFIN != 0 {
		length++
	}
	key := flow{d, h.source, h.dest}
	s := w.flows[key]
	if s == nil || h.flags&flagSYN != 0 && h.seq+length != s.next {
		if h.flags&(flagSYN|flagACK) == flagSYN {
			w.tcp++
		}
		w.flows[key] = &sender{next: h.seq + length}
		return
	}
	if length == 0 {
		return
	}
	// Sequence numbers compare modulo 2³² (RFC 9293, section 3.4).
	if int32(h.seq-s.next) < 0 {
		w.ways[d].TCPRetransmits++
	}
	if int32(h.seq+length-s.next) > 0 {
		s.next = h.seq + length
	}
}

// seeUDP counts QUIC connections: the client's Initial packets that carry a
// source connection ID not seen from that port before. A client keeps its ID
// through Retry and version negotiation (RFC 9000, sections 7.2 and 17.2.5).
func (w *Witness) seeUDP(d lab.Direction, h header) {
	if d != lab.Up {
		return
	}
	if id, ok := initialSource(h.payload); ok {
		w.quic[strconv.Itoa(int(h.source))+"/"+string(id)] = true
	}
}
