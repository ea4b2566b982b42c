// Package wire is the witness: it is shown every packet of a run and says what
// was on the wire.
//
// In go packets, from the IP header on, each with its direction, the time at
// which it was offered to the link, and what became of it; out come the facts
// of a lab.Wire. The package is pure: the same packets give the same facts on
// every site.
//
// While a run lasts its Witness only counts, and keeps the packets within limits
// (Limits); what takes more than that is read from the Capture after the run.
//
// Read puts the packets of a capture together to connections, and reads what they
// carried as far as the secrets allow: TLS and HTTP/1.1 or HTTP/2 over TCP, QUIC
// and HTTP/3. Digest makes the facts of that.
//
// Round trips are counted by cause. Each packet on the way to the first byte of
// the load's first response has one that released it, by what the protocols mean:
// the SYN-ACK the ClientHello, the server's Finished the request, and so on (see
// chains). How often such a chain goes up and comes back is the number of round
// trips. A loss does not change it: what is sent again has the cause of what was
// sent first, and a timer is no packet. So a client's probe that comes before the
// server's first packets spares QUIC the round trip of a long certificate chain;
// the chain shows it. Of congestion windows the fewest round trips count with
// which the bytes could be sent, however fast the window grew; where something was
// lost before, or flow control was in the way, nothing is said. Nor is of uploads
// of more than the log keeps of a TCP connection.
//
// Without secrets only TLS 1.2 with HTTP/1.1 has round trips: its records say
// what they are, and the server's first application data is the response. With
// HTTP/2 it may be SETTINGS, and in TLS 1.3 a ticket.
//
// Not modelled: IP fragments, which count as packets of neither TCP nor UDP after
// the first; TCP Fast Open; requests that wait for the response before on one
// connection of HTTP/1.1, unless the load was warm; a server that answers early
// data only after the handshake.
package wire

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Witness gathers the facts of one run, and keeps its packets within limits. It
// is not safe for concurrent use.
//
// Counts are of all packets, kept or not. Its memory is that of the limits, and
// less than a hundred bytes for each TCP connection and QUIC client seen.
type Witness struct {
	n      int // packets seen
	ways   [2]lab.WireWay
	again  [2]int64 // payload bytes of TCP that had been sent before
	runs   [2]lossRuns
	fates  *newestFates
	flows  map[flow]*sender
	recent [2][recentFlows]recentFlow
	quic   map[string]bool
	tcp    int

	log     log
	cut     int // packets kept that are not whole, without those in the rings
	reasons []lab.Reason

	trace trace
}

// flow names one direction of a TCP connection.
type flow struct {
	d            lab.Direction
	source, dest uint16
}

// New returns a witness that has seen nothing, with the limits of every run.
func New() *Witness { return NewWithin(Limits{}) }

// NewWithin is New with limits.
func NewWithin(limits Limits) *Witness {
	w := &Witness{
		flows: map[flow]*sender{}, quic: map[string]bool{}, fates: new(newestFates),
		log: newLog(limits), reasons: []lab.Reason{lab.NotDropped},
	}
	for d := range w.ways {
		w.ways[d].Drops = map[string]int{}
		w.runs[d].ended = map[int]int{}
	}
	return w
}

// See shows a packet to the witness, and returns its number in the run, from 1.
// Packets must come in the order in which they were offered to the link, each
// with what the link decided about it. The packet's bytes are read, and copied
// as far as the limits go.
func (w *Witness) See(d lab.Direction, now time.Duration, packet []byte, fate lab.Fate) int {
	w.n++
	way := &w.ways[d]
	way.Packets++
	way.Bytes += int64(len(packet))
	dropped := fate.Drop != lab.NotDropped
	w.runs[d].see(dropped)
	w.fates.add(w.n, d, dropped)
	w.trace.add(d, now, len(packet))
	var drop, done uint8
	if fate != (lab.Fate{}) {
		w.count(way, fate)
		w.trace.addFate(fate)
		drop, done = w.reason(fate.Drop), uint8(bits(fate))
	}
	kept := min(w.read(d, way, packet), arenaChunk)
	w.log.keep(d, now, packet, kept, drop, done)
	if kept < len(packet) && w.log.first == 0 && !w.log.sealed {
		w.cut++
	}
	return w.n
}

