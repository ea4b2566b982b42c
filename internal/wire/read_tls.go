package wire

import (
	"fmt"
	"sort"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/http"
	"github.com/samewire/samewire/internal/wire/tls"
)

// unit is a message with the place of its bytes: what causes are made of.
type unit struct {
	kind       MessageKind
	on         *spans
	begin, end int64
	level      tls.Level // of QUIC's CRYPTO streams
	request    uint64    // of HTTP: the stream
	early      bool
}

// tlsData reads the content of a TCP connection: TLS, and HTTP in it.
type tlsData struct {
	r       *Reading
	conn    *Connection
	tls     *tls.Conn
	http    *http.Conn
	records [2][]record
	credit  *h2Credit
}

// record is a record of application data: its place in the stream of bytes, and
// that of its content in the application data.
type record struct {
	begin, end       int64
	content, ceiling int64
	lead             int64 // bytes before the content: the header, and a nonce
	early            bool
}

func newTLSData(r *Reading, c *Connection, t *tls.Conn) *tlsData {
	return &tlsData{r: r, conn: c, tls: t, credit: newH2Credit(c)}
}

// read takes the next bytes of the direction of event i.
func (t *tlsData) read(i int, data []byte) {
	d := t.r.Events[i].Way
	rejected := isFalse(t.tls.Hello().EarlyAccepted)
	for _, m := range t.tls.Read(d, data) {
		if t.r.full() {
			t.r.tooMany()
			t.lost(d)
			t.conn.Unread[d] = i + 1
			return
		}
		if m.Kind == tls.ApplicationData && m.Opened {
			t.content(d, m)
			continue
		}
		t.message(d, m)
	}
	if !rejected && isFalse(t.tls.Hello().EarlyAccepted) {
		t.restart()
	}
}

// message notes a message that is no readable content.
func (t *tlsData) message(d lab.Direction, m tls.Message) {
	kind, note := kindOf(m)
	if m.Kind == tls.Broken || m.Encrypted && !m.Opened {
		t.unread(d, m)
	}
	// Records are counted from the first byte of data, which has offset 1.
	u := unit{kind: kind, on: t.conn.stream[d], begin: m.Begin + 1, end: m.End + 1, early: m.Early}
	t.conn.note(t.r, d, u, note)
}

// unread says of the packets that carried a message that it could not be read.
func (t *tlsData) unread(d lab.Direction, m tls.Message) {
	why := m.Problem
	if why == "" {
		why = "its secret is not there"
	}
	end := max(m.End, m.Begin+1)
	for _, p := range t.conn.stream[d].carriers(m.Begin+1, end+1) {
		t.r.Events[p.event].problem("TLS: " + why)
	}
}

// content reads application data.
func (t *tlsData) content(d lab.Direction, m tls.Message) {
	if t.http == nil {
		t.http = http.NewConn(t.tls.Hello().ALPN)
	}
	t.conn.Decrypted = true
	lead := int64(5)
	if t.tls.Hello().Version == "1.2" {
		// Of the suites of TLS 1.2, those with AES have a nonce before the content (RFC
		// 5288, section 3), and all have a tag of 16 bytes behind it.
		lead = max(m.End-m.Begin-int64(m.Size)-16, 5)
	}
	t.records[d] = append(t.records[d], record{
		m.Begin + 1, m.End + 1, m.Offset, m.Offset + int64(len(m.Data)), lead, m.Early,
	})
	for _, e := range t.http.Read(d, m.Data) {
		t.event(d, e)
	}
}

// event notes what HTTP said.
func (t *tlsData) event(d lab.Direction, e http.Event) {
	last := max(e.End-1, e.Begin, 0)
	from, upto := t.record(d, min(e.Begin, last)), t.record(d, last)
	if from == nil || upto == nil {
		return
	}
	u := unit{kind: httpKind(e.Kind), on: t.conn.stream[d], begin: from.begin, end: upto.end, request: e.Stream, early: from.early}
	if u.kind == RequestStart || u.kind == ResponseStart {
		u.end = min(from.begin+from.lead+e.Begin-from.content+1, from.end)
	}
	if e.Kind == http.Data {
		return
	}
	t.conn.note(t.r, d, u, httpNote(e))
	t.credit.see(d, e, u)
}

