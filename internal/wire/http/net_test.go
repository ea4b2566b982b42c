package http_test

import (
	"bytes"
	"context"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/http"
)

// recorder notes what net/http says on a connection, in the order in which the
// client wrote and read it.
type recorder struct {
	net.Conn
	mu   *sync.Mutex
	talk *[]said
}

func (r recorder) note(d lab.Direction, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.talk = append(*r.talk, said{d, string(p)})
}

func (r recorder) Write(p []byte) (int, error) {
	r.note(up, p)
	return r.Conn.Write(p)
}

func (r recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.note(down, p[:n])
	return n, err
}

// converse has net/http fetch pages and upload content, in clear.
func converse(t *testing.T, protocols func(*nethttp.Protocols)) []said {
	t.Helper()
	var enabled nethttp.Protocols
	protocols(&enabled)
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/long" {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 100_000))
		}
	}))
	server.Config.Protocols = &enabled
	server.Start()
	defer server.Close()
	var (
		mu   sync.Mutex
		talk []said
	)
	transport := &nethttp.Transport{Protocols: &enabled, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return recorder{conn, &mu, &talk}, err
	}}
	client := &nethttp.Client{Transport: transport}
	fetch := func(method, path string, content io.Reader) {
		request, err := nethttp.NewRequest(method, server.URL+path, content)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	fetch("GET", "/", nil)
	fetch("POST", "/", strings.NewReader(strings.Repeat("y", 70_000)))
	fetch("GET", "/long", nil)
	transport.CloseIdleConnections()
	mu.Lock()
	defer mu.Unlock()
	return append([]said(nil), talk...)
}

// count counts events of a kind.
func count(list []http.Event, k http.Kind) (n int) {
	for _, e := range list {
		if e.Kind == k {
			n++
		}
	}
	return n
}

func checkThree(t *testing.T, list []http.Event) {
	t.Helper()
	for _, k := range []http.Kind{http.RequestStart, http.RequestEnd, http.ResponseStart, http.ResponseEnd} {
		if n := count(list, k); n != 3 {
			t.Errorf("%d of %q, want 3", n, k)
		}
	}
	if n := count(list, http.Broken); n != 0 {
		t.Errorf("broken:\n%s", lines(list))
	}
}

func TestNetHTTP1(t *testing.T) {
	talk := converse(t, func(p *nethttp.Protocols) { p.SetHTTP1(true) })
	list := read(http.NewConn("http/1.1"), talk, 64)
	checkThree(t, list)
	var total int64
	for _, s := range talk {
		if s.d == down {
			total += int64(len(s.data))
		}
	}
	for _, e := range list {
		if e.Kind == http.ResponseEnd && e.Stream == 2 && e.End != total {
			t.Errorf("the last response ends at %d of %d bytes", e.End, total)
		}
	}
}

// TestNetHTTP2 compares with the framer of x/net/http2: each of its frames, with
// its numbers, is an event.
func TestNetHTTP2(t *testing.T) {
	talk := converse(t, func(p *nethttp.Protocols) { p.SetUnencryptedHTTP2(true) })
	list := read(http.NewConn(""), talk, 64)
	checkThree(t, list)
	for _, d := range []lab.Direction{up, down} {
		var all bytes.Buffer
		for _, s := range talk {
			if s.d == d {
				all.WriteString(s.data)
			}
		}
		if d == up {
			all.Next(len(http2.ClientPreface))
		}
		compareFrames(t, d, &all, list)
	}
}

func compareFrames(t *testing.T, d lab.Direction, data io.Reader, list []http.Event) {
	t.Helper()
	var frames []http.Event // ours, without starts' HEADERS, ends and the preface
	for _, e := range list {
		switch e.Kind {
		case http.RequestEnd, http.ResponseEnd, http.Preface:
		default:
			if e.Way == d {
				frames = append(frames, e)
			}
		}
	}
	framer := http2.NewFramer(nil, data)
	framer.SetMaxReadFrameSize(1 << 20)
	for i := 0; ; i++ {
		f, err := framer.ReadFrame()
		if err != nil {
			if i != len(frames) || i < 5 {
				t.Errorf("%s: %d frames, x/net/http2 has %d", d, len(frames), i)
			}
			return
		}
		if i >= len(frames) || !same(f, frames[i]) {
			t.Fatalf("%s: frame %d is %v in x/net/http2; ours:\n%s", d, i, f, lines(frames))
		}
	}
}

// same says whether an event is a frame as x/net/http2 reads it.
func same(f http2.Frame, e http.Event) bool {
	h := f.Header()
	if uint64(h.StreamID) != e.Stream {
		return false
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		ok := f.NumSettings() == len(e.Settings) && (e.Kind == http.SettingsAck) == f.IsAck()
		for i, s := range e.Settings {
			theirs := f.Setting(i)
			ok = ok && s == http.Setting{ID: uint64(theirs.ID), Value: uint64(theirs.Val)}
		}
		return ok
	case *http2.WindowUpdateFrame:
		return e.Kind == http.WindowUpdate && e.Value == uint64(f.Increment)
	case *http2.DataFrame:
		return e.Kind == http.Data && e.Size == int64(h.Length) && e.End-e.Begin == int64(h.Length)+9
	case *http2.HeadersFrame:
		return e.Kind == http.RequestStart || e.Kind == http.ResponseStart
	case *http2.GoAwayFrame:
		return e.Kind == http.GoAway && e.Last == uint64(f.LastStreamID) && e.Value == uint64(f.ErrCode)
	case *http2.RSTStreamFrame:
		return e.Kind == http.Reset && e.Value == uint64(f.ErrCode)
	case *http2.PingFrame:
		return (e.Kind == http.PingAck) == f.IsAck()
	}
	return false
}
