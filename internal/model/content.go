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
	grows    bool    // with QUIC's path MTU discovery
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
	if !p.grows {
		return 1
	}
	return probed[min(int(trips/probeEvery), len(probed)-1)]
}

// framing is how a protocol packs content, with the embedded programs. The
// figures were counted on the wire of virtual time (docs/theory.md).
type framing struct {
	packet   packet
	object   float64 // packets of an object besides those that it fills
	headers  float64 // bytes that go before an object's content
	together bool    // objects that are asked for at once share packets
	lead     int     // small packets before the first response
	first    float64 // the first response's first packet, bytes of IP
}

// units is how many packets so many objects take on one connection.
func (f framing) units(objects int, size int64) float64 {
	each := float64(size) + f.headers
	if f.together {
		return float64(objects) * each / f.packet.fill
	}
	return float64(objects) * (math.Ceil(each/f.packet.fill) + f.object)
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
	f := framing{headers: 190, object: 1, first: ip + 1240}
	f.packet = packet{fill: tlsRecord / math.Ceil((tlsRecord+recordOverhead)/segment), overhead: ip + tcpHeader + 4, ack: ip + tcpHeader, smallUnits: 1}
	if c.Protocol == lab.H2 {
		// Frames and the acknowledgements of window updates split segments.
		f.packet.fill *= 0.945
		f.headers, f.object, f.lead, f.first = 0, 0, 3, ip+137
	}
	return f
}

// quicChunk is what the server's handler writes at once; a write's last packet
// is not full.
const quicChunk = 32 << 10

func quicFraming(l lab.Load, ip float64) framing {
	const fill = 1251 // of a datagram of 1280 B
	f := framing{headers: 66, together: true, lead: 2 + min(l.Objects-1, 3), first: ip + 94}
	f.packet = packet{fill: fill, overhead: ip + udpHeader + 29, ack: ip + udpHeader + 30, grows: true, smallUnits: 0.1}
	if l.Size > quicChunk {
		f.packet.fill = quicChunk / math.Ceil(quicChunk/float64(fill))
	}
	return f
}
