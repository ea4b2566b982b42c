package wire

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/tls"
)

// seg is a segment of a hand-made TCP connection. Offsets count from the SYN.
type seg struct {
	way       lab.Direction
	at, left  int // ms; left < 0: lost
	flags     byte
	seq, size int
	ack       int
}

const lost = -1

var (
	client4 = netip.MustParseAddrPort("10.0.0.1:40000")
	server4 = netip.MustParseAddrPort("10.0.0.2:443")
)

// isns are the sequence numbers of the SYNs: the client's wraps soon.
var isns = [2]uint32{0xfffffff0, 1000}

// packet makes the bytes of a segment.
func (s seg) packet() []byte {
	from, to := client4, server4
	if s.way == lab.Down {
		from, to = server4, client4
	}
	options := []byte{1, 1, 1, 1}
	if s.flags&ip.SYN != 0 {
		options = []byte{2, 4, 5, 180} // MSS 1460
	}
	header := 20 + len(options)
	p := make([]byte, 20+header+s.size)
	p[0], p[9] = 0x45, ip.ProtoTCP
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	copy(p[12:], from.Addr().AsSlice())
	copy(p[16:], to.Addr().AsSlice())
	h := p[20:]
	binary.BigEndian.PutUint16(h, from.Port())
	binary.BigEndian.PutUint16(h[2:], to.Port())
	binary.BigEndian.PutUint32(h[4:], isns[s.way]+uint32(s.seq))
	if s.ack > 0 {
		binary.BigEndian.PutUint32(h[8:], isns[1-s.way]+uint32(s.ack))
		s.flags |= ip.ACK
	}
	h[12], h[13] = byte(header/4)<<4, s.flags
	binary.BigEndian.PutUint16(h[14:], 65535)
	copy(h[20:], options)
	return p
}

func capture(segs []seg) *Capture {
	c := &Capture{End: time.Hour}
	for i, s := range segs {
		data := s.packet()
		p := Packet{
			N: i + 1, Way: s.way, At: time.Duration(s.at) * time.Millisecond, Left: Never, Size: len(data), Data: data,
		}
		if s.left >= 0 {
			p.Left = time.Duration(s.left) * time.Millisecond
		} else {
			p.Fate.Drop = lab.DropLoss
		}
		c.Packets = append(c.Packets, p)
	}
	return c
}

// said is a message of the hand-made connection: bytes [begin, end) of a
// direction.
type said struct {
	way        lab.Direction
	kind       MessageKind
	begin, end int64
	early      bool
}

// spoken reads segments, and gives the connection the messages that its bytes
// would have had.
func spoken(segs []seg, version string, list []said) *Reading {
	r := Read(capture(segs))
	c := r.Connections[0]
	c.Decrypted, c.Hello = true, &tls.Hello{Version: version, ALPN: "h2"}
	c.units = [2][]unit{}
	for _, s := range list {
		c.units[s.way] = append(c.units[s.way], unit{
			kind: s.kind, on: c.stream[s.way], begin: s.begin, end: s.end, early: s.early, request: 1,
		})
	}
	return r
}

// The messages of connections of one request: a ClientHello of 200 bytes (in the
// retry 200 more), a server's flight of 3000, client's Finished of 60, a request
// of 100.
var (
	tls13 = []said{
		{lab.Up, ClientHello, 1, 201, false}, {lab.Down, ServerHello, 1, 101, false}, {lab.Down, Finished, 2900, 3001, false},
		{lab.Up, Finished, 201, 261, false}, {lab.Up, RequestStart, 261, 262, false}, {lab.Up, RequestEnd, 261, 361, false},
		{lab.Down, ResponseStart, 3001, 3002, false},
	}
	retry13 = []said{
		{lab.Up, ClientHello, 1, 201, false}, {lab.Down, HelloRetryRequest, 1, 101, false}, {lab.Up, ClientHello, 201, 401, false},
		{lab.Down, ServerHello, 101, 201, false}, {lab.Down, Finished, 2900, 3001, false},
		{lab.Up, Finished, 401, 461, false}, {lab.Up, RequestStart, 461, 462, false}, {lab.Up, RequestEnd, 461, 561, false},
		{lab.Down, ResponseStart, 3001, 3002, false},
	}
	tls12 = []said{
		{lab.Up, ClientHello, 1, 201, false}, {lab.Down, ServerHello, 1, 101, false}, {lab.Down, ServerHelloDone, 2900, 3001, false},
		{lab.Up, ClientKeyExchange, 201, 231, false}, {lab.Up, Finished, 231, 261, false}, {lab.Down, Finished, 3001, 3061, false},
		{lab.Up, RequestStart, 261, 262, false}, {lab.Up, RequestEnd, 261, 361, false}, {lab.Down, ResponseStart, 3061, 3062, false},
	}
	resumed12 = []said{
		{lab.Up, ClientHello, 1, 201, false}, {lab.Down, ServerHello, 1, 101, false}, {lab.Down, Finished, 101, 161, false},
		{lab.Up, Finished, 201, 261, false}, {lab.Up, RequestStart, 261, 262, false}, {lab.Up, RequestEnd, 261, 361, false},
		{lab.Down, ResponseStart, 161, 162, false},
	}
)

