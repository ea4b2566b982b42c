package tls

import (
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// stage is a period of one direction of TLS 1.3 with its own secret.
type stage int

const (
	stageClear stage = iota
	stageEarly       // the client's only
	stageHandshake
	stageApplication
	stages
)

// labels are the key log's names of the stages' secrets.
var labels = [2][stages]string{
	lab.Up:   {stageEarly: keylog.ClientEarlyTrafficSecret, stageHandshake: keylog.ClientHandshakeTraffic, stageApplication: keylog.ClientTrafficSecret},
	lab.Down: {stageHandshake: keylog.ServerHandshakeTraffic, stageApplication: keylog.ServerTrafficSecret},
}

func (r *reading) record13(x record) {
	w := r.way
	out, ok := r.open13(x)
	if !ok {
		r.add(Message{Kind: ApplicationData, Begin: x.begin, End: x.end, Size: len(x.body), Encrypted: true})
		return
	}
	body := out[len(w.plain):]
	w.plain = out
	for len(body) > 0 && body[len(body)-1] == 0 { // padding (RFC 8446, section 5.4)
		body = body[:len(body)-1]
	}
	if len(body) == 0 {
		r.broken(x.begin, "decrypted record: padding only")
		return
	}
	r.content(x, body[len(body)-1], body[:len(body)-1], true)
}

// open13 finds the keys that open a record: those of the present stage, else
// those of a later one. What an edit must keep:
//   - Only the record's tag decides, so that the other direction need not have been
//     read, rejected early data cannot be taken for the handshake, and a key log
//     without some of the secrets opens what the others open.
//   - Stages only advance, and a stage that opened a record keeps its keys.
//   - The sequence number counts opened records: those that a server skips do not
//     count in the next stage.
func (r *reading) open13(x record) ([]byte, bool) {
	w := r.way
	for s := max(w.stage, stageEarly); s < stages; s++ {
		for _, k := range r.candidates(s) {
			out, err := k.open13(w.plain, x.header, x.body)
			if err != nil {
				continue
			}
			r.enter(s, k)
			return out, true
		}
	}
	return nil, false
}

// enter notes that a stage's keys opened a record.
func (r *reading) enter(s stage, k *keys) {
	w := r.way
	if w.stage == stageEarly && s > stageEarly && !w.ended {
		w.data = 0 // the server rejected it: the application data begins again
	}
	w.stage, w.keys[s] = s, k
}

// candidates are the keys that a stage can have. Early data is protected by the
// suite of an earlier connection, which the wire does not tell.
func (r *reading) candidates(s stage) []*keys {
	if k := r.way.keys[s]; k != nil {
		return []*keys{k}
	}
	g := &r.conn.dialog
	secret := r.conn.secrets.Secret(labels[r.d][s], g.hello.ClientRandom)
	if secret == nil {
		return nil
	}
	list := []*protection{&aes128, &chacha20, &aes256}
	if g.serverHello && s != stageEarly {
		list = []*protection{protections[g.hello.SuiteID]}
	}
	var found []*keys
	for _, p := range list {
		if p == nil || p.hash().Size() != len(secret) {
			continue
		}
		if k, err := newKeys(p, secret); err == nil {
			found = append(found, k)
		}
	}
	return found
}

// turn follows the messages after which a direction's keys change. The other
// changes show when a record is opened.
func (r *reading) turn(kind Kind) {
	w := r.way
	switch kind {
	case EndOfEarlyData:
		w.ended = true
	case KeyUpdate:
		k := w.keys[stageApplication]
		if w.stage != stageApplication || k == nil {
			return
		}
		if next, err := k.next(); err == nil {
			w.keys[stageApplication] = next
		}
	}
}
