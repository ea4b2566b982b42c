package pcapng

import (
	"encoding/binary"
	"net/netip"

	"github.com/gopacket/gopacket/layers"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
)

// network returns what follows the header of the link layer, and how many bytes
// that header has. It is not ok for what is neither IPv4 nor IPv6.
func network(link layers.LinkType, b []byte) (packet []byte, before int, ok bool) {
	switch link {
	case layers.LinkTypeEthernet: // IEEE 802.3
		before = 14
		for before <= len(b) && before <= 22 && isVLAN(binary.BigEndian.Uint16(b[before-2:])) {
			before += 4
		}
	case layers.LinkTypeLinuxSLL:
		before = 16
	case layers.LinkTypeLinuxSLL2:
		before = 20
	case layers.LinkTypeNull, layers.LinkTypeLoop:
		before = 4
	case layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6, 12, 14: // raw IP of some systems
	default:
		return nil, 0, false
	}
	if len(b) <= before {
		return nil, 0, false
	}
	b = b[before:]
	return b, before, b[0]>>4 == 4 || b[0]>>4 == 6
}

// isVLAN says whether an EtherType is that of a tag (IEEE 802.1Q, 802.1ad).
func isVLAN(kind uint16) bool { return kind == 0x8100 || kind == 0x88a8 }

// total is the length of an IP packet by its own header, where that is shorter
// than size: Ethernet fills short packets up.
func total(b []byte, size int) int {
	length := size
	switch {
	case b[0]>>4 == 4 && len(b) >= 4:
		length = int(binary.BigEndian.Uint16(b[2:]))
	case b[0]>>4 == 6 && len(b) >= 6:
		length = 40 + int(binary.BigEndian.Uint16(b[4:]))
	}
	if length < 20 || length > size { // cut into segments by the card, or nonsense
		return max(size, 0)
	}
	return length
}

// sides knows which end of each conversation is the client.
type sides struct{ client map[pair]bool }

// pair is a conversation's two ends, the first of which is the client or not.
type pair struct {
	proto byte
	a, b  netip.AddrPort
}

// way tells the direction of a packet.
//
// Properties that an edit must keep: a SYN or SYN-ACK decides for its
// conversation, and of UDP the first packet (see speaker); without one the lower
// port is the server's; all packets of a conversation agree, but those before a SYN.
func (s *sides) way(data []byte) lab.Direction {
	k, err := ip.Parse(data)
	if err != nil {
		return lab.Up
	}
	if s.client == nil {
		s.client = map[pair]bool{}
	}
	there, back := pair{k.Proto, k.Source, k.Dest}, pair{k.Proto, k.Dest, k.Source}
	isClient, known := s.client[there]
	switch {
	case k.Proto == ip.ProtoTCP && k.TCP.Flags&(ip.SYN|ip.ACK) == ip.SYN:
		isClient = true
	case k.Proto == ip.ProtoTCP && k.TCP.Flags&(ip.SYN|ip.ACK) == ip.SYN|ip.ACK:
		isClient = false
	case !known && k.Proto == ip.ProtoUDP && len(k.Payload) > 0 && k.Payload[0]&0x80 != 0:
		isClient = speaker(k.Payload, k.Source.Port(), k.Dest.Port())
	case !known:
		isClient = k.Source.Port() >= k.Dest.Port()
	}
	s.client[there], s.client[back] = isClient, !isClient
	if isClient {
		return lab.Up
	}
	return lab.Down
}

// wellKnown says whether a port is one of a server's: those of the system (RFC
// 6335, section 6), and what QUIC is tried on.
func wellKnown(port uint16) bool { return port < 1024 || port == 4433 || port == 8443 }

// speaker says whether the first packet of a conversation over UDP, one with a
// long header, is the client's. Some kinds have one side only that sends them (RFC
// 9000, section 17.2; RFC 9369, section 3.2); else a port that is a server's
// decides, since the client's packets may be missing; and where there is none an
// Initial is the client's, which is the first to send one, and any other packet of
// the higher port.
func speaker(payload []byte, from, to uint16) bool {
	kind, known := longKind(payload)
	switch {
	case known && (kind == kindRetry || kind == kindNegotiation):
		return false
	case known && kind == kindZeroRTT:
		return true
	case wellKnown(from) != wellKnown(to):
		return wellKnown(to)
	case !known || kind == kindInitial:
		return true
	default:
		return from >= to
	}
}

// The kinds of packets with a long header, by their bits in version 1; and one
// that has none.
const (
	kindInitial = iota
	kindZeroRTT
	kindHandshake
	kindRetry
	kindNegotiation
)

// longKind is the kind of a packet with a long header, in the versions that are
// known.
func longKind(payload []byte) (kind int, known bool) {
	if len(payload) < 5 {
		return 0, false
	}
	kind = int(payload[0] >> 4 & 3)
	switch binary.BigEndian.Uint32(payload[1:]) {
	case 0:
		return kindNegotiation, true
	case 1:
		return kind, true
	case 0x6b3343cf: // version 2: one more than in version 1
		return (kind + 3) & 3, true
	default:
		return 0, false
	}
}
