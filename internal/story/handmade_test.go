package story

import (
	"net/netip"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// maker makes readings by hand, on a path of 20 ms each way.
type maker struct {
	r wire.Reading
}

var zeros [1500]byte

const oneWay = 20 * time.Millisecond

var (
	client = netip.MustParseAddrPort("198.18.0.1:40000")
	server = netip.MustParseAddrPort("198.18.0.2:443")
)

func newMaker(name string) *maker {
	return &maker{wire.Reading{Capture: &wire.Capture{Name: name}}}
}

func ms(v float64) time.Duration { return time.Duration(v * 1e6) }

func (m *maker) connection(transport string) *wire.Connection {
	c := &wire.Connection{Transport: transport, Client: client, Server: server, Decrypted: true}
	m.r.Connections = append(m.r.Connections, c)
	return c
}

// add adds a packet of the newest connection, and gives its event.
func (m *maker) add(d lab.Direction, at float64, size int, change func(e *wire.Event)) *wire.Event {
	n := len(m.r.Capture.Packets)
	p := wire.Packet{N: n + 1, Way: d, At: ms(at), Left: ms(at) + oneWay, Size: size, Data: zeros[:size]}
	m.r.Capture.Packets = append(m.r.Capture.Packets, p)
	e := wire.Event{Conn: len(m.r.Connections) - 1, AckOffset: -1}
	e.IP = ip.Packet{Version: 4, Proto: ip.ProtoTCP, TCP: ip.TCP{Flags: ip.ACK, Window: 500}}
	e.Packet = &p
	change(&e)
	m.r.Capture.Packets[n] = *e.Packet
	m.r.Events = append(m.r.Events, e)
	if e.Conn >= 0 {
		c := m.r.Connections[e.Conn]
		c.Events = append(c.Events, n)
		if size := e.IP.Size; size > 0 {
			sent := wire.Sent{Event: n, Bytes: size, New: e.New, Again: e.Again, Acked: e.Left + oneWay}
			if !e.Delivered() {
				sent.Acked = wire.Never
			}
			c.Sent[d] = append(c.Sent[d], sent)
		}
	}
	return &m.r.Events[n]
}

// reading points the events to the capture's packets.
func (m *maker) reading(end float64) *wire.Reading {
	for i := range m.r.Events {
		m.r.Events[i].Packet = &m.r.Capture.Packets[i]
	}
	m.r.Capture.End = ms(end)
	return &m.r
}

func drop(reason lab.Reason) func(*wire.Event) {
	return func(e *wire.Event) { e.Fate.Drop, e.Left = reason, wire.Never }
}

func also(all ...func(*wire.Event)) func(*wire.Event) {
	return func(e *wire.Event) {
		for _, f := range all {
			f(e)
		}
	}
}

func tcp(flags byte) func(*wire.Event) {
	return func(e *wire.Event) { e.IP.TCP.Flags = flags }
}

func data(offset int64, n int) func(*wire.Event) {
	return func(e *wire.Event) { e.Offset, e.IP.Size, e.New = offset, n, n }
}

func ack(offset int64) func(*wire.Event) { return func(e *wire.Event) { e.AckOffset = offset } }

func carries(kinds ...wire.MessageKind) func(*wire.Event) {
	return func(e *wire.Event) {
		for _, k := range kinds {
			e.Messages = append(e.Messages, wire.Message{Kind: k})
		}
	}
}

func datagram(list ...quic.Packet) func(*wire.Event) {
	return func(e *wire.Event) { e.IP.Proto, e.QUIC, e.IP.Size = ip.ProtoUDP, list, e.Size-28 }
}

func opened(kind quic.Kind, number uint64, frames ...quic.Frame) quic.Packet {
	return quic.Packet{Kind: kind, Version: 1, Opened: true, Number: number, Frames: frames, Size: 100, DCID: []byte{1, 2}, SCID: []byte{3}}
}

func acks(ranges ...quic.Range) quic.Frame { return quic.Frame{Kind: quic.Ack, Ranges: ranges} }

// overTCP is an object of a few dozen segments, one of them lost.
func overTCP() *wire.Reading {
	m := newMaker("wired, big, h2, virtual")
	m.connection("tcp")
	m.add(lab.Up, 0, 60, func(e *wire.Event) { tcp(ip.SYN)(e); e.IP.TCP.MSS = 1460 })
	m.add(lab.Down, 20, 60, func(e *wire.Event) { tcp(ip.SYN | ip.ACK)(e); e.IP.TCP.MSS = 1460 })
	m.add(lab.Up, 40, 52, ack(1))
	m.add(lab.Up, 40.1, 569, also(data(1, 517), ack(1), carries(wire.ClientHello)))
	m.add(lab.Down, 60.2, 1500, also(data(1, 1448), ack(518), carries(wire.ServerHello)))
	m.add(lab.Down, 60.2, 152, also(data(1449, 100), ack(518), carries(wire.Certificate, wire.Finished)))
	m.add(lab.Up, 80.3, 200, also(data(518, 148), ack(1549), carries(wire.Finished, wire.RequestStart, wire.RequestEnd)))
	m.add(lab.Down, 100.4, 1500, also(data(1549, 1448), ack(666), carries(wire.ResponseStart)))
	at, offset := 100.5, int64(2997)
	for i := range 40 {
		change := data(offset, 1448)
		if i == 20 {
			change = also(change, drop(lab.DropLoss))
		}
		m.add(lab.Down, at, 1500, change)
		if i%2 == 1 {
			m.add(lab.Up, at+0.01, 52, ack(offset))
		}
		at, offset = at+0.12, offset+1448
	}
	m.add(lab.Up, 140, 64, func(e *wire.Event) {
		e.AckOffset = 31957
		e.IP.TCP.Ack, e.IP.TCP.SACKs = 31957, 1
		e.IP.TCP.SACK[0] = ip.Block{Left: 33405, Right: 60917}
	})
	m.add(lab.Down, 160.2, 1500, func(e *wire.Event) { data(31957, 1448)(e); e.New, e.Again = 0, 1448 })
	m.add(lab.Down, 420, 1500, also(data(60917, 1448), carries(wire.ResponseEnd)))
	m.add(lab.Up, 440.5, 52, also(ack(62365), tcp(ip.FIN|ip.ACK)))
	return m.reading(440.2)
}

const hostile = "bye\x1b[2J\x07\u202e \u009b31m\xff\\ <&\"]]>"

// overQUIC stalls: the server falls silent with data in flight.
func overQUIC() *wire.Reading {
	m := newMaker("edge, small, h3, kernel " + hostile)
	m.connection("quic")
	m.add(lab.Up, 0, 1228, also(datagram(opened(quic.Initial, 0, quic.Frame{Kind: quic.Crypto, Length: 300}, quic.Frame{Kind: quic.Padding, Length: 850})), carries(wire.ClientHello)))
	m.add(lab.Down, 20, 1228, also(datagram(
		opened(quic.Initial, 0, acks(quic.Range{}), quic.Frame{Kind: quic.Crypto, Length: 90}),
		opened(quic.Handshake, 0, quic.Frame{Kind: quic.Crypto, Length: 1000})), carries(wire.ServerHello, wire.Certificate)))
	m.add(lab.Down, 20.1, 300, also(datagram(opened(quic.Handshake, 1, quic.Frame{Kind: quic.Crypto, Offset: 1000, Length: 180})), carries(wire.Finished)))
	m.add(lab.Up, 40.2, 200, also(datagram(opened(quic.Handshake, 0, acks(quic.Range{Largest: 1}), quic.Frame{Kind: quic.Crypto, Length: 36}),
		opened(quic.OneRTT, 0, quic.Frame{Kind: quic.Stream, Length: 60, Fin: true})), carries(wire.Finished, wire.RequestStart, wire.RequestEnd)))
	m.add(lab.Down, 60.4, 1280, also(datagram(opened(quic.OneRTT, 0, quic.Frame{Kind: quic.HandshakeDone}, acks(quic.Range{}),
		quic.Frame{Kind: quic.Stream, Length: 1200})), carries(wire.ResponseStart)))
	for i := range 12 {
		m.add(lab.Down, 60.5+float64(i)/10, 1280, also(datagram(opened(quic.OneRTT, uint64(i+1),
			quic.Frame{Kind: quic.Stream, Offset: uint64(1200 * (i + 1)), Length: 1200})), drop(lab.DropRule)))
	}
	m.add(lab.Up, 80.5, 60, datagram(opened(quic.OneRTT, 1, acks(quic.Range{Smallest: 9, Largest: 12}, quic.Range{}))))
	m.add(lab.Up, 108000, 90, datagram(opened(quic.OneRTT, 2, quic.Frame{Kind: quic.ConnectionClose, Error: 0x10c, App: true, Reason: hostile})))
	return m.reading(108000)
}

// sealed has nothing that could be opened, warm connections, and a hole.
func sealed() *wire.Reading {
	m := newMaker("lte, cold, h1, kernel")
	m.connection("tcp")
	m.add(lab.Up, 0, 60, tcp(ip.SYN))
	m.add(lab.Down, 20, 60, tcp(ip.SYN|ip.ACK))
	m.connection("quic")
	m.add(lab.Up, 500, 1228, datagram(quic.Packet{Kind: quic.Unknown, Size: 1200, Problem: "a version that is not known"}))
	m.add(lab.Down, 520, 100, datagram(quic.Packet{Kind: quic.Retry, Version: 1, Token: 60}))
	m.add(lab.Down, 521, 40, func(e *wire.Event) { e.Conn, e.IP, e.Problem = -1, ip.Packet{}, "not IP" })
	r := m.reading(600)
	r.Capture.Start, r.Capture.Skipped, r.Capture.Gap = ms(500), 7, 2
	for _, c := range r.Connections {
		c.Decrypted = false
	}
	return r
}
