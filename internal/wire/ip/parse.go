package ip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// ErrFragment is what Parse returns of a fragment that is not its datagram's
// first: it has no transport header.
var ErrFragment = errors.New("read IP packet: a later fragment, without a transport header")

// Parse reads the headers of a packet, from its IP header on. The packet may be
// cut short behind its transport header; bytes beyond its own length are left
// out. Payload aliases p. It allocates nothing but errors.
func Parse(p []byte) (Packet, error) {
	if len(p) == 0 {
		return Packet{}, errors.New("read IP packet: empty")
	}
	var (
		k    Packet
		b    body
		from netip.Addr
		to   netip.Addr
		err  error
	)
	switch k.Version = p[0] >> 4; k.Version {
	case 4:
		from, to, b, err = parse4(&k, p)
	case 6:
		from, to, b, err = parse6(&k, p)
	default:
		err = fmt.Errorf("read IP packet: version %d, want 4 or 6", k.Version)
	}
	if err != nil {
		return Packet{}, err
	}
	k.Source, k.Dest = netip.AddrPortFrom(from, 0), netip.AddrPortFrom(to, 0)
	if err := parseTransport(&k, b); err != nil {
		return Packet{}, err
	}
	return k, nil
}

// body is what follows the IP header: size is its length by the headers, data
// what is there of it; len(data) <= size.
type body struct {
	data []byte
	size int
}

// rest is the body without its first n bytes; not ok where they are not there.
func (b body) rest(n int) (body, bool) {
	if n > len(b.data) {
		return body{}, false
	}
	return body{b.data[n:], b.size - n}, true
}

func newBody(p []byte, header, total int) body {
	return body{p[header:min(total, len(p))], total - header}
}

func parse4(k *Packet, p []byte) (from, to netip.Addr, b body, err error) { // RFC 791
	if len(p) < 20 {
		return from, to, b, fmt.Errorf("read IPv4 header: cut short at %d bytes", len(p))
	}
	header, total := int(p[0]&0x0f)*4, int(binary.BigEndian.Uint16(p[2:]))
	switch {
	case header < 20 || total < header:
		return from, to, b, fmt.Errorf("read IPv4 header: header length %d, total length %d", header, total)
	case header > len(p):
		return from, to, b, fmt.Errorf("read IPv4 header: cut short at %d bytes of %d", len(p), header)
	}
	fragment := binary.BigEndian.Uint16(p[6:])
	if fragment&0x1fff != 0 {
		return from, to, b, ErrFragment
	}
	k.Fragment = fragment&0x2000 != 0
	k.ECN, k.Proto = p[1]&3, p[9]
	from, to = netip.AddrFrom4([4]byte(p[12:16])), netip.AddrFrom4([4]byte(p[16:20]))
	return from, to, newBody(p, header, total), nil
}

// The extension headers of IPv6 that are followed (IANA protocol numbers).
const (
	hopByHop     = 0
	routing      = 43
	fragment     = 44
	destinations = 60
)

// maxExtensions bounds how many extension headers are followed. RFC 8200 has no
// use for more than seven.
const maxExtensions = 8

func parse6(k *Packet, p []byte) (from, to netip.Addr, b body, err error) { // RFC 8200
	if len(p) < 40 {
		return from, to, b, fmt.Errorf("read IPv6 header: cut short at %d bytes", len(p))
	}
	k.ECN = p[1] >> 4 & 3
	from, to = netip.AddrFrom16([16]byte(p[8:24])), netip.AddrFrom16([16]byte(p[24:40]))
	b = newBody(p, 40, 40+int(binary.BigEndian.Uint16(p[4:])))
	k.Proto, b, err = extensions(k, p[6], b)
	return from, to, b, err
}

// extensions follows the extension headers to the transport's.
func extensions(k *Packet, next byte, b body) (byte, body, error) {
	for range maxExtensions {
		if next != hopByHop && next != routing && next != fragment && next != destinations {
			return next, b, nil
		}
		if len(b.data) < 8 {
			return 0, b, fmt.Errorf("read IPv6 extension header %d: cut short at %d bytes", next, len(b.data))
		}
		length := 8
		if next == fragment {
			field := binary.BigEndian.Uint16(b.data[2:])
			if field&0xfff8 != 0 {
				return 0, b, ErrFragment
			}
			k.Fragment = field&1 != 0
		} else {
			length += int(b.data[1]) * 8
		}
		rest, ok := b.rest(length)
		if !ok {
			return 0, b, fmt.Errorf("read IPv6 extension header %d: cut short at %d bytes of %d", next, len(b.data), length)
		}
		next, b = b.data[0], rest
	}
	return 0, b, fmt.Errorf("read IPv6 packet: more than %d extension headers", maxExtensions)
}

func parseTransport(k *Packet, b body) error {
	switch k.Proto {
	case ProtoTCP:
		return parseTCP(k, b)
	case ProtoUDP:
		return parseUDP(k, b)
	}
	k.Payload, k.Size = b.data, b.size
	return nil
}

func (k *Packet) setPorts(b []byte) {
	k.Source = netip.AddrPortFrom(k.Source.Addr(), binary.BigEndian.Uint16(b))
	k.Dest = netip.AddrPortFrom(k.Dest.Addr(), binary.BigEndian.Uint16(b[2:]))
}

func parseUDP(k *Packet, b body) error { // RFC 768
	if len(b.data) < 8 {
		return fmt.Errorf("read UDP header: cut short at %d bytes of 8", len(b.data))
	}
	length := int(binary.BigEndian.Uint16(b.data[4:]))
	if length < 8 || length > b.size && !k.Fragment {
		return fmt.Errorf("read UDP header: length %d in an IP payload of %d", length, b.size)
	}
	k.setPorts(b.data)
	k.Size = min(length, b.size) - 8
	k.Payload = b.data[8:]
	k.Payload = k.Payload[:min(len(k.Payload), k.Size)]
	return nil
}
