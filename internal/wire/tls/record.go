package tls

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// reading is one call of Read.
type reading struct {
	conn *Conn
	way  *way
	d    lab.Direction
	list []Message
}

func (r *reading) add(m Message) {
	m.Way = r.d
	r.list = append(r.list, m)
}

// broken ends the direction.
func (r *reading) broken(at int64, problem string) {
	r.add(Message{Kind: Broken, Begin: at, End: at, Problem: problem})
	r.way.dead = true
}

func (r *reading) record(x record) {
	switch {
	case x.kind == recordChange && !r.sealed12(x):
		r.change(x)
	case r.sealed12(x):
		r.record12(x)
	case x.kind == recordApplication:
		r.record13(x)
	default:
		r.content(x, x.kind, x.body, false)
	}
}

func (r *reading) change(x record) {
	r.add(Message{Kind: ChangeCipherSpec, Begin: x.begin, End: x.end, Size: len(x.body), Opened: true})
	r.way.changed = true
	r.conn.dialog.changed(r.d)
}

// content reads what a record had in it, in clear or decrypted.
func (r *reading) content(x record, kind byte, body []byte, encrypted bool) {
	m := Message{Begin: x.begin, End: x.end, Size: len(body), Encrypted: encrypted, Opened: true,
		Early: encrypted && r.way.stage == stageEarly}
	switch kind {
	case recordHandshake:
		r.handshake(m, body)
	case recordAlert:
		m.Kind = Alert
		m.Note, m.Problem = alert(body)
		m.Opened = m.Problem == ""
		r.add(m)
	case recordApplication:
		m.Kind = ApplicationData
		m.Data, m.Offset = body, r.way.data
		r.way.data += int64(len(body))
		if m.Early {
			r.conn.dialog.hello.EarlyBytes += int64(len(body))
		}
		r.add(m)
	default:
		r.broken(x.begin, fmt.Sprintf("decrypted record: type %d, want %d to %d", kind, recordAlert, recordApplication))
	}
}

// alert names an alert (RFC 8446, section 6).
func alert(body []byte) (note, problem string) {
	if len(body) != 2 {
		return "", fmt.Sprintf("alert: %d bytes, want 2", len(body))
	}
	note = AlertName(body[1])
	if body[0] == 2 {
		note = "fatal " + note
	}
	return note, ""
}

// handshake reads the messages that end in a record. m has what they share.
func (r *reading) handshake(m Message, body []byte) {
	w, begin := r.way, m.Begin
	for len(body) > 0 {
		p, rest, done := w.hand.next(body, begin)
		if !done {
			return
		}
		body = rest
		m.Kind, m.Note, m.Problem = r.conn.dialog.take(r.d, p)
		m.Size, m.Opened, m.Begin = p.size, m.Problem == "", w.hand.begin
		r.add(m)
		r.turn(m.Kind)
	}
}
