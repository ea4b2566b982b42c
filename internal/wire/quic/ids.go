package quic

import "github.com/samewire/samewire/internal/lab"

// maxIDs is how many connection IDs of each direction a connection remembers:
// the newest ones.
const maxIDs = 256

// idSet is the connection IDs that datagrams in one direction may bear.
type idSet struct {
	known   map[string]bool
	order   []string // from the oldest
	lengths uint32   // bit n: one of n bytes is known
	last    []byte   // found last
}

func (s *idSet) add(id []byte) (dropped string, isNew bool) {
	if s.known[string(id)] {
		return "", false
	}
	if s.known == nil {
		s.known = map[string]bool{}
	}
	s.known[string(id)] = true
	s.order = append(s.order, string(id))
	s.lengths |= 1 << len(id)
	if len(s.order) > maxIDs {
		dropped = s.order[0]
		s.order = s.order[1:]
		delete(s.known, dropped)
	}
	return dropped, true
}

// find returns the known ID at the front of b, the longest one; false: none.
func (s *idSet) find(b []byte) ([]byte, bool) {
	if n := len(s.last); n > 0 && len(b) >= n && string(b[:n]) == string(s.last) {
		return b[:n:n], true
	}
	for n := min(20, len(b)); n >= 0; n-- {
		if s.lengths>>n&1 != 0 && s.known[string(b[:n])] {
			s.last = append(s.last[:0], b[:n]...)
			return b[:n:n], true
		}
	}
	return nil, false
}

// addressed notes an ID that datagrams in direction d may be addressed with.
func (c *Conn) addressed(d lab.Direction, id []byte) {
	if len(id) > 20 {
		return
	}
	if _, isNew := c.ids[d].add(id); isNew && c.inform != nil {
		c.inform(d, id)
	}
}

// named notes the ID that the side that sends in direction d chose for itself
// during the handshake.
func (c *Conn) named(d lab.Direction, id []byte) {
	c.own[d] = len(id) + 1
	c.addressed(other(d), id)
}

func other(d lab.Direction) lab.Direction {
	if d == lab.Up {
		return lab.Down
	}
	return lab.Up
}

// resetBy notes a stateless reset token of the side that sends in direction d.
func (c *Conn) resetBy(d lab.Direction, token [16]byte) {
	if c.resets[d] == nil {
		c.resets[d] = map[[16]byte]bool{}
	}
	if len(c.resets[d]) < maxIDs {
		c.resets[d][token] = true
	}
}

// isReset says whether a datagram ends with a token that makes it a stateless
// reset (RFC 9000, section 10.3).
func (c *Conn) isReset(d lab.Direction, b []byte) bool {
	return len(b) >= 21 && c.resets[d][[16]byte(b[len(b)-16:])]
}
