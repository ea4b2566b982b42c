package wire

import "github.com/samewire/samewire/internal/lab"

// greet adds to what was owed who waited for what of the handshake: to the text
// of what was in flight, or as a debt of its own where nothing was. What carried
// no data counts where the handshake waited for it.
func (x *autopsy) greet(real, minor []debt) []debt {
	d, text := x.handshake()
	if text == "" {
		return real
	}
	for i := range real {
		if real[i].side == d && real[i].flight {
			real[i].text += "; " + text
			return real
		}
	}
	owed := debt{of: x, side: d, grave: graveHandshake, text: text}
	if len(x.half[d].unacked) == 0 && x.c.Transport == "quic" && d == lab.Up {
		if w := x.probing(d); w != nil {
			owed.watches = []*watch{w}
		}
	}
	for _, m := range minor {
		if m.side == d { // its timer is this one's
			owed.watches = m.watches
		}
	}
	return append(real, x.graded(owed))
}

// handshake says which step of the TLS handshake came next, and whose it was;
// empty: the handshake was over, or had not begun, or cannot be read.
func (x *autopsy) handshake() (lab.Direction, string) {
	up, down := x.messages[lab.Up], x.messages[lab.Down]
	hello, begun := up[ClientHello]
	if !begun || len(x.requests) > 0 {
		return lab.Up, ""
	}
	answer, answered := down[ServerHello]
	if retry, asked := down[HelloRetryRequest]; asked && !answered {
		answer, answered = retry, true
	}
	switch finish, finished := x.first(up, Finished, ApplicationData); {
	case !answered && !x.received(lab.Up, hello):
		return lab.Up, "the server waited for the ClientHello"
	case !answered:
		return lab.Down, "the client waited for the answer to its ClientHello, which had arrived"
	case finished && x.received(lab.Up, finish):
		return lab.Up, ""
	case finished:
		return lab.Up, "the server waited for the client's Finished"
	case !x.received(lab.Down, answer):
		return lab.Down, "the client waited for the ServerHello"
	case x.half[lab.Down].arrived.total() < x.half[lab.Down].sent.total():
		return lab.Down, "the client waited for the rest of the server's flight"
	case x.whole(down):
		return lab.Up, "the server waited for the client's Finished: its own flight had arrived"
	case x.amplified().blocked:
		return lab.Up, "" // told already
	default:
		return lab.Down, "the client waited for the rest of the server's flight, which the server had not sent"
	}
}

// whole says whether the server's flight was sent to its end.
func (x *autopsy) whole(down map[MessageKind]int) bool {
	_, sent := x.first(down, Finished, ServerHelloDone, ApplicationData)
	return sent
}

// first returns the event of the first message of the given kinds.
func (x *autopsy) first(messages map[MessageKind]int, kinds ...MessageKind) (event int, some bool) {
	for _, k := range kinds {
		if i, is := messages[k]; is && (!some || i < event) {
			event, some = i, true
		}
	}
	return event, some
}

// received says whether a message had arrived whose last byte was in an event,
// with all that came before it.
func (x *autopsy) received(d lab.Direction, event int) bool {
	e := &x.r.Events[event]
	for space := range uint64(3) {
		if !x.reached(e, channel{cryptoStream, space}) {
			return false
		}
	}
	return true
}
