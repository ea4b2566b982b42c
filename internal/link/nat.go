package link

import (
	"encoding/binary"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// nat is the address translation on the client's side. It maps each flow of the
// client, which is a transport and a port of it, to an address and a port as the
// server sees them (RFC 4787: endpoint-independent mapping, port preservation);
// at first they are the client's own. When a flow is rebound, its mapping changes
// and the one before becomes invalid: packets to it are dropped.
//
// Properties that an edit must keep: no two flows have one mapping at the same
// time; a flow that is rebound never has the mapping that it had before.
//
// Not translated: what is neither UDP nor TCP (ICMP of the client's host passes
// as it is; of the server's host what goes to an alias is dropped), and fragments
// but the first, which are dropped.
type nat struct {
	rebind   lab.Rebind
	flows    map[uint32]*flow // by transport and the client's port
	mappings map[uint64]*flow // by transport, alias and port; only valid ones
}

// flow is a flow of the client.
type flow struct {
	port   uint16 // the client's
	at     mapping
	epoch  int64 // how often all flows had been rebound when this one was last looked at
	rebind int64 // how often this one has been rebound
	last   time.Duration
}

// mapping is how the server sees a flow: its address (0 for the client's own, or
// the nth alias) and its port.
type mapping struct{ alias, port uint16 }

// newNAT makes the translation of a path; nil when it has none.
func newNAT(r lab.Rebind) *nat {
	if r == (lab.Rebind{Address: r.Address, Transport: r.Transport}) {
		return nil
	}
	return &nat{rebind: r, flows: map[uint32]*flow{}, mappings: map[uint64]*flow{}}
}

// epoch is how often all flows have been rebound at time now.
func (n *nat) epoch(now time.Duration) int64 {
	first := n.rebind.At
	if first == 0 {
		first = n.rebind.Every
	}
	switch {
	case first == 0 || now < first:
		return 0
	case n.rebind.Every > 0:
		return 1 + int64((now-first)/n.rebind.Every)
	default:
		return 1
	}
}

// expired says that the flow has been idle for too long at time now.
func (n *nat) expired(f *flow, now time.Duration) bool {
	return n.rebind.Idle > 0 && now-f.last >= n.rebind.Idle
}

// translate says what is to become of a packet offered at time now; ok is false
// when it must be dropped.
func (n *nat) translate(d lab.Direction, now time.Duration, packet []byte, h *headers) (c change, ok bool) {
	if h.version == 0 {
		return change{}, true
	}
	src, dst := h.addresses(packet)
	host := src
	if d == lab.Down {
		host = dst
	}
	alias, ours := aliasOf(h.version, host)
	transport := h.transport()
	switch {
	case !ours:
		return change{}, true // of some other host
	case transport == "":
		return change{}, alias == 0
	case n.rebind.Transport != "" && n.rebind.Transport != transport:
		return change{}, alias == 0
	case !h.ports:
		return change{}, false
	case d == lab.Up:
		return n.up(now, h, alias)
	default:
		return n.down(now, h, alias)
	}
}

// up translates a packet of the client, and gives its flow a mapping.
func (n *nat) up(now time.Duration, h *headers, alias uint16) (change, bool) {
	if alias != 0 {
		return change{}, false // the client has no alias of itself
	}
	key := uint32(h.proto)<<16 | uint32(h.src)
	f, epoch := n.flows[key], n.epoch(now)
	if f == nil {
		f = &flow{port: h.src, epoch: epoch}
		if n.rebind.Address {
			f.rebind = epoch // the address is all flows'
		}
		n.flows[key] = f
		n.bind(h.proto, f)
	} else if moves := n.moves(f, epoch, now); moves > 0 {
		delete(n.mappings, f.at.key(h.proto))
		f.epoch, f.rebind = epoch, f.rebind+moves
		n.bind(h.proto, f)
	}
	if n.mappings[f.at.key(h.proto)] != f { // there was no port left
		delete(n.flows, key)
		return change{}, false
	}
	f.last = now
	if f.at == (mapping{port: f.port}) {
		return change{}, true
	}
	return change{nat: translateSource, alias: f.at.alias, port: f.at.port}, true
}

// moves is how often a flow must be rebound before a packet passes.
func (n *nat) moves(f *flow, epoch int64, now time.Duration) int64 {
	if f.epoch == epoch && n.expired(f, now) {
		return 1
	}
	return epoch - f.epoch
}

// down translates a packet to the client back.
func (n *nat) down(now time.Duration, h *headers, alias uint16) (change, bool) {
	at := mapping{alias, h.dst}
	f := n.mappings[at.key(h.proto)]
	if f == nil || f.epoch != n.epoch(now) || n.expired(f, now) {
		return change{}, false
	}
	f.last = now
	if at == (mapping{port: f.port}) {
		return change{}, true
	}
	return change{nat: translateDestination, port: f.port}, true
}

// Ports given out in place of others are from firstPort to 65535: the ones below
// are for servers. portStep has no factor in common with their number, so that a
// flow that is rebound again and again comes through all of them.
const (
	firstPort = 1024
	ports     = 65536 - firstPort
	portStep  = 12289
)

// bind gives a flow the mapping that follows from its port and how often it has
// been rebound, or the next that is free. Where all are taken it gives none.
func (n *nat) bind(proto uint8, f *flow) {
	before, at := f.at, mapping{port: f.port}
	if n.rebind.Address {
		at.alias = aliasNumber(f.rebind)
	} else if f.rebind > 0 {
		at.port = uint16(firstPort + (int64(f.port)+f.rebind%ports*portStep)%ports)
	}
	for range ports {
		if (at != before || f.rebind == 0) && n.mappings[at.key(proto)] == nil {
			f.at = at
			n.mappings[at.key(proto)] = f
			return
		}
		at.port = uint16(firstPort + (int(at.port)-firstPort+1+ports)%ports)
	}
}

// aliasNumber is which alias an address has that has been changed so often; 0 is
// the client's own, to which it never comes back.
func aliasNumber(changes int64) uint16 {
	if changes == 0 {
		return 0
	}
	return uint16(1 + (changes-1)%65535)
}

func (m mapping) key(proto uint8) uint64 {
	return uint64(proto)<<32 | uint64(m.alias)<<16 | uint64(m.port)
}

// The client's addresses, and the aliases' prefixes, as bytes.
var (
	client4, client6 = lab.ClientAddr4.As4(), lab.ClientAddr6.As16()
	alias4, alias6   = lab.IPv4.Alias(0).As4(), lab.IPv6.Alias(0).As16()
)

// aliasOf is the number of the alias that an address is, 0 for the client's own;
// ok is false when it is another host's.
func aliasOf(version uint8, addr []byte) (alias uint16, ok bool) {
	client, first := client6[:], alias6[:]
	if version == 4 {
		client, first = client4[:], alias4[:]
	}
	if string(addr) == string(client) {
		return 0, true
	}
	last := len(addr) - 2
	if string(addr[:last]) != string(first[:last]) {
		return 0, false
	}
	alias = binary.BigEndian.Uint16(addr[last:])
	return alias, alias != 0
}

// translate rewrites the client's side of a packet: its address and its port.
func (c *change) translate(b []byte) {
	h := readHeaders(b)
	if !h.ports {
		return
	}
	src, dst := h.addresses(b)
	addr, port := src, b[h.at:h.at+2]
	if c.nat == translateDestination {
		addr, port = dst, b[h.at+2:h.at+4]
	}
	sum := transportChecksum(b, &h)
	rewriteAddress(b, &h, addr, c.alias, sum)
	var number [2]byte
	binary.BigEndian.PutUint16(number[:], c.port)
	rewrite(port, number[:], sum)
	if h.proto == protoUDP && sum != nil && sum[0]|sum[1] == 0 {
		sum[0], sum[1] = 0xff, 0xff // 0 would mean that there is none (RFC 768)
	}
}

// transportChecksum is where the checksum of UDP or TCP is; nil when it has none.
func transportChecksum(b []byte, h *headers) []byte {
	at := h.at + 6
	if h.proto == protoTCP {
		at = h.at + 16
	}
	if len(b) < at+2 || h.proto == protoUDP && b[at]|b[at+1] == 0 {
		return nil
	}
	return b[at : at+2]
}

// rewriteAddress puts the client's address or an alias in the place of addr.
func rewriteAddress(b []byte, h *headers, addr []byte, alias uint16, sum []byte) {
	var now [16]byte
	switch {
	case h.version == 4 && alias == 0:
		copy(now[:], client4[:])
	case h.version == 4:
		copy(now[:], alias4[:])
	case alias == 0:
		now = client6
	default:
		now = alias6
	}
	if alias != 0 {
		binary.BigEndian.PutUint16(now[len(addr)-2:], alias)
	}
	if h.version == 4 {
		rewrite(addr, now[:4], b[10:12], sum)
		return
	}
	rewrite(addr, now[:16], sum)
}

// rewrite puts new words in the place of old ones, and corrects the checksums
// that they are under; a nil checksum is none.
func rewrite(at, now []byte, sums ...[]byte) {
	for i := 0; i+2 <= len(at); i += 2 {
		before, after := binary.BigEndian.Uint16(at[i:]), binary.BigEndian.Uint16(now[i:])
		for _, sum := range sums {
			if sum != nil {
				putChecksum(sum, updateChecksum(binary.BigEndian.Uint16(sum), before, after))
			}
		}
	}
	copy(at, now)
}
