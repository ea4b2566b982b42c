package wire

import (
	"errors"
	"net/netip"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// Read reads the packets of a capture and puts them together to connections.
// The reading points into the capture, which must not be changed after that.
//
// Packets come in the order in which their hosts sent them, so that the first
// that carries a byte is the first that was sent with it, whatever became of it.
// A gap means packets that were lost before the link, or that were not kept.
//
// Properties that an edit must keep: the reading depends on the capture alone;
// no number out of a packet decides how much memory is taken; the cost is linear
// in the packets of a sender that sends in order.
func Read(c *Capture) *Reading {
	secrets, _ := keylog.Parse(c.Secrets) // lines that cannot be read have no secrets
	b := &reader{Reading: &Reading{Capture: c, Events: make([]Event, len(c.Packets))}}
	b.tcp, b.calls = map[pair]*tcpConn{}, map[call]*tcpConn{}
	b.quic = newQUICReader(b.Reading, secrets)
	b.secrets = secrets
	for i := range c.Packets {
		b.packet(i)
	}
	for _, conn := range b.tcpConns {
		conn.finish()
	}
	b.quic.finish()
	return b.Reading
}

// reader is a reading in the making.
type reader struct {
	*Reading
	secrets  *keylog.Log
	tcp      map[pair]*tcpConn // the newest of these addresses
	tcpConns []*tcpConn
	calls    map[call]*tcpConn // by the SYN
	quic     *quicReader
}

// pair is the addresses of a connection.
type pair struct{ client, server netip.AddrPort }

func (b *reader) packet(i int) {
	p := &b.Capture.Packets[i]
	e := &b.Events[i]
	*e = Event{Packet: p, Conn: -1, AckOffset: -1}
	b.packets = i + 1
	var err error
	e.IP, err = ip.Parse(p.Data)
	switch {
	case errors.Is(err, ip.ErrFragment):
		e.problem("a fragment that is not the first")
	case err != nil:
		e.problem(err.Error())
	case e.IP.Proto == ip.ProtoTCP:
		b.readTCP(i)
	case e.IP.Proto == ip.ProtoUDP && e.IP.Fragment:
		e.problem("a fragment of a datagram")
	case e.IP.Proto == ip.ProtoUDP:
		b.quic.read(i)
	case e.IP.Proto != ip.ProtoICMP && e.IP.Proto != ip.ProtoICMPv6:
		e.problem("neither TCP nor UDP nor ICMP")
	}
}

// problem notes why a packet could not be read, unless the log cut it.
func (e *Event) problem(what string) {
	if !e.Cut() && e.Problem == "" {
		e.Problem = what
	}
}

// clientOf returns the client's and the server's address of an event.
func clientOf(e *Event) pair {
	if e.Way == lab.Up {
		return pair{e.IP.Source, e.IP.Dest}
	}
	return pair{e.IP.Dest, e.IP.Source}
}

// arrived says whether a packet reached the other host as it was sent. What was
// corrupted fails its checksum there; a duplicated packet has a sound copy.
func (e *Event) arrived() bool {
	return e.Delivered() && (!e.Fate.Corrupted || e.Fate.Duplicated)
}

// open begins a connection with event i.
func (r *Reading) open(transport string, i int, p pair) (*Connection, int) {
	c := &Connection{Transport: transport, Client: p.client, Server: p.server, Opened: r.Events[i].At}
	r.Connections = append(r.Connections, c)
	return c, len(r.Connections) - 1
}
