package wire

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/http"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
	"github.com/samewire/samewire/internal/wire/tls"
)

// dgram is a datagram of a hand-made QUIC connection, with its packets.
type dgram struct {
	way      lab.Direction
	at, left int // ms; left < 0: lost
	size     int
	packets  []quic.Packet
}

// pk makes an opened packet. Numbers count up by themselves.
func pk(kind quic.Kind, frames ...quic.Frame) quic.Packet {
	return quic.Packet{Kind: kind, Version: quic.Version1, Opened: true, Frames: frames}
}

func crypto(begin, end int) quic.Frame {
	return quic.Frame{Kind: quic.Crypto, Offset: uint64(begin), Length: end - begin}
}

func acks(largest int) quic.Frame {
	return quic.Frame{Kind: quic.Ack, Ranges: []quic.Range{{Largest: uint64(largest)}}}
}

func request(begin, end int) quic.Frame {
	return quic.Frame{Kind: quic.Stream, Offset: uint64(begin), Length: end - begin, Fin: true}
}

// response is the first bytes of a response: a HEADERS frame of HTTP/3.
func response() quic.Frame {
	return quic.Frame{Kind: quic.Stream, Length: 10, Data: []byte{1, 8, 0, 0, 0, 0, 0, 0, 0, 0}}
}

// flying makes the reading of a QUIC connection. The messages of each level are
// told with the packet that sends their last byte first: a ClientHello of hello
// bytes, a ServerHello of 100 and a server's flight of flight bytes.
type flying struct{ hello, flight int }

func (l flying) read(list []dgram) *Reading {
	r := &Reading{Capture: &Capture{}, Events: make([]Event, len(list))}
	q := newQUICReader(r, nil)
	c := &quicConn{r: r, conn: quic.NewConn(nil), retry: -1, refused: -1, streams: map[uint64]*quicStream{}, h3: http.NewH3()}
	c.Connection = &Connection{Transport: "quic", quic: c, Client: client4, Server: server4}
	for n := range c.crypto {
		c.crypto[n] = [2]*spans{{}, {}}
	}
	r.Connections, q.order = []*Connection{c.Connection}, []*quicConn{c}
	var numbers [2][3]uint64
	told := map[tls.Kind]bool{}
	for i, g := range list {
		p := &Packet{N: i + 1, Way: g.way, At: time.Duration(g.at) * time.Millisecond, Left: Never, Size: g.size + 28, Data: make([]byte, g.size+28)}
		if g.left >= 0 {
			p.Left = time.Duration(g.left) * time.Millisecond
		}
		r.Events[i] = Event{Packet: p, QUIC: slices.Clone(g.packets), IP: ip.Packet{Proto: ip.ProtoUDP, Size: g.size, Source: client4, Dest: server4}}
		c.Events = append(c.Events, i)
		for k := range r.Events[i].QUIC {
			p := &r.Events[i].QUIC[k]
			p.Frames = slices.Clone(p.Frames) // whose Data the reading forgets
			space := levelOf(p.Kind)
			p.Number, p.Size = numbers[g.way][space], g.size/len(g.packets)
			numbers[g.way][space]++
			if p.Kind == quic.VersionNegotiation {
				clear(told) // another ClientHello follows
			}
			l.tell(g.way, p, told)
			c.packet(i, p)
		}
	}
	q.finish()
	c.Decrypted, c.Hello = true, &tls.Hello{Version: "1.3", ALPN: "h3"}
	return r
}

func (l flying) tell(d lab.Direction, p *quic.Packet, told map[tls.Kind]bool) {
	for _, f := range p.Frames {
		end := int64(f.Offset) + int64(f.Length)
		m := tls.Message{Way: d, End: end}
		switch level := levelOf(p.Kind); {
		case f.Kind != quic.Crypto:
			continue
		case d == lab.Up && level == tls.LevelInitial && end == int64(l.hello):
			m.Kind = tls.ClientHello
		case d == lab.Down && level == tls.LevelInitial && end == 100:
			m.Kind = tls.ServerHello
		case d == lab.Down && level == tls.LevelHandshake && end == int64(l.flight):
			m.Kind, m.Begin = tls.Finished, end-50
		default:
			continue
		}
		if !told[m.Kind] {
			told[m.Kind] = true
			p.Messages = append(p.Messages, m)
		}
	}
}

// get is a request: a HEADERS frame and the stream's end.
func get() quic.Frame {
	f := request(0, 10)
	f.Data = []byte{1, 8, 0, 0, 0, 0, 0, 0, 0, 0}
	return f
}

