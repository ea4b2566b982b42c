package wire

import (
	"bytes"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/http"
	"github.com/samewire/samewire/internal/wire/keylog"
	"github.com/samewire/samewire/internal/wire/quic"
	"github.com/samewire/samewire/internal/wire/tls"
)

// quicReader reads the datagrams of all QUIC connections.
type quicReader struct {
	r     *Reading
	demux *quic.Demux
	conns map[*quic.Conn]*quicConn
	order []*quicConn
}

func newQUICReader(r *Reading, secrets *keylog.Log) *quicReader {
	return &quicReader{r: r, demux: quic.NewDemux(secrets), conns: map[*quic.Conn]*quicConn{}}
}

// quicConn is a QUIC connection that is being read.
type quicConn struct {
	*Connection
	r       *Reading
	index   int
	conn    *quic.Conn
	crypto  [3][2]*spans // by level and direction
	streams map[uint64]*quicStream
	h3      *http.H3
	tries   []attempt
	retry   int   // the event of a Retry that has not been answered; -1
	refused int   // the same of a version negotiation
	pending []int // events with packets that wait for keys
	keys    int   // Keys when pending was last looked at
	looks   int   // how often it was looked at
	early   bool  // early data was rejected
	told    [2]bool
}

// attempt is one try to open a connection: the first, and those after a Retry
// or a version negotiation. What was sent in one before reached nobody.
type attempt struct {
	version uint32
	hello   *spans // the client's CRYPTO stream of Initials
	opened  int    // the event of its first Initial
	event   int    // the packet that asked for this attempt; -1
	kind    MessageKind
}

// quicStream is one stream, by the direction of what is sent on it.
type quicStream struct {
	sent [2]*spans
	asm  [2]assembler
	size [2]int64 // final; -1: not known
	done [2]bool  // the end was passed on
}

// maxQUICStreams bounds the streams of a connection that are followed.
const maxQUICStreams = 1 << 16

// read reads the datagram of event i.
func (q *quicReader) read(i int) {
	e := &q.r.Events[i]
	found := q.demux.Find(e.Way, e.IP.Source, e.IP.Dest, e.IP.Payload)
	if found == nil {
		e.problem("UDP of no QUIC connection")
		return
	}
	c := q.conns[found]
	if c == nil {
		c = &quicConn{r: q.r, conn: found, retry: -1, refused: -1, streams: map[uint64]*quicStream{}, h3: http.NewH3()}
		c.Connection, c.index = q.r.open("quic", i, clientOf(e))
		c.quic = c
		for l := range c.crypto {
			c.crypto[l] = [2]*spans{{}, {}}
		}
		q.conns[found] = c
		q.order = append(q.order, c)
	}
	c.datagram(i)
}

func (q *quicReader) finish() {
	for _, c := range q.order {
		c.finish()
	}
}

func (c *quicConn) datagram(i int) {
	e := &c.r.Events[i]
	e.Conn = c.index
	c.Events = append(c.Events, i)
	e.QUIC = c.conn.ReadCut(e.Way, e.IP.Payload, e.IP.Size)
	waits := false
	for k := range e.QUIC {
		c.packet(i, &e.QUIC[k])
		waits = waits || e.QUIC[k].Waits
	}
	if waits {
		c.pending = append(c.pending, i)
	}
	c.again()
}

// maxRereads bounds how often packets that wait for keys are read again. A
// handshake brings keys a handful of times; a client's Initials with ever other
// connection IDs would have all that waits read again for each of them.
const maxRereads = 32

// again reads what waited for keys that are known by now.
func (c *quicConn) again() {
	for c.conn.Keys() != c.keys && c.looks < maxRereads {
		c.keys = c.conn.Keys()
		if len(c.pending) > 0 {
			c.looks++
		}
		list := c.pending
		c.pending = nil
		for _, i := range list {
			e := &c.r.Events[i]
			waits := false
			for k, p := range c.conn.ReadCut(e.Way, e.IP.Payload, e.IP.Size) {
				if k < len(e.QUIC) && e.QUIC[k].Waits && !p.Waits {
					e.QUIC[k] = p
					c.packet(i, &e.QUIC[k])
				}
				waits = waits || p.Waits
			}
			if waits {
				c.pending = append(c.pending, i)
			}
		}
	}
}

// packet reads one packet of event i.
func (c *quicConn) packet(i int, p *quic.Packet) {
	e := &c.r.Events[i]
	switch {
	case p.Kind == quic.Retry && e.Way == lab.Down:
		if !c.retried() {
			c.retry = c.r.earlier(c.retry, i)
		}
		c.tell(i, RetryPacket)
	case p.Kind == quic.VersionNegotiation && e.Way == lab.Down:
		c.refused = c.r.earlier(c.refused, i)
		c.tell(i, VersionRefused)
	case p.Kind == quic.Initial && e.Way == lab.Up:
		c.attempt(i, p)
	}
	if p.Opened && (p.Kind != quic.ZeroRTT || !c.early) {
		c.frames(i, p)
	}
	for k := range p.Frames {
		p.Frames[k].Data = nil
	}
	if !c.early && isFalse(c.conn.Hello().EarlyAccepted) {
		c.early = true
		c.forgetEarly()
		c.h3 = http.NewH3()
		c.streams = map[uint64]*quicStream{}
	}
}

func (c *quicConn) tell(i int, kind MessageKind) {
	c.r.Events[i].Messages = append(c.r.Events[i].Messages, Message{Kind: kind, First: i})
}

