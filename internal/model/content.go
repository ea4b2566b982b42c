package model

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// packet is what a full packet of a protocol is on the wire, in bytes of IP.
type packet struct {
	fill     float64 // content that one carries in the mean
	overhead float64 // headers of IP, the transport, TLS or QUIC and HTTP, in the mean
	ack      float64 // an acknowledgement
	quic     bool    // grows with path MTU discovery
	// smallUnits is what a small packet takes of the window: TCP's is counted in
	// packets here, QUIC's in bytes (RFC 9002, section 7).
	smallUnits float64
}

// smallPacket is one that carries no content, in bytes of IP.
const smallPacket = 100

func (p packet) size(units float64) float64 { return units*p.fill + p.overhead }

// probed are the datagrams of quic-go's path MTU discovery, as parts of the
// first 1280 B: halfway to the 1452 B that its buffers hold, again and again until
// the step is below 20 B, one every five round trips, and one more until it is
// acknowledged (v0.65.0, mtu_discoverer.go).
var probed = [...]float64{1, 1366. / 1280, 1409. / 1280, 1430.5 / 1280, 1441. / 1280}

const probeEvery = 6 // round trips

// units is how much more than at first a full packet carries, so many round
// trips after it.
func (p packet) units(trips float64) float64 {
	if !p.quic {
		return 1
	}
	return probed[min(int(trips/probeEvery), len(probed)-1)]
}

// framing is how a protocol packs content, with the embedded programs. The
// figures were counted on the wire of virtual time (docs/theory.md).
type framing struct {
	packet  packet
	object  float64 // packets of an object, where objects do not share any; else 0
	headers float64 // bytes that go before an object's content
	lead    int     // small packets before the first response
	first   float64 // the first response's first packet, bytes of IP
}

// units is how many packets so many objects take on one connection.
func (f framing) units(objects int, size int64) float64 {
	if f.object > 0 {
		return float64(objects) * f.object
	}
	return float64(objects) * (float64(size) + f.headers) / f.packet.fill
}

// alone has each object fill packets of its own: so many bytes each, and more
// besides. What is not full then counts in the mean.
func (f framing) alone(size int64, fill, more float64) framing {
	content := float64(size) + f.headers
	f.object = math.Ceil(content/fill) + more
	f.packet.fill = content / f.object
	return f
}

// Sizes of headers, in bytes.
const (
	ipv4, ipv6 = 20, 40
	tcpHeader  = 32 // with timestamps
	udpHeader  = 8
	// gvisorSegment is what gVisor leaves of an MTU for TCP's content over IPv4:
	// it reserves room for all of TCP's options, 40 B. Linux has 28 B more.
	gvisorSegment = 80
)

// tlsRecord and recordOverhead: TLS cuts content into records of 16 KiB (RFC
// 8446, section 5.1), each with 22 B around it, and Go writes each by itself, so
// that a record's last segment is not full.
const (
	tlsRecord      = 16384
	recordOverhead = 22
)

// linuxJoins is how full Linux's segments of small h2 objects are: of 8 KiB each,
// ten take 63 and fifty 303 segments on the wire, where 57 and 285 would do.
const linuxJoins = 0.94

func framingOf(c lab.Cell) framing {
	ip := float64(ipv4)
	if c.Path.Family == lab.IPv6 {
		ip = ipv6
	}
	if c.Protocol == lab.H3 {
		return quicFraming(c.Load, ip)
	}
	way := c.Path.Way(dataWay(c.Load))
	segment := float64(way.DeviceMTU()) - ip - gvisorSegment + ipv4
	if c.Site == lab.Kernel {
		segment = float64(way.DeviceMTU()) - ip - tcpHeader
	}
	f := framing{headers: 190, first: ip + 1240}
	f.packet = packet{overhead: ip + tcpHeader + 4, ack: ip + tcpHeader, smallUnits: 1}
	cut := tlsRecord / math.Ceil((tlsRecord+recordOverhead)/segment)
	if c.Protocol == lab.H1 {
		return f.alone(c.Load.Size, cut, 1)
	}
	f.headers, f.lead, f.first = 50, 3, ip+137
	switch {
	case c.Load.Size > tlsRecord:
	case c.Site == lab.Kernel:
		// Linux joins what is written to what is not sent yet, so that objects share
		// packets; each time it has sent all, one is not full.
		f.packet.fill = linuxJoins * segment
		return f
	default: // a header and one frame
		return f.alone(c.Load.Size-int64(f.headers), segment, 1)
	}
	// Frames, and the acknowledgements of window updates, split segments more.
	return f.alone(c.Load.Size, 0.945*cut, 1)
}

// quicChunk is what the server's handler writes at once; a write's last packet
// is not full.
const quicChunk = 32 << 10

func quicFraming(l lab.Load, ip float64) framing {
	const fill = 1251 // of a datagram of 1280 B
	f := framing{headers: 66, lead: 2 + min(l.Objects-1, 3), first: ip + 94}
	f.packet = packet{fill: fill, overhead: ip + udpHeader + 29, ack: ip + udpHeader + 30, quic: true, smallUnits: 0.1}
	if l.Size > quicChunk {
		f.packet.fill = quicChunk / math.Ceil(quicChunk/float64(fill))
	}
	return f
}
