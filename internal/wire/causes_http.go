package wire

import (
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/http"
)

// exchange is a request and the response to it, as read off a connection. The
// end is not there where it could not be read.
type exchange struct {
	request, end, response unit
	ended, answered        bool
	first                  bool // of its connection
}

// exchanges lists the requests of a connection in the order in which they were
// sent.
func (k *chains) exchanges() []exchange {
	if list, ok := k.sealed(); ok {
		return list
	}
	var list []exchange
	at := map[uint64]int{}
	for _, u := range k.c.units[lab.Up] {
		switch n, ok := at[u.request]; {
		case u.kind == RequestStart && !ok:
			at[u.request] = len(list)
			list = append(list, exchange{request: u, first: len(list) == 0})
		case u.kind == RequestEnd && ok && !list[n].ended:
			list[n].end, list[n].ended = u, true
		}
	}
	for _, u := range k.c.units[lab.Down] {
		if n, ok := at[u.request]; ok && u.kind == ResponseStart && !list[n].answered {
			list[n].response, list[n].answered = u, true
		}
	}
	return list
}

// sealed is what can be told without secrets: of TLS 1.2 the types of records can
// be seen, and with HTTP/1.1 the first application data of the server is its
// response. HTTP/2's server sends SETTINGS first, and in TLS 1.3 a ticket looks
// like a response: of those nothing is said. It is ok where that was the case.
func (k *chains) sealed() (list []exchange, ok bool) {
	h := k.c.Hello
	if h == nil || k.c.Decrypted || h.Version != "1.2" || h.ALPN != "" && h.ALPN != "http/1.1" || k.a.Run.Cell.Load.Upload {
		return nil, false
	}
	asked, ok1 := k.unit(lab.Up, ApplicationData, 0)
	answer, ok2 := k.unit(lab.Down, ApplicationData, 0)
	if !ok1 || !ok2 {
		return nil, false
	}
	answer.end = answer.begin + 1
	return []exchange{{request: asked, end: asked, response: answer, ended: true, answered: true, first: true}}, true
}

// response is the chain to the first byte of a response; nil where it cannot be
// told. Warm: the connection was opened before the load.
func (k *chains) response(x exchange, warm bool) *done {
	if !x.ended || !x.answered {
		return nil
	}
	if warm {
		k.from = x.request.on.carrier(x.request.begin)
	}
	asked := k.request(x, warm)
	if asked == nil {
		return nil
	}
	answer := []place{placeOf(x.response, x.response)}
	first := x.response.on.carrier(x.response.begin)
	const what = "first byte of the response"
	if first < 0 || !k.credited(x, asked) {
		return nil
	}
	if k.r.before(asked.complete, first) {
		return k.message(what, "it answers the request", answer, asked)
	}
	// The server did not wait for the end of what the client sent.
	x.end = x.request
	return k.message(what, "it answers the beginning of the request", answer, k.request(x, warm))
}

// request is a request up to its end.
func (k *chains) request(x exchange, warm bool) *done {
	at := []place{placeOf(x.request, x.end)}
	const what = "request"
	h := k.c.Hello
	switch {
	case warm:
		return k.message(what, "", at)
	case h == nil || !x.first && k.c.quic == nil && h.ALPN != "h2":
		return nil // of HTTP/1.1, one that waited for the response before
	case x.request.early:
		if h.EarlyAccepted == nil || !*h.EarlyAccepted {
			return nil
		}
		needs, _, ok := k.helloNeeds()
		if !ok {
			return nil
		}
		return k.message("request as early data", "early data goes with the ClientHello", at, needs...)
	}
	secure := k.secured()
	if secure == nil {
		return nil
	}
	first := x.request.on.carrier(x.request.begin)
	if first < 0 {
		return nil
	}
	if k.r.before(secure.complete, first) {
		return k.message(what, whySecure, at, secure)
	}
	// False start (RFC 7918): TLS 1.2's client sends data after its own Finished.
	if h.Version == "1.2" && k.c.quic == nil {
		if flight, _, full := k.flight12(k.hello()); full {
			return k.message(what, "with false start it follows the client's Finished", at, flight)
		}
	}
	return nil
}

// credited says that no flow control but TCP's own held up a request. How a
// receiver comes to give credit is its own affair, so that nothing is said of
// requests that had to wait for it.
func (k *chains) credited(x exchange, asked *done) bool {
	load := k.a.Run.Cell.Load
	h2 := k.c.Hello != nil && k.c.Hello.ALPN == "h2"
	switch {
	case !load.Upload || load.Size == 0 || k.c.quic == nil && !h2:
		return true
	case h2 && load.Bytes() <= http.DefaultWindow:
		return true // the windows that every connection has at first
	}
	const frames = 1 << 10 // what HTTP/3 adds to a request's content, and more
	stream := x.request.request
	return k.allowed("data", stream, load.Bytes()+frames, asked.first) &&
		k.allowed("streams at first", stream, load.Size+frames, asked.first)
}

// allowed says whether credit of a kind, or of the stream, for size bytes had
// reached the client before event first was offered.
func (k *chains) allowed(kind string, stream uint64, size int64, first int) bool {
	for _, c := range k.c.Credit[lab.Up] {
		same := c.Kind == kind || kind == "streams at first" && c.Kind == "stream" && c.Stream == stream
		if same && c.Max >= size && k.r.before(c.Event, first) {
			return true
		}
	}
	return false
}
