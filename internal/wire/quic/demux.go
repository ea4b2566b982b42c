package quic

import (
	"net/netip"
	"slices"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// Bounds of a Demux. Beyond them datagrams of new connections belong to none,
// and new connection IDs are not noted.
const (
	maxConns   = 16384
	maxAllIDs  = 1 << 18
	maxPerPair = 16 // connections of one pair of addresses: the newest ones
)

// Demux finds the connection of a datagram: by its destination connection ID,
// among those that handshakes and NEW_CONNECTION_ID frames named, and where that
// is empty or not known by the pair of addresses. So a connection stays one when
// its client moves, or is rebound by a NAT, and when it begins anew after a
// version negotiation.
type Demux struct {
	// Conns has the connections, in the order of their first datagram.
	Conns   []*Conn
	secrets *keylog.Log
	scratch scratch
	ids     [2]map[string]*Conn // by direction; the newest connection of each ID
	lengths [2]uint32           // bit n: there are IDs of n bytes
	pairs   map[pair][]*Conn    // from the oldest
}

// pair is a client's address and its server's.
type pair struct{ client, server netip.AddrPort }

// NewDemux begins without connections. secrets may be nil.
func NewDemux(secrets *keylog.Log) *Demux {
	return &Demux{
		secrets: secrets,
		ids:     [2]map[string]*Conn{{}, {}},
		pairs:   map[pair][]*Conn{},
	}
}

// Missed says that packets of any connection before the next one were not kept at
// all; see Conn.Missed.
func (x *Demux) Missed() {
	for _, c := range x.Conns {
		c.Missed()
	}
}

// Find returns the connection of a datagram, and a new one for a client's first
// packet; nil where it belongs to none. Its caller reads the datagram with it
// before the next Find: that is how Find learns of connection IDs.
func (x *Demux) Find(d lab.Direction, from, to netip.AddrPort, payload []byte) *Conn {
	if len(payload) == 0 {
		return nil
	}
	p := pair{from, to}
	if d == lab.Down {
		p = pair{to, from}
	}
	c := x.find(d, p, payload)
	if c != nil {
		x.at(p, c)
	}
	return c
}

func (x *Demux) find(d lab.Direction, p pair, payload []byte) *Conn {
	if payload[0]&longBit == 0 {
		return x.byShort(d, p, payload[1:])
	}
	h := readLong(payload, len(payload))
	if h.dcid == nil {
		return x.newest(p)
	}
	if c := x.byID(d, p, h.dcid); c != nil {
		return c
	}
	if c := x.byID(other(d), p, h.scid); c != nil && slices.Contains(x.pairs[p], c) {
		return c
	}
	if d == lab.Down {
		return x.newest(p)
	}
	return x.first(p, payload, &h)
}

// first is for a client's datagram with an unknown ID. It begins a connection
// where it proves that it does, or where there is none that it could be a damaged
// packet of.
func (x *Demux) first(p pair, payload []byte, h *header) *Conn {
	c := x.newest(p)
	if c != nil && (c.refused || len(c.origins) == 0 || !begins(payload, h)) {
		return c
	}
	if len(x.Conns) == maxConns {
		return nil
	}
	c = NewConn(x.secrets)
	c.scratch = &x.scratch
	c.inform = func(d lab.Direction, id []byte) { x.learn(d, id, c) }
	x.Conns = append(x.Conns, c)
	x.learn(lab.Up, h.dcid, c)
	x.learn(lab.Down, h.scid, c)
	return c
}

// begins says whether an Initial authenticates with keys from its own DCID.
func begins(payload []byte, h *header) bool {
	if h.kind != Initial || h.problem != "" {
		return false
	}
	k := initialKeys(h.version, h.dcid)[lab.Up]
	u, ok := k.unmask(payload[:h.size], h.number)
	if !ok {
		return false
	}
	var o opener
	s := newSpace()
	_, _, ok = o.try(k, &s, payload[:h.size], h.number, u)
	return ok
}

// byID prefers a connection of the same addresses: short IDs may be those of
// several connections.
func (x *Demux) byID(d lab.Direction, p pair, id []byte) *Conn {
	if len(id) == 0 {
		return nil
	}
	for _, c := range slices.Backward(x.pairs[p]) {
		if c.ids[d].known[string(id)] {
			return c
		}
	}
	return x.ids[d][string(id)]
}

// byShort finds the ID at the front of b, whose length is not told.
func (x *Demux) byShort(d lab.Direction, p pair, b []byte) *Conn {
	conns := x.pairs[p]
	for _, c := range slices.Backward(conns) {
		if id, known := c.ids[d].find(b); known && (len(id) > 0 || len(conns) == 1) {
			return c
		}
	}
	for n := min(20, len(b)); n > 0; n-- {
		if x.lengths[d]>>n&1 == 0 {
			continue
		}
		if c := x.ids[d][string(b[:n])]; c != nil {
			return c
		}
	}
	return x.newest(p)
}

func (x *Demux) newest(p pair) *Conn {
	conns := x.pairs[p]
	if len(conns) == 0 {
		return nil
	}
	return conns[len(conns)-1]
}

// at notes that a connection has datagrams of a pair of addresses.
func (x *Demux) at(p pair, c *Conn) {
	conns := x.pairs[p]
	if slices.Contains(conns, c) {
		return
	}
	if len(conns) == maxPerPair {
		conns = slices.Delete(conns, 0, 1)
	}
	if len(conns) > 0 || len(x.pairs) < 4*maxConns {
		x.pairs[p] = append(conns, c)
	}
}

func (x *Demux) learn(d lab.Direction, id []byte, c *Conn) {
	if len(id) == 0 || len(id) > 20 || len(x.ids[d]) >= maxAllIDs {
		return
	}
	x.ids[d][string(id)] = c
	x.lengths[d] |= 1 << len(id)
}