// read reads a packet's headers, and says how much of it is to be kept.
func (w *Witness) read(d lab.Direction, way *lab.WireWay, packet []byte) int {
	var h header
	if h.parse(packet) {
		way.Payload += int64(h.payload())
		if h.proto == protoTCP {
			way.TCPPackets++
			if w.seeTCP(d, &h) >= w.log.limits.TCP && h.payload() > 0 {
				return h.start
			}
			return len(packet)
		}
		way.UDPPackets++
		w.seeUDP(d, &h, packet)
	}
	if w.log.whole >= w.log.limits.Whole {
		return min(len(packet), max(w.log.limits.Head, 0))
	}
	w.log.whole += int64(len(packet))
	return len(packet)
}

// reason is the place of a reason in reasons. There are far fewer than fit.
func (w *Witness) reason(why lab.Reason) uint8 {
	i := slices.Index(w.reasons, why)
	if i < 0 && len(w.reasons) == maxReasons {
		return maxReasons - 1
	}
	if i < 0 {
		i = len(w.reasons)
		w.reasons = append(w.reasons, why)
	}
	return uint8(i)
}

func (w *Witness) count(way *lab.WireWay, fate lab.Fate) {
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

// Left tells the witness that the link delivered packet n at time at, after it
// had waited for the rate, and been sent at it, for so long. Of a packet that
// arrives twice, the first time counts.
func (w *Witness) Left(n int, at, waited, sending time.Duration) {
	w.log.left(n, at, waited, sending)
}

// Later tells the witness what active queue management did at time at to packet
// n of size bytes, which it had been shown: a drop, or a mark.
//
// A packet that is dropped later counts for the runs of losses in the place where
// it was offered. Where more than 131,072 packets have come since, it counts as a
// run of its own.
func (w *Witness) Later(n int, d lab.Direction, at time.Duration, size int, fate lab.Fate) {
	w.count(&w.ways[d], fate)
	w.trace.add(d, at, size)
	w.trace.addFate(fate)
	if fate.Drop != lab.NotDropped {
		w.lose(n, d)
	}
	if e := w.log.entry(n); e != nil {
		e.rest |= pack(0, lab.Up, w.reason(fate.Drop), uint8(bits(fate)))
	}
}

// lose counts packet n among the runs of losses, after it had been shown.
func (w *Witness) lose(n int, d lab.Direction) {
	if n <= w.n-remembered || n < 1 {
		w.runs[d].ended[1]++
		return
	}
	w.fates.add(n, d, true)
	before, _ := w.fates.run(n, -1, w.n, d)
	after, newest := w.fates.run(n, 1, w.n, d)
	w.runs[d].join(before, after, newest)
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
	f.NotKept = w.notKept()
	return f
}

func (w *Witness) way(d lab.Direction) lab.WireWay {
	way := w.ways[d]
	way.Drops = maps.Clone(way.Drops)
	way.LossRuns = w.runs[d].list()
	if way.UDPPackets == 0 {
		again := w.again[d]
		way.Retransmitted = &again
	}
	return way
}

// seeUDP counts QUIC connections: the client's Initial packets that carry a
// source connection ID not seen from that port before. A client keeps its ID
// through Retry and version negotiation (RFC 9000, sections 7.2 and 17.2.5).
func (w *Witness) seeUDP(d lab.Direction, h *header, packet []byte) {
	if d != lab.Up {
		return
	}
	if id, ok := initialSource(packet[h.start:h.end]); ok {
		w.quic[strconv.Itoa(int(h.source))+"/"+string(id)] = true
	}
}
