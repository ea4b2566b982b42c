package link

import (
	"net/netip"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"

	"github.com/samewire/samewire/internal/lab"
)

// build says which packet to make. Its bytes are made, and checked, by another
// implementation than the link's.
type build struct {
	family    lab.Family
	transport lab.Transport
	d         lab.Direction
	client    netip.Addr // instead of the family's
	port      uint16     // the client's; 0 means 50000
	ecn       uint8
	syn       bool
	payload   []byte
	size      int  // of the IP packet, with zeros at its end; 0 means as large as the payload makes it
	noSum     bool // no UDP checksum
}

func (p build) bytes() []byte {
	client, server := p.family.Hosts()
	if p.client.IsValid() {
		client = p.client
	}
	if p.port == 0 {
		p.port = 50000
	}
	src, dst := tcpip.AddrFromSlice(client.AsSlice()), tcpip.AddrFromSlice(server.AsSlice())
	srcPort, dstPort := p.port, uint16(lab.Port)
	if p.d == lab.Down {
		src, dst, srcPort, dstPort = dst, src, dstPort, srcPort
	}
	ip, least := header.IPv4MinimumSize, header.UDPMinimumSize
	if p.family == lab.IPv6 {
		ip = header.IPv6MinimumSize
	}
	if p.transport == lab.TCP {
		least = header.TCPMinimumSize
	}
	b := make([]byte, max(ip+least+len(p.payload), p.size))
	copy(b[ip+least:], p.payload)
	p.network(b, src, dst)
	segment := b[ip:]
	if p.transport == lab.TCP {
		p.tcp(segment, src, dst, srcPort, dstPort)
	} else {
		p.udp(segment, src, dst, srcPort, dstPort)
	}
	return b
}

func (p build) network(b []byte, src, dst tcpip.Address) {
	number := header.UDPProtocolNumber
	if p.transport == lab.TCP {
		number = header.TCPProtocolNumber
	}
	if p.family == lab.IPv6 {
		header.IPv6(b).Encode(&header.IPv6Fields{
			TrafficClass: p.ecn, PayloadLength: uint16(len(b) - header.IPv6MinimumSize), TransportProtocol: number,
			HopLimit: 64, SrcAddr: src, DstAddr: dst,
		})
		return
	}
	h := header.IPv4(b)
	h.Encode(&header.IPv4Fields{
		TOS: p.ecn, TotalLength: uint16(len(b)), ID: 0x1234, TTL: 64, Protocol: uint8(number), SrcAddr: src, DstAddr: dst,
	})
	h.SetChecksum(^h.CalculateChecksum())
}

func (p build) udp(b []byte, src, dst tcpip.Address, srcPort, dstPort uint16) {
	h := header.UDP(b)
	h.Encode(&header.UDPFields{SrcPort: srcPort, DstPort: dstPort, Length: uint16(len(b))})
	if p.noSum {
		return
	}
	sum := ^h.CalculateChecksum(checksum.Combine(
		header.PseudoHeaderChecksum(header.UDPProtocolNumber, src, dst, uint16(len(b))), checksum.Checksum(h.Payload(), 0)))
	if sum == 0 {
		sum = 0xffff
	}
	h.SetChecksum(sum)
}

func (p build) tcp(b []byte, src, dst tcpip.Address, srcPort, dstPort uint16) {
	h := header.TCP(b)
	flags := header.TCPFlagAck
	if p.syn {
		flags = header.TCPFlagSyn
	}
	h.Encode(&header.TCPFields{SrcPort: srcPort, DstPort: dstPort, SeqNum: 7, DataOffset: header.TCPMinimumSize, Flags: flags})
	h.SetChecksum(^h.CalculateChecksum(checksum.Combine(
		header.PseudoHeaderChecksum(header.TCPProtocolNumber, src, dst, uint16(len(b))), checksum.Checksum(h.Payload(), 0))))
}

// seen is what another implementation reads of a packet.
type seen struct {
	src, dst netip.AddrPort
	ecn      uint8
}

// see reads a packet, and complains about its checksums.
func see(t reporter, b []byte) seen {
	t.Helper()
	var net header.Network
	var s seen
	if b[0]>>4 == 4 {
		h := header.IPv4(b)
		if !h.IsValid(len(b)) || !h.IsChecksumValid() {
			t.Errorf("not an IPv4 packet with a right checksum: %x", b)
		}
		net, s.ecn = h, h[1]&3
	} else {
		h := header.IPv6(b)
		if !h.IsValid(len(b)) {
			t.Errorf("not an IPv6 packet: %x", b)
		}
		tos, _ := h.TOS()
		net, s.ecn = h, tos&3
	}
	srcPort, dstPort := seePorts(t, net)
	s.src = netip.AddrPortFrom(addrOf(net.SourceAddress()), srcPort)
	s.dst = netip.AddrPortFrom(addrOf(net.DestinationAddress()), dstPort)
	return s
}

func addrOf(a tcpip.Address) netip.Addr {
	addr, _ := netip.AddrFromSlice(a.AsSlice())
	return addr
}

func seePorts(t reporter, net header.Network) (src, dst uint16) {
	t.Helper()
	from, to := net.SourceAddress(), net.DestinationAddress()
	switch net.TransportProtocol() {
	case header.UDPProtocolNumber:
		h := header.UDP(net.Payload())
		if h.Checksum() != 0 && !h.IsChecksumValid(from, to, checksum.Checksum(h.Payload(), 0)) {
			t.Errorf("wrong UDP checksum: %x", []byte(h))
		}
		return h.SourcePort(), h.DestinationPort()
	case header.TCPProtocolNumber:
		h := header.TCP(net.Payload())
		if !h.IsChecksumValid(from, to, checksum.Checksum(h.Payload(), 0), uint16(len(h.Payload()))) {
			t.Errorf("wrong TCP checksum: %x", []byte(h))
		}
		return h.SourcePort(), h.DestinationPort()
	}
	return 0, 0
}

// What the tests build is right in itself, and they see when it is not.
func TestBuiltPacketsAreSound(t *testing.T) {
	for _, family := range []lab.Family{lab.IPv4, lab.IPv6} {
		for _, transport := range []lab.Transport{lab.UDP, lab.TCP} {
			client, server := family.Hosts()
			b := build{family: family, transport: transport, d: lab.Down, ecn: 2, payload: []byte("odd")}.bytes()
			want := seen{netip.AddrPortFrom(server, lab.Port), netip.AddrPortFrom(client, 50000), 2}
			if got := see(t, b); got != want {
				t.Errorf("%s %s: %+v, want %+v", family, transport, got, want)
			}
			b[len(b)-1] ^= 1
			broken := &complaints{reporter: t}
			if see(broken, b); broken.n == 0 {
				t.Errorf("%s %s: a wrong checksum is not seen", family, transport)
			}
		}
	}
}

// reporter is a test, or one of rapid's.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// complaints counts errors instead of failing the test.
type complaints struct {
	reporter
	n int
}

func (c *complaints) Errorf(string, ...any) { c.n++ }
