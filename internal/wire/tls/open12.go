package tls

import "github.com/samewire/samewire/internal/lab"

// finishedSize is the size of TLS 1.2's Finished with its header: all suites
// have 12 bytes of verify_data (RFC 5246, section 7.4.9).
const finishedSize = handshakeHeader + 12

// sealed12 says whether a record is protected as those of TLS 1.2 are after the
// ChangeCipherSpec. That of TLS 1.3 means nothing (RFC 8446, appendix D.4). While
// the version is not known, a handshake record after it shows TLS 1.2, as TLS 1.3
// has none but another ClientHello.
func (r *reading) sealed12(x record) bool {
	w := r.way
	switch {
	case !w.changed || r.conn.dialog.hello.Version == "1.3":
		return false
	case r.conn.dialog.hello.Version != "" || w.sealed:
		return true
	}
	return x.kind == recordHandshake && len(x.body) > 0 && x.body[0] != typeClientHello
}

func (r *reading) record12(x record) {
	w := r.way
	first := !w.sealed
	w.sealed = true
	if k := r.conn.secrets12(r.d); k != nil {
		out, err := k.open12(w.plain, x.header, x.body)
		if err == nil {
			r.opened12(x, out[len(w.plain):])
			w.plain = out
			return
		}
	}
	m := Message{Begin: x.begin, End: x.end, Size: len(x.body), Encrypted: true}
	switch x.kind {
	case recordHandshake:
		m.Kind = EncryptedHandshake
		if first { // nothing else may follow the ChangeCipherSpec
			m.Kind = Finished
			r.conn.dialog.count(r.d, Finished, finishedSize)
		}
	case recordAlert:
		m.Kind = Alert
	case recordChange:
		m.Kind = ChangeCipherSpec
	default:
		m.Kind = ApplicationData
	}
	r.add(m)
}

func (r *reading) opened12(x record, body []byte) {
	if x.kind == recordChange {
		r.broken(x.begin, "renegotiation of TLS 1.2 is not read")
		return
	}
	r.content(x, x.kind, body, true)
}

// secrets12 has the keys of a direction of TLS 1.2; nil: they are not known.
func (c *Conn) secrets12(d lab.Direction) *keys {
	if c.keys12 == nil {
		g := &c.dialog
		p := protections[g.hello.SuiteID]
		master := c.secrets.Secret("CLIENT_RANDOM", g.hello.ClientRandom)
		if p == nil || master == nil || g.hello.Version != "1.2" || !g.serverHello {
			return nil
		}
		both, err := newKeys12(p, master, g.hello.ClientRandom, g.serverRandom)
		if err != nil {
			return nil
		}
		c.keys12 = both
	}
	return &c.keys12[d]
}
