package story

import (
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// What a folded timeline shows on its own, at most: a story of a hundred
// thousand packets must stay one that can be read.
const (
	perClass    = 6   // packets of one class, such as those with a request, on each connection
	perConn     = 120 // packets of all classes of a connection
	strange     = 2   // packets of one class that is no part of the usual, of all connections beyond the named
	perTrouble  = 16  // drops, and packets with what was sent before; where there are more, only the
	someTrouble = 2   // first of them
	shortRun    = 2   // packets in a row that are not worth folding
	named       = 1   // connections that are told; those beyond are taken to be like them
)

// classKey counts what was shown of a class on a connection.
type classKey struct {
	conn  int
	class string
}

// choose decides which events have a row of their own. Properties that an edit
// must keep: each packet in the chain of causes, the packets around a silence,
// and the first and the last of a connection have one; how many there are does not
// grow with the length of a transfer.
func (t *timeline) choose() {
	shown := map[classKey]int{}
	for i := range t.r.Events {
		e := &t.r.Events[i]
		for _, c := range classes(e) {
			key, all := classKey{min(e.Conn, named), c.name}, classKey{min(e.Conn, named), ""}
			if shown[key]++; shown[key] <= c.limit(key.conn) && shown[all] < perConn {
				shown[all]++
				t.own[i] = true
			}
		}
		if t.chain[e.N] > 0 {
			t.own[i] = true
		}
	}
	t.aroundSilences()
	t.ends()
	t.troubles(func(e *wire.Event) bool { return !e.Delivered() && e.Fate.Drop != lab.NotDropped })
	t.troubles(func(e *wire.Event) bool { return e.Again > 0 })
	t.shortRuns()
}

func (t *timeline) show(i int) {
	if i >= 0 && i < len(t.own) {
		t.own[i] = true
	}
}

func (t *timeline) aroundSilences() {
	const most = 40 // silences; beyond that the rhythm is the story
	for n, s := range t.silent {
		if n < most {
			t.show(s.before - 2)
			t.show(s.before - 1)
			t.show(s.before)
		}
	}
}

func (t *timeline) ends() {
	for i, c := range t.r.Connections {
		if n := len(c.Events); n > 0 && i < named {
			t.show(c.Events[0])
			t.show(c.Events[n-1])
		}
	}
}

func (t *timeline) troubles(is func(*wire.Event) bool) {
	var found []int
	for i := range t.r.Events {
		if is(&t.r.Events[i]) {
			found = append(found, i)
		}
	}
	if len(found) > perTrouble {
		found = found[:someTrouble]
	}
	for _, i := range found {
		t.show(i)
	}
}

func (t *timeline) shortRuns() {
	for from := 0; from < len(t.own); {
		till := from
		for till < len(t.own) && !t.own[till] {
			till++
		}
		if till-from <= shortRun {
			for i := from; i < till; i++ {
				t.own[i] = true
			}
		}
		from = till + 1
	}
}

// class is what makes a packet worth a line.
type class struct {
	name  string
	usual bool // each connection has some
}

// limit is how many of a class are shown of a connection.
func (c class) limit(conn int) int {
	switch {
	case conn < named:
		return perClass
	case c.usual:
		return 0
	}
	return strange
}

// classes are those of a packet; none: it is one of many.
func classes(e *wire.Event) (list []class) {
	if e.Problem != "" {
		list = append(list, class{name: "problem"})
	}
	for _, m := range e.Messages {
		if m.Kind != wire.ApplicationData {
			again := m.Kind == wire.HelloRetryRequest || m.Kind == wire.RetryPacket || m.Kind == wire.VersionRefused
			list = append(list, class{string(m.Kind) + m.Note, !again})
		}
	}
	if f := e.IP.TCP.Flags; e.IP.Proto == ip.ProtoTCP && f&(ip.SYN|ip.FIN|ip.RST) != 0 {
		list = append(list, class{"flags", f&ip.RST == 0})
	}
	if e.Conn < 0 {
		list = append(list, class{name: "stray"})
	}
	for i := range e.QUIC {
		k := e.QUIC[i].Kind
		if k != quic.OneRTT {
			list = append(list, class{string(k), k == quic.Initial || k == quic.Handshake || k == quic.ZeroRTT})
		}
		for j := range e.QUIC[i].Frames {
			if f := &e.QUIC[i].Frames[j]; rare[f.Kind] {
				list = append(list, class{string(f.Kind), f.Kind == quic.HandshakeDone || f.Kind == quic.NewToken})
			}
		}
	}
	return list
}

// rare are the frames that change something for a connection.
var rare = map[quic.FrameKind]bool{
	quic.ResetStream: true, quic.StopSending: true, quic.NewToken: true, quic.DataBlocked: true,
	quic.StreamDataBlocked: true, quic.StreamsBlocked: true, quic.PathChallenge: true, quic.PathResponse: true,
	quic.ConnectionClose: true, quic.HandshakeDone: true,
}
