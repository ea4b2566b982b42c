package quic

import (
	"bytes"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// origin is a connection ID that Initial keys come from: the client's first
// DCID, and after a Retry the server's answer to it (RFC 9001, section 5.2).
type origin struct {
	id   []byte
	keys [2][2]*keys // of version 1 and 2, by direction; nil: not derived yet
}

// maxOrigins is how many are remembered, the newest ones.
const maxOrigins = 4

func (o *origin) of(version uint32, d lab.Direction) *keys {
	at := 0
	if version == Version2 {
		at = 1
	}
	if o.keys[at][0] == nil {
		o.keys[at] = initialKeys(version, o.id)
	}
	return o.keys[at][d]
}

func (c *Conn) addOrigin(o origin) {
	if len(c.origins) == maxOrigins {
		c.origins = slices.Delete(c.origins, 0, 1)
	}
	c.origins = append(c.origins, o)
	c.learnt++
}

// readInitial opens an Initial with the keys of the origins known, the newest
// first. A client's may bring an origin of its own.
func (c *Conn) readInitial(d lab.Direction, h *header, b []byte, p *Packet) {
	if d == lab.Up && c.refused && h.version != c.first {
		c.openFirst(h, b, p) // perhaps from the same DCID
	}
	for i := len(c.origins) - 1; i >= 0 && !p.Opened; i-- {
		c.openInitial(d, h, b, p, &c.origins[i])
		if len(b) < h.size {
			return // nothing can tell which keys are right: the newest ones are likely
		}
	}
	if d == lab.Up && !p.Opened && !c.isOrigin(h.dcid) {
		c.openFirst(h, b, p)
	}
	switch {
	case p.Opened:
		c.initialOpened(d, h)
	case len(c.origins) == 0 && len(b) == h.size:
		p.Problem, p.Waits = "its keys are not known: the client's first Initial was not read", true
	}
}

func (c *Conn) isOrigin(id []byte) bool {
	return slices.ContainsFunc(c.origins, func(o origin) bool { return bytes.Equal(o.id, id) })
}

func (c *Conn) openInitial(d lab.Direction, h *header, b []byte, p *Packet, o *origin) {
	c.openLong(b, h, &c.spaces[d][0], p, &levelKeys{keys: []*keys{o.of(h.version, d)}})
}

// openFirst tries a client's Initial by its own DCID. Where it authenticates, the
// connection begins with it: anew, after a version negotiation.
func (c *Conn) openFirst(h *header, b []byte, p *Packet) {
	own := origin{id: bytes.Clone(h.dcid)}
	k := own.of(h.version, lab.Up)
	s := newSpace()
	if !c.refused && len(c.origins) > 0 {
		s = c.spaces[lab.Up][0] // numbers go on
	}
	u, ok := k.unmask(b, h.number)
	if !ok || len(b) < h.size {
		p.Problem = tooShort(len(b) < h.size)
		return
	}
	plain, full, ok := c.opener.try(k, &s, b, h.number, u)
	if !ok {
		p.Problem = notAuthentic
		return
	}
	if c.refused {
		c.restart()
	}
	c.addOrigin(own)
	c.result(p, &c.spaces[lab.Up][0], u, plain, full, true)
}

func (c *Conn) initialOpened(d lab.Direction, h *header) {
	c.named(d, h.scid)
	if d == lab.Down {
		c.answered, c.refused = true, false
		return
	}
	c.addressed(lab.Up, h.dcid)
	if c.first == 0 {
		c.first = h.version
	}
}

// readRetry accepts a Retry whose tag fits a DCID of the client. Only the first
// one counts, and none after the server answered (RFC 9000, section 17.2.5.2).
func (c *Conn) readRetry(d lab.Direction, h *header, b []byte, p *Packet) {
	if d == lab.Up {
		p.Problem = "a client sends no Retry"
		return
	}
	if len(b) < h.size {
		p.Problem = cutShort
		return
	}
	if len(c.origins) == 0 {
		p.Problem, p.Waits = "its tag cannot be checked: the client's first Initial was not read", true
		return
	}
	fits := slices.ContainsFunc(c.origins, func(o origin) bool { return retryTag(h.version, o.id, b) })
	if !fits {
		p.Problem = "its integrity tag does not fit"
		return
	}
	if c.retried || c.answered {
		return
	}
	c.retried = true
	c.addOrigin(origin{id: bytes.Clone(h.scid)})
	c.named(lab.Down, h.scid)
}