// record finds the record that has a byte of the application data; where the
// data ended before it, the last record.
func (t *tlsData) record(d lab.Direction, offset int64) *record {
	list := t.records[d]
	i := sort.Search(len(list), func(i int) bool { return list[i].ceiling > offset })
	if i == len(list) {
		i--
	}
	if i < 0 {
		return nil
	}
	return &list[i]
}

// restart forgets early data that the server rejected: it never reached the
// application.
func (t *tlsData) restart() {
	t.records[lab.Up] = nil
	if t.http != nil {
		t.http.Restart(lab.Up)
	}
	t.conn.forgetEarly()
}

func (t *tlsData) lost(d lab.Direction) {
	t.tls.Lost(d)
	if t.http != nil {
		t.http.Lost(d)
	}
}

func (t *tlsData) finish() {
	if h := t.tls.Hello(); len(t.conn.units[lab.Up])+len(t.conn.units[lab.Down]) > 0 {
		t.conn.Hello = h
	}
}

// Messages of all packets of a capture are noted up to so many, and so many more
// for each packet: in memory a message takes some thirty times the bytes of the
// shortest record, and packets full of them must not take it all.
const (
	freeMessages      = 1 << 17
	messagesPerPacket = 8
)

// full says whether no more messages are noted.
func (r *Reading) full() bool { return r.noted >= freeMessages+messagesPerPacket*r.packets }

// tooMany tells in the packet being read that its messages are too many, whatever
// else could not be read of it.
func (r *Reading) tooMany() {
	if r.packets > 0 {
		r.Events[r.packets-1].Problem = fmt.Sprintf("more than %d messages a packet, of all packets so far", messagesPerPacket)
	}
}

// note adds a message to those of a connection, and to the event that carried
// its last byte first.
func (c *Connection) note(r *Reading, d lab.Direction, u unit, note string) {
	if r.full() {
		r.tooMany()
		return
	}
	r.noted++
	c.units[d] = append(c.units[d], u)
	first, last := u.on.carrier(u.begin), u.on.carrier(u.end-1)
	if first < 0 || last < 0 {
		return
	}
	r.Events[last].Messages = append(r.Events[last].Messages, Message{
		Kind: u.kind, First: first, Stream: u.request, Early: u.early, Note: note,
	})
}

// forgetEarly forgets requests in early data.
func (c *Connection) forgetEarly() {
	kept := c.units[lab.Up][:0]
	for _, u := range c.units[lab.Up] {
		if !u.early {
			kept = append(kept, u)
		}
	}
	c.units[lab.Up] = kept
}

func isFalse(b *bool) bool { return b != nil && !*b }

// known are the messages of TLS that have a kind of their own here.
var known = map[tls.Kind]MessageKind{
	tls.ClientHello: ClientHello, tls.ServerHello: ServerHello, tls.HelloRetryRequest: HelloRetryRequest,
	tls.ServerHelloDone: ServerHelloDone, tls.ClientKeyExchange: ClientKeyExchange, tls.Certificate: Certificate,
	tls.Finished: Finished, tls.NewSessionTicket: NewSessionTicket, tls.ApplicationData: ApplicationData,
}

func kindOf(m tls.Message) (MessageKind, string) {
	if kind, ok := known[m.Kind]; ok {
		return kind, m.Note
	}
	note := string(m.Kind)
	if m.Note != "" {
		note += " " + m.Note
	}
	return OtherMessage, note
}

func httpKind(k http.Kind) MessageKind {
	switch k {
	case http.RequestStart:
		return RequestStart
	case http.RequestEnd:
		return RequestEnd
	case http.ResponseStart:
		return ResponseStart
	case http.ResponseEnd:
		return ResponseEnd
	default:
		return OtherMessage
	}
}

func httpNote(e http.Event) string {
	if httpKind(e.Kind) != OtherMessage {
		return e.Note
	}
	if e.Note != "" {
		return string(e.Kind) + " " + e.Note
	}
	return string(e.Kind)
}