const syn, fin = ip.SYN, ip.FIN

func TestRoundTripsOfTCP(t *testing.T) {
	const up, down = lab.Up, lab.Down
	none := -1.0
	for _, c := range []struct {
		name            string
		version         string
		said            []said
		segs            []seg
		trips, security float64
	}{
		{"TLS 1.3", "1.3", tls13, []seg{
			{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1},
			{down, 150, 200, 0, 1, 1460, 201}, {down, 150, 201, 0, 1461, 1460, 201}, {down, 150, 202, 0, 2921, 80, 201},
			{up, 202, 252, 0, 201, 160, 3001}, {down, 252, 302, 0, 3001, 500, 361},
		}, 3, 2},
		{"no delay at all", "1.3", tls13, []seg{
			{up, 0, 0, syn, 0, 0, 0}, {down, 0, 0, syn, 0, 0, 1}, {up, 0, 0, 0, 1, 0, 1}, {up, 0, 0, 0, 1, 200, 1},
			{down, 0, 0, 0, 1, 0, 201}, {down, 0, 0, 0, 1, 1460, 201}, {up, 0, 0, 0, 201, 0, 1461},
			{down, 0, 0, 0, 1461, 1540, 201}, {up, 0, 0, 0, 201, 0, 3001}, {up, 0, 0, 0, 201, 160, 3001},
			{down, 0, 0, 0, 3001, 0, 361}, {down, 0, 0, 0, 3001, 500, 361},
		}, 3, 2},
		{"a slow server: acknowledgements long before their effects", "1.3", tls13, []seg{
			{up, 0, 1, syn, 0, 0, 0}, {down, 1, 2, syn, 0, 0, 1}, {up, 2, 3, 0, 1, 200, 1}, {down, 3, 4, 0, 1, 0, 201},
			{down, 900, 901, 0, 1, 1460, 201}, {up, 901, 902, 0, 201, 0, 1461}, {down, 1800, 1801, 0, 1461, 1540, 201},
			{up, 1801, 1802, 0, 201, 0, 3001}, {up, 2500, 2501, 0, 201, 160, 3001}, {down, 2501, 2502, 0, 3001, 0, 361},
			{down, 4000, 4001, 0, 3001, 500, 361},
		}, 3, 2},
		{"a SYN, a SYN-ACK and a ClientHello lost", "1.3", tls13, []seg{
			{up, 0, lost, syn, 0, 0, 0}, {up, 1000, 1050, syn, 0, 0, 0}, {down, 1050, lost, syn, 0, 0, 1},
			{up, 3000, 3050, syn, 0, 0, 0}, {down, 3050, 3100, syn, 0, 0, 1}, {up, 3100, lost, 0, 1, 200, 1}, {up, 3400, 3450, 0, 1, 200, 1},
			{down, 3450, 3500, 0, 1, 1460, 201}, {down, 3450, 3500, 0, 1461, 1540, 201},
			{up, 3500, 3550, 0, 201, 160, 3001}, {down, 3550, 3600, 0, 3001, 500, 361},
		}, 3, 2},
		{"the flight's middle, the request and the response lost", "1.3", tls13, []seg{
			{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1},
			{down, 150, 200, 0, 1, 1460, 201}, {down, 150, lost, 0, 1461, 1460, 201}, {down, 150, 202, 0, 2921, 80, 201},
			{up, 202, 252, 0, 201, 0, 1461}, {down, 400, 450, 0, 1461, 1460, 201},
			{up, 450, lost, 0, 201, 160, 3001}, {up, 800, 850, 0, 201, 160, 3001},
			{down, 850, lost, 0, 3001, 500, 361}, {down, 1200, 1250, 0, 3001, 500, 361},
		}, 3, 2},
		{"the flight arrives in another order", "1.3", tls13, []seg{
			{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1},
			{down, 150, 240, 0, 1, 1460, 201}, {down, 150, 230, 0, 1461, 1460, 201}, {down, 150, 202, 0, 2921, 80, 201},
			{up, 202, 252, 0, 201, 0, 1}, {up, 240, 290, 0, 201, 160, 3001}, {down, 290, 340, 0, 3001, 500, 361},
		}, 3, 2},
		{"a request before the Finished came contradicts itself", "1.3", tls13, []seg{
			{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1},
			{down, 150, 200, 0, 1, 3000, 201}, {up, 150, 190, 0, 201, 160, 3001}, {down, 252, 302, 0, 3001, 500, 361},
		}, none, 2},
		{"HelloRetryRequest", "1.3", retry13, []seg{
			{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1}, {down, 150, 200, 0, 1, 100, 201},
			{up, 200, 250, 0, 201, 200, 101}, {down, 250, 300, 0, 101, 2900, 401},
			{up, 300, 350, 0, 401, 160, 3001}, {down, 350, 400, 0, 3001, 500, 561},
		}, 4, 3},
		{"TLS 1.2", "1.2", tls12, []seg{
			{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1}, {down, 150, 200, 0, 1, 3000, 201},
			{up, 200, 250, 0, 201, 60, 3001}, {down, 250, 300, 0, 3001, 60, 261},
			{up, 300, 350, 0, 261, 100, 3061}, {down, 350, 400, 0, 3061, 500, 361},
		}, 4, 3},
		{"TLS 1.2 with false start", "1.2", tls12, []seg{
			{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1}, {down, 150, 200, 0, 1, 3000, 201},
			{up, 200, 250, 0, 201, 60, 3001}, {up, 200, 250, 0, 261, 100, 3001}, {down, 250, 300, 0, 3001, 60, 261},
			{down, 250, 300, 0, 3061, 500, 361},
		}, 3, 3},
		{"TLS 1.2, resumed", "1.2", resumed12, []seg{
			{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1}, {down, 150, 200, 0, 1, 160, 201},
			{up, 200, 250, 0, 201, 160, 161}, {down, 250, 300, 0, 161, 500, 361},
		}, 3, 2},
		{"the log ends before the response", "1.3", tls13, []seg{
			{up, 0, 50, syn, 0, 0, 0}, {down, 50, 100, syn, 0, 0, 1}, {up, 100, 150, 0, 1, 200, 1}, {down, 150, 200, 0, 1, 3000, 201},
			{up, 202, 252, 0, 201, 160, 3001}, {down, 252, lost, 0, 3001, 500, 361},
		}, none, none},
		{"the opening was not kept", "1.3", tls13, []seg{
			{up, 100, 150, 0, 1, 200, 1}, {down, 150, 200, 0, 1, 3000, 201},
			{up, 200, 250, 0, 201, 160, 3001}, {down, 250, 300, 0, 3001, 500, 361},
		}, none, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := spoken(c.segs, c.version, c.said)
			var f lab.Wire
			r.roundTrips(About{}, &f)
			check(t, f, c.trips, c.security)
		})
	}
}

func check(t *testing.T, f lab.Wire, trips, security float64) {
	t.Helper()
	value := func(v *float64) float64 {
		if v == nil {
			return -1
		}
		return *v
	}
	if value(f.RoundTrips) != trips || value(f.HandshakeRoundTrips) != security {
		t.Errorf("round trips %v, to the handshake's end %v; want %v and %v (-1: none)%s",
			value(f.RoundTrips), value(f.HandshakeRoundTrips), trips, security, chainText(f))
	}
}

func chainText(f lab.Wire) string {
	var b strings.Builder
	for _, c := range f.Causes {
		b.WriteString("\n\t" + c.Direction + "\t" + c.What + "\t" + c.Why)
	}
	return b.String()
}

// putSegment sets a segment's numbers, and its size in the IP header.
func putSegment(p []byte, seq, ack uint32, size int) {
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)+size))
	binary.BigEndian.PutUint32(p[24:], seq)
	binary.BigEndian.PutUint32(p[28:], ack)
}