func TestRoundTripsOfQUIC(t *testing.T) {
	const up, down = lab.Up, lab.Down
	initial, handshake, data := quic.Initial, quic.Handshake, quic.OneRTT
	token := func(p quic.Packet) quic.Packet { p.Token = 40; return p }
	version := func(p quic.Packet, v uint32) quic.Packet { p.Version = v; return p }
	ps := func(list ...quic.Packet) []quic.Packet { return list }
	hello, sh := pk(initial, crypto(0, 300)), pk(initial, acks(0), crypto(0, 100))
	ask := ps(pk(handshake, acks(0), crypto(0, 50)), pk(data, get()))
	answer := ps(pk(data, response()))
	for _, c := range []struct {
		name            string
		of              flying
		list            []dgram
		trips, security float64
		blocked         bool
		ratio           float64
	}{
		{"a flight within the limit", flying{300, 2000}, []dgram{
			{up, 0, 50, 1200, ps(hello)},
			{down, 50, 100, 1200, ps(sh, pk(handshake, crypto(0, 1000)))}, {down, 50, 100, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{up, 100, 150, 1200, ask}, {down, 150, 200, 100, answer},
		}, 2, 1, false, 2},
		{"no delay, and its ServerHello lost", flying{300, 2000}, []dgram{
			{up, 0, 0, 1200, ps(hello)},
			{down, 0, lost, 1200, ps(sh, pk(handshake, crypto(0, 1000)))}, {down, 0, 0, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{down, 0, 0, 1200, ps(sh, pk(handshake, crypto(0, 1000)))},
			{up, 0, 0, 1200, ask}, {down, 0, 0, 100, answer},
		}, 2, 1, false, 3},
		{"a flight beyond the limit", flying{300, 4000}, []dgram{
			{up, 0, 50, 1200, ps(hello)},
			{down, 50, 100, 1200, ps(sh, pk(handshake, crypto(0, 1000)))}, {down, 50, 100, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{down, 50, 100, 1200, ps(pk(handshake, crypto(2000, 3000)))},
			{up, 100, 150, 1200, ps(pk(initial, acks(0)), pk(handshake, acks(2)))},
			{down, 150, 200, 1200, ps(pk(handshake, crypto(3000, 4000)))},
			{up, 200, 250, 1200, ask}, {down, 250, 300, 100, answer},
		}, 3, 2, true, 3},
		{"the same without delay, and with the part that was needed first lost", flying{300, 4000}, []dgram{
			{up, 0, 0, 1200, ps(hello)},
			{down, 0, 0, 1200, ps(sh, pk(handshake, crypto(0, 1000)))}, {down, 0, lost, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{down, 0, 0, 1200, ps(pk(handshake, crypto(2000, 3000)))},
			{up, 0, 0, 1200, ps(pk(initial, acks(0)), pk(handshake, acks(2)))},
			{down, 0, 0, 1200, ps(pk(handshake, crypto(3000, 4000)))}, {down, 0, 0, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{up, 0, 0, 1200, ask}, {down, 0, 0, 100, answer},
		}, 3, 2, true, 3},
		{"a client's timeout lifts the limit", flying{300, 4000}, []dgram{
			{up, 0, 500, 1200, ps(hello)}, {up, 200, 700, 1200, ps(hello)},
			{down, 500, 1000, 1200, ps(sh, pk(handshake, crypto(0, 1000)))}, {down, 500, 1000, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{down, 500, 1000, 1200, ps(pk(handshake, crypto(2000, 3000)))},
			{down, 700, 1200, 1200, ps(pk(handshake, crypto(3000, 4000)))},
			{up, 1200, 1700, 1200, ask}, {down, 1700, 2200, 100, answer},
		}, 2, 1, true, 3},
		{"a ClientHello in two datagrams, the second lost", flying{1500, 2000}, []dgram{
			{up, 0, 50, 1200, ps(pk(initial, crypto(0, 1000)))}, {up, 0, lost, 1200, ps(pk(initial, crypto(1000, 1500)))},
			{down, 50, 100, 1200, ps(pk(initial, acks(0)))}, {up, 200, 250, 1200, ps(pk(initial, acks(0), crypto(1000, 1500)))},
			{down, 250, 300, 1200, ps(sh, pk(handshake, crypto(0, 1000)))}, {down, 250, 300, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{up, 300, 350, 1200, ask}, {down, 350, 400, 100, answer},
		}, 2, 1, false, 1.5},
		{"Retry", flying{300, 2000}, []dgram{
			{up, 0, 50, 1200, ps(hello)}, {down, 50, 100, 100, ps(quic.Packet{Kind: quic.Retry, Token: 40})},
			{up, 100, 150, 1200, ps(token(hello))},
			{down, 150, 200, 1200, ps(sh, pk(handshake, crypto(0, 1000)))}, {down, 150, 200, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{up, 200, 250, 1200, ask}, {down, 250, 300, 100, answer},
		}, 3, 2, false, 100.0 / 1200},
		{"Retry, and another for an Initial that was sent again", flying{300, 2000}, []dgram{
			{up, 0, 150, 1200, ps(hello)}, {down, 150, 300, 100, ps(quic.Packet{Kind: quic.Retry, Token: 40})},
			{up, 200, 350, 1200, ps(hello)}, {up, 300, 450, 1200, ps(token(hello))},
			{down, 350, 500, 100, ps(quic.Packet{Kind: quic.Retry, Token: 40})},
			{down, 450, 600, 1200, ps(sh, pk(handshake, crypto(0, 1000)))}, {down, 450, 600, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{up, 500, 650, 1200, ps(token(hello))},
			{up, 600, 750, 1200, ask}, {down, 750, 900, 100, answer},
		}, 3, 2, false, 100.0 / 1200},
		{"version negotiation", flying{300, 2000}, []dgram{
			{up, 0, 0, 1200, ps(version(hello, 0xfaceb00c))}, {down, 0, 0, 50, ps(quic.Packet{Kind: quic.VersionNegotiation})},
			{up, 0, 0, 1200, ps(hello)},
			{down, 0, 0, 1200, ps(sh, pk(handshake, crypto(0, 1000)))}, {down, 0, 0, 1200, ps(pk(handshake, crypto(1000, 2000)))},
			{up, 0, 0, 1200, ask}, {down, 0, 0, 100, answer},
		}, 3, 2, false, 2450.0 / 2400},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.of.read(c.list)
			var f lab.Wire
			r.roundTrips(About{}, &f)
			check(t, f, c.trips, c.security)
			q := r.quicFacts(r.Connections[0])
			if q.Blocked != c.blocked || q.Amplification == nil || *q.Amplification != c.ratio {
				t.Errorf("blocked %v, amplification %v; want %v and %v", q.Blocked, q.Amplification, c.blocked, c.ratio)
			}
		})
	}
}

// A datagram that gave the server credit, and was sent for nothing that it had sent,
// is called what it is where it can be read.
func TestProbeThatLiftsTheLimit(t *testing.T) {
	const up, down = lab.Up, lab.Down
	for opened, want := range map[bool]string{true: "probe, which", false: "datagram of the client"} {
		probe := pk(quic.Initial, quic.Frame{Kind: quic.Ping})
		probe.Opened = opened
		r := flying{300, 4000}.read([]dgram{
			{up, 0, 5, 1200, []quic.Packet{pk(quic.Initial, crypto(0, 300))}},
			{down, 5, 10, 1200, []quic.Packet{pk(quic.Initial, acks(0), crypto(0, 100)), pk(quic.Handshake, crypto(0, 1000))}},
			{down, 5, 10, 2400, []quic.Packet{pk(quic.Handshake, crypto(1000, 3000))}},
			{up, 6, 11, 1200, []quic.Packet{probe}},
			{down, 11, 16, 1200, []quic.Packet{pk(quic.Handshake, crypto(3000, 4000))}},
			{up, 16, 21, 1200, []quic.Packet{pk(quic.Handshake, acks(0), crypto(0, 50)), pk(quic.OneRTT, get())}},
			{down, 21, 26, 100, []quic.Packet{pk(quic.OneRTT, response())}},
		})
		var f lab.Wire
		r.roundTrips(About{}, &f)
		check(t, f, 2, 1)
		if len(f.Causes) == 0 || f.Causes[0].Packet != 4 || !strings.HasPrefix(f.Causes[0].What, want) {
			t.Errorf("opened %v: causes %+v", opened, f.Causes)
		}
	}
}

func TestRoundTripsOfEarlyData(t *testing.T) {
	const up, down = lab.Up, lab.Down
	yes, no := true, false
	early := func(again ...quic.Frame) []dgram {
		return []dgram{
			{up, 0, 50, 1200, []quic.Packet{pk(quic.Initial, crypto(0, 300)), pk(quic.ZeroRTT, get())}},
			{down, 50, 100, 1200, []quic.Packet{
				pk(quic.Initial, acks(0), crypto(0, 100)), pk(quic.Handshake, crypto(0, 200)), pk(quic.OneRTT, response()),
			}},
			{up, 100, 150, 1200, []quic.Packet{pk(quic.Handshake, acks(0), crypto(0, 50)), pk(quic.OneRTT, again...)}},
		}
	}
	for _, c := range []struct {
		name            string
		accepted        *bool
		trips, security float64
	}{{"accepted", &yes, 1, 1}, {"not known", nil, -1, 1}, {"rejected", &no, -1, 1}} {
		r := flying{300, 200}.read(early(quic.Frame{Kind: quic.Ping}))
		r.Connections[0].Hello.EarlyAccepted = c.accepted
		var f lab.Wire
		r.roundTrips(About{}, &f)
		check(t, f, c.trips, c.security)
	}
}
