package tls

import "github.com/samewire/samewire/internal/wire/keylog"

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
	if out, ok := r.open12(x); ok {
		r.opened12(x, out[len(w.plain):])
		w.plain = out
		return
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

// maxMasters is how many master secrets are tried for a resumed connection.
const maxMasters = 256

// open12 opens a record with the keys of its connection. The first record of a
// resumed connection may find them: it has the master secret of an earlier one,
// for which not every program writes a line of its own (Go's crypto/tls does
// not). The record's tag decides.
func (r *reading) open12(x record) ([]byte, bool) {
	c, g := r.conn, &r.conn.dialog
	p := protections[g.hello.SuiteID]
	if p == nil || g.hello.Version != "1.2" || !g.serverHello {
		return nil, false
	}
	if c.keys12 != nil {
		out, err := c.keys12[r.d].open12(r.way.plain, x.header, x.body)
		return out, err == nil
	}
	if c.hopeless12 {
		return nil, false
	}
	masters := c.masters()
	for _, master := range masters {
		both, err := newKeys12(p, master, g.hello.ClientRandom, g.serverRandom)
		if err != nil {
			continue
		}
		if out, err := both[r.d].open12(r.way.plain, x.header, x.body); err == nil {
			c.keys12 = both
			return out, true
		}
	}
	// The first record must open; without a secret to try, that the connection was
	// resumed may yet show.
	c.hopeless12 = len(masters) > 0 || g.hello.Resumed
	return nil, false
}

// masters are the master secrets that the connection can have.
func (c *Conn) masters() [][]byte {
	if own := c.secrets.Secret(keylog.ClientRandom, c.dialog.hello.ClientRandom); own != nil {
		return [][]byte{own}
	}
	if c.dialog.hello.Resumed {
		return c.secrets.All(keylog.ClientRandom, maxMasters)
	}
	return nil
}
