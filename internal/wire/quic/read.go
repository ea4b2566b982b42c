package quic

import (
	"bytes"
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

const (
	notAuthentic = "it does not authenticate: damaged, or not of this connection"
	noSample     = "it is too short for a protected packet"
	noFixedBit   = "the fixed bit is 0"
)

// readPacket reads the packet at the front of b, the kept part of what is left of
// a datagram: size bytes. It sets p.Size to at least 1.
func (c *Conn) readPacket(d lab.Direction, b []byte, size int, p *Packet) {
	if b[0]&longBit == 0 {
		c.readShort(d, b, size, p)
		return
	}
	h := readLong(b, size)
	p.Kind, p.Version, p.DCID, p.SCID = h.kind, h.version, h.dcid, h.scid
	p.Token, p.Size, p.Supported, p.Problem = len(h.token), h.size, h.versions, h.problem
	if p.Problem != "" {
		return
	}
	whole := b[:min(h.size, len(b))]
	switch h.kind {
	case VersionNegotiation:
		c.refused = c.refused || d == lab.Down && !c.answered
	case Retry:
		c.readRetry(d, &h, whole, p)
	case Initial:
		c.readInitial(d, &h, whole, p)
	case Handshake:
		c.readLevel(d, &h, whole, p, &c.handshake[d], handshakeLabels[d])
	case ZeroRTT:
		if d == lab.Down {
			p.Problem = "a server sends no 0-RTT packets"
			return
		}
		c.readLevel(d, &h, whole, p, &c.zeroRTT, earlyLabel)
	}
	if b[0]&fixedBit == 0 {
		c.checkFixedBit(d, p)
	}
}

// checkFixedBit tells of a fixed bit of 0 where the receiver did not allow it
// (RFC 9287).
func (c *Conn) checkFixedBit(d lab.Direction, p *Packet) {
	allowed := c.params[other(d)] != nil && c.params[other(d)].GreaseQUICBit
	if !allowed && p.Kind != VersionNegotiation && p.Kind != Unknown {
		p.Problem = noFixedBit
	}
}

func (c *Conn) readShort(d lab.Direction, b []byte, size int, p *Packet) {
	p.Kind, p.Size = OneRTT, size
	if len(c.packets) > 1 && len(b) == size && len(bytes.TrimLeft(b, "\x00")) == 0 {
		p.Kind = Unknown // padding of the datagram
		return
	}
	id, known := c.ids[d].find(b[1:])
	if !known {
		id = b[1:min(len(b), max(c.own[other(d)], 1))]
	}
	p.DCID = id
	number := 1 + len(id)
	if c.openShort(d, b, number, size, p); !p.Opened {
		c.notOpened(d, b, size, known, p)
	}
	if b[0]&fixedBit == 0 {
		c.checkFixedBit(d, p)
	}
}

// notOpened says what a short header that could not be opened is.
func (c *Conn) notOpened(d lab.Direction, b []byte, size int, known bool, p *Packet) {
	switch {
	case len(b) == size && c.isReset(d, b):
		*p = Packet{Kind: StatelessReset, Size: size}
	case !known && (p.Problem == notAuthentic || p.Problem == noSample || b[0]&fixedBit == 0 || c.own[other(d)] == 0):
		*p = Packet{Kind: Unknown, Size: size, Problem: "no known connection ID, and it could not be opened", Waits: p.Waits}
	}
}

func (c *Conn) openShort(d lab.Direction, b []byte, number, size int, p *Packet) {
	keys := c.phasesOf(d, p)
	if keys == nil {
		return
	}
	s := &c.spaces[d][2]
	u, ok := keys.now.unmask(b, number)
	if !ok {
		p.Problem = tooShort(len(b) < size)
		return
	}
	if len(b) < size {
		p.cut(s, u)
		keys.cutSinceOpen = true
		return
	}
	plain, full, ok := keys.open(&c.opener, s, b, number, u)
	if !ok && c.missed[d] > 0 {
		c.missed[d]--
		plain, full, ok = keys.seek(&c.opener, s, b, number, u)
	}
	if ok {
		c.missed[d] = 0
	}
	c.result(p, s, u, plain, full, ok)
}

func tooShort(cut bool) string {
	if cut {
		return cutShort
	}
	return noSample
}

// cut sets what can be read of a packet that the log cut short.
func (p *Packet) cut(s *space, u unmasked) {
	p.Problem, p.NumberKnown = cutShort, true
	p.Number = decodeNumber(s.near, u.truncated, u.bytes)
	p.KeyPhase = p.Kind == OneRTT && u.first&phaseBit != 0
	s.seenCut(p.Number)
}

// result sets what became of a packet's decryption.
func (c *Conn) result(p *Packet, s *space, u unmasked, plain []byte, full uint64, ok bool) {
	if !ok {
		p.Problem = notAuthentic
		return
	}
	p.Opened, p.NumberKnown, p.Number = true, true, full
	reserved := byte(0x0c)
	if p.Kind == OneRTT {
		p.KeyPhase, reserved = u.first&phaseBit != 0, 0x18
	}
	s.opened(full)
	p.Frames, p.Problem = c.frames.read(p.Kind, plain)
	if p.Problem == "" && u.first&reserved != 0 {
		p.Problem = "the reserved bits are not 0"
	}
}

// readLevel opens a Handshake or 0-RTT packet.
func (c *Conn) readLevel(d lab.Direction, h *header, b []byte, p *Packet, level *levelKeys, label string) {
	if !c.derive(level, h.version, label, p) {
		return
	}
	s := &c.spaces[d][1]
	if h.kind == ZeroRTT {
		s = &c.spaces[d][2]
	}
	c.openLong(b, h, s, p, level)
}

func (c *Conn) openLong(b []byte, h *header, s *space, p *Packet, level *levelKeys) {
	for _, k := range level.keys {
		u, ok := k.unmask(b, h.number)
		if !ok {
			p.Problem = tooShort(len(b) < h.size)
			return
		}
		if len(b) < h.size {
			if len(level.keys) > 1 {
				p.Problem = cutShort // which keys are right is not known
				return
			}
			p.cut(s, u)
			return
		}
		plain, full, ok := c.opener.try(k, s, b, h.number, u)
		if ok {
			level.keys = []*keys{k}
		}
		if c.result(p, s, u, plain, full, ok); ok {
			return
		}
	}
}

func versionName(v uint32) string {
	switch v {
	case Version1:
		return "1"
	case Version2:
		return "2"
	}
	return fmt.Sprintf("0x%08x", v)
}
