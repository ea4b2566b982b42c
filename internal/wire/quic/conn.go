package quic

import (
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
	"github.com/samewire/samewire/internal/wire/tls"
)

// The versions that can be read.
const (
	Version1 uint32 = 0x00000001
	Version2 uint32 = 0x6b3343cf
)

// Conn reads the packets of one connection. Use NewConn.
type Conn struct {
	secrets *keylog.Log
	*scratch

	tls     tls.Messages
	streams [2][3]stream // CRYPTO, by direction and tls.Level
	hello   []byte       // the CRYPTO data of the client's Initials
	params  [2]*Params
	early   map[uint64]uint64 // highest offset of streams seen in 0-RTT packets

	first    uint32 // the client's first version
	chosen   uint32 // by the packet of the ServerHello; 0: not yet
	origins  []origin
	retried  bool // a Retry was accepted
	refused  bool // a VersionNegotiation was seen, and no Initial of the server yet
	answered bool // an Initial of the server was opened
	learnt   int

	spaces    [2][3]space
	zeroRTT   levelKeys
	handshake [2]levelKeys
	oneRTT    [2]*phases
	missed    [2]int   // how many packets may yet be sought by their numbers; see Missed
	ids       [2]idSet // that datagrams in a direction may be addressed with
	own       [2]int   // length of the ID that the sender in a direction chose, plus 1
	resets    [2]map[[16]byte]bool
	inform    func(d lab.Direction, id []byte) // tells of a new ID; nil: nobody
}

// scratch is memory that the connections of a Demux share.
type scratch struct {
	opener  opener
	frames  frameReader
	chunk   []Packet // handed out up to its length
	packets []Packet // of the datagram being read
}

// levelKeys are the keys of 0-RTT or Handshake packets, for one version.
type levelKeys struct {
	version uint32
	keys    []*keys // candidates; the one that opened a packet is left
}

// NewConn begins a connection. secrets may be nil: then only Initial packets can
// be opened.
func NewConn(secrets *keylog.Log) *Conn {
	c := &Conn{secrets: secrets, scratch: &scratch{}}
	c.restart()
	return c
}

// restart forgets what belongs to an attempt that ended in version negotiation.
func (c *Conn) restart() {
	for d := range c.spaces {
		for i := range c.spaces[d] {
			c.spaces[d][i] = newSpace()
		}
	}
	c.tls, c.streams, c.hello, c.params, c.early = tls.Messages{}, [2][3]stream{}, nil, [2]*Params{}, nil
	c.first, c.chosen, c.origins, c.retried, c.refused, c.answered = 0, 0, nil, false, false, false
	c.zeroRTT, c.handshake, c.oneRTT = levelKeys{}, [2]levelKeys{}, [2]*phases{}
}

// Read reads one UDP payload that went in direction d. The packets and their
// frames stay valid; DCID and SCID point into the payload, and Data is valid
// until the next Read, of any connection of the same Demux.
func (c *Conn) Read(d lab.Direction, payload []byte) []Packet {
	return c.ReadCut(d, payload, len(payload))
}

// ReadCut reads a UDP payload of size bytes of which only the first were kept.
func (c *Conn) ReadCut(d lab.Direction, payload []byte, size int) []Packet {
	size = max(size, len(payload))
	c.packets = c.packets[:0]
	c.opener.begin(len(payload))
	for rest, left := payload, size; len(rest) > 0; {
		c.packets = append(c.packets, Packet{})
		p := &c.packets[len(c.packets)-1]
		c.readPacket(d, rest, left, p)
		c.frameEffects(d, p)
		rest, left = rest[min(p.Size, len(rest)):], left-p.Size
	}
	return c.packetsRead()
}

func (c *Conn) packetsRead() []Packet {
	n := len(c.packets)
	if cap(c.chunk)-len(c.chunk) < n {
		c.chunk = make([]Packet, 0, max(64, n))
	}
	from := len(c.chunk)
	c.chunk = append(c.chunk, c.packets...)
	return c.chunk[from : from+n : from+n]
}

// Missed says that packets before the next one were not kept at all. Numbers of
// packets that the log cut short may be wrong from there on, until one that was
// kept whole opens in their direction: it is found up to 256 times the range of
// its truncated number, and 8 key updates, ahead.
func (c *Conn) Missed() { c.missed = [2]int{seekPackets, seekPackets} }

// Hello is what the TLS handshake said so far. It is never nil.
func (c *Conn) Hello() *tls.Hello { return c.tls.Hello() }

// Keys counts what the connection has learnt to open packets with. It grows when
// a datagram with a packet that Waits is worth reading again.
func (c *Conn) Keys() int { return c.learnt }

// Version is the version in use: the one that the server chose, before that the
// client's first; 0 where none was seen.
func (c *Conn) Version() uint32 {
	if c.chosen != 0 {
		return c.chosen
	}
	return c.first
}

// Params are the transport parameters of the side that sends in direction d; nil
// where they were not seen.
func (c *Conn) Params(d lab.Direction) *Params { return c.params[d] }

// IDLength is the length in bytes of the connection ID that the side that sends
// in direction d chose for itself; -1 where it was not seen.
func (c *Conn) IDLength(d lab.Direction) int { return c.own[d] - 1 }

// KeyUpdates counts the key updates that packets opened in direction d showed.
func (c *Conn) KeyUpdates(d lab.Direction) int {
	if c.oneRTT[d] == nil {
		return 0
	}
	return c.oneRTT[d].updates
}