// retried says whether a Retry has begun the newest attempt: a client heeds one
// only, and servers answer an Initial that was sent again with another (RFC 9000,
// section 17.2.5.2).
func (c *quicConn) retried() bool {
	n := len(c.tries)
	return n > 0 && c.tries[n-1].kind == RetryPacket
}

// attempt begins an attempt with a client's Initial where it does.
func (c *quicConn) attempt(i int, p *quic.Packet) {
	a := attempt{version: p.Version, opened: i, event: -1}
	switch {
	case len(c.tries) == 0:
	case c.retry >= 0 && p.Token > 0:
		a.event, a.kind, c.retry = c.retry, RetryPacket, -1
	case c.refused >= 0 && p.Version != c.tries[len(c.tries)-1].version:
		a.event, a.kind, c.refused = c.refused, VersionRefused, -1
	default:
		return
	}
	switch a.kind {
	case RetryPacket:
		c.restart()
	case VersionRefused: // all is begun anew, with another ClientHello
		c.crypto[tls.LevelInitial][lab.Up] = &spans{}
		c.units[lab.Up] = nil
		c.streams, c.h3 = map[uint64]*quicStream{}, http.NewH3()
	}
	a.hello = c.crypto[tls.LevelInitial][lab.Up]
	c.tries = append(c.tries, a)
}

// restart begins to note anew what the client sends: what it sent before reached
// nobody.
func (c *quicConn) restart() {
	fresh := map[*spans]*spans{}
	anew := func(s **spans) {
		fresh[*s] = &spans{}
		*s = fresh[*s]
	}
	anew(&c.crypto[tls.LevelInitial][lab.Up])
	for _, s := range c.streams {
		anew(&s.sent[lab.Up])
	}
	for i, u := range c.units[lab.Up] {
		if s := fresh[u.on]; s != nil {
			c.units[lab.Up][i].on = s
		}
	}
}

// levelOf is the encryption level of a packet, and its packet number space.
func levelOf(k quic.Kind) tls.Level {
	switch k {
	case quic.Initial:
		return tls.LevelInitial
	case quic.Handshake:
		return tls.LevelHandshake
	default:
		return tls.LevelApplication
	}
}

// frames reads what an opened packet carried.
func (c *quicConn) frames(i int, p *quic.Packet) {
	e := &c.r.Events[i]
	d, level := e.Way, levelOf(p.Kind)
	sent := Sent{Event: i, Number: p.Number, Space: int(level), Bytes: p.Size, Acked: Never}
	elicits := false
	for k := range p.Frames {
		f := &p.Frames[k]
		begin, end := int64(f.Offset), int64(f.Offset)+int64(f.Length)
		switch f.Kind {
		case quic.Crypto:
			sent.carry(c.crypto[level][d].add(begin, end, i), f.Length)
		case quic.Stream:
			c.stream(i, f, &sent, p.Kind == quic.ZeroRTT)
		}
		elicits = elicits || elicitsAck(f.Kind)
	}
	if p.Kind == quic.OneRTT || p.Kind == quic.ZeroRTT {
		c.Decrypted = true
	}
	e.New, e.Again = e.New+sent.New, e.Again+sent.Again
	if elicits {
		c.Sent[d] = append(c.Sent[d], sent)
	}
	for _, m := range p.Messages {
		kind, note := kindOf(m)
		u := unit{kind: kind, on: c.crypto[level][d], begin: m.Begin, end: m.End, level: level}
		c.note(c.r, d, u, note)
		c.offers(d, u)
	}
}

func (s *Sent) carry(fresh int64, length int) {
	s.New += int(fresh)
	s.Again += length - int(fresh)
}

// elicitsAck says whether a frame makes its packet one that must be acknowledged
// (RFC 9002, section 2).
func elicitsAck(k quic.FrameKind) bool {
	return k != quic.Ack && k != quic.Padding && k != quic.ConnectionClose
}

// stream reads a STREAM frame.
func (c *quicConn) stream(i int, f *quic.Frame, sent *Sent, early bool) {
	d := c.r.Events[i].Way
	s := c.streams[f.Stream]
	if s == nil {
		if len(c.streams) >= maxQUICStreams {
			return
		}
		s = &quicStream{sent: [2]*spans{{}, {}}, size: [2]int64{-1, -1}}
		c.streams[f.Stream] = s
	}
	begin, end := int64(f.Offset), int64(f.Offset)+int64(f.Length)
	sent.carry(s.sent[d].add(begin, end, i), f.Length)
	if f.Fin {
		s.sent[d].add(end, end+1, i)
		s.size[d] = end
	}
	pass := func(data []byte, fin bool) {
		for _, e := range c.h3.Read(d, f.Stream, data, fin) {
			c.event(d, s, f.Stream, e, early)
		}
	}
	s.asm[d].take(begin, f.Data, bytes.Clone, func(b []byte) { pass(b, false) })
	if s.size[d] >= 0 && s.asm[d].next == s.size[d] && !s.done[d] && !s.asm[d].lost {
		s.done[d] = true
		pass(nil, true)
	}
}

// event notes what HTTP/3 said.
func (c *quicConn) event(d lab.Direction, s *quicStream, stream uint64, e http.Event, early bool) {
	if e.Kind == http.Data {
		return
	}
	u := unit{kind: httpKind(e.Kind), on: s.sent[d], begin: e.Begin, end: max(e.End, e.Begin+1), request: stream, early: early}
	if u.kind == RequestStart || u.kind == ResponseStart {
		u.end = u.begin + 1
	}
	c.note(c.r, d, u, httpNote(e))
}
