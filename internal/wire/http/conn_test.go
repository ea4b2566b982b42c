package http_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/hostile"
	"github.com/samewire/samewire/internal/wire/http"
)

// said is a piece of a conversation.
type said struct {
	d    lab.Direction
	data string
}

const up, down = lab.Up, lab.Down

// read reads a conversation in pieces of at most size bytes; 0: as it was said.
func read(c *http.Conn, talk []said, size int) []http.Event {
	var list []http.Event
	for _, s := range talk {
		for data := s.data; data != ""; {
			n := len(data)
			if size > 0 {
				n = min(n, size)
			}
			list = append(list, c.Read(s.d, []byte(data[:n]))...)
			data = data[n:]
		}
	}
	list = append(list, c.Close(up)...)
	return append(list, c.Close(down)...)
}

// lines writes events down, one a line.
func lines(list []http.Event) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%s %s %d [%d,%d)", e.Way, e.Kind, e.Stream, e.Begin, e.End)
		if e.Note != "" {
			fmt.Fprintf(&b, " %s", e.Note)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestH1(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n" // 27 bytes
	tests := []struct {
		name string
		talk []said
		want string
	}{
		{"content-length and pipelining", []said{
			{up, get + "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"},
			{down, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"},
			{down, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		}, `up request 0 [0,1)
up end of request 0 [26,27)
up request 1 [27,28)
up end of request 1 [67,68)
down response 0 [0,1)
down end of response 0 [42,43)
down response 1 [43,44)
down end of response 1 [80,81)
`},
		{"chunked both ways, with trailers", []said{
			{up, "PUT / HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n"},
			{down, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nT: x\r\n\r\n"},
		}, `up request 0 [0,1)
up end of request 0 [68,69)
down response 0 [0,1)
down end of response 0 [72,73)
`},
		{"interim, HEAD, 304, until close", []said{
			{up, "HEAD / HTTP/1.1\r\n\r\n" + get + get},
			{down, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"},
			{down, "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n" + "HTTP/1.0 200 OK\r\n\r\nuntil the end"},
		}, `up request 0 [0,1)
up end of request 0 [18,19)
up request 1 [19,20)
up end of request 1 [45,46)
up request 2 [46,47)
up end of request 2 [72,73)
down response 0 [0,1)
down end of response 0 [74,75)
down response 1 [75,76)
down end of response 1 [122,123)
down response 2 [123,124)
down end of response 2 [155,155)
`},
		{"switching protocols", []said{
			{up, get}, {down, "HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x00"}, {up, "\x81\x00\r\n"},
		}, `up request 0 [0,1)
up end of request 0 [26,27)
down response 0 [0,1)
down end of response 0 [35,36)
`},
		{"broken", []said{{up, "hello world\r\n" + get}, {down, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"}},
			`up request 0 [0,1)
up broken 0 [0,0) no request line of HTTP/1: "hello world"
down response 0 [0,1)
down broken 0 [17,17) content-length "-1"
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, alpn := range []string{"http/1.1", ""} {
				for _, size := range []int{0, 1, 5} {
					if d := cmp.Diff(tt.want, lines(read(http.NewConn(alpn), tt.talk, size))); d != "" {
						t.Errorf("ALPN %q, pieces of %d: %s", alpn, size, d)
					}
				}
			}
		})
	}
}

func TestLost(t *testing.T) {
	c := http.NewConn("http/1.1")
	c.Lost(up)
	if list := c.Read(up, []byte("GET / HTTP/1.1\r\n\r\n")); list != nil {
		t.Error(lines(list))
	}
	if got := lines(c.Read(down, []byte("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))); strings.Count(got, "response") != 2 {
		t.Error(got)
	}
}

func TestRestart(t *testing.T) {
	c := http.NewConn("http/1.1")
	want := lines(c.Read(up, []byte("GET / HTTP/1.1\r\n\r\n")))
	c.Restart(up)
	if got := lines(c.Read(up, []byte("GET / HTTP/1.1\r\n\r\n"))); got != want {
		t.Errorf("after a restart %s\nwant %s", got, want)
	}
}

func FuzzConn(tf *testing.F) {
	f := hostile.Wrap(tf)
	f.Add("http/1.1", []byte("GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"), byte(3))
	f.Add("h2", []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x01\x01\x05\x00\x00\x00\x01\x82"), []byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04\x00\x00\xff\xff\x00\x00\x01\x01\x05\x00\x00\x00\x01\x88"), byte(1))
	f.Add("", []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x01"), []byte("\x00\x00\x05\x05\x0c\x00\x00\x00\x01\x00\x00\x00\x00\x02"), byte(2))
	f.Fuzz(func(t *testing.T, alpn string, a, b []byte, size byte) {
		talk := []said{{up, string(a)}, {down, string(b)}}
		want := read(http.NewConn(alpn), talk, 0)
		if d := cmp.Diff(lines(want), lines(read(http.NewConn(alpn), talk, int(size)))); d != "" {
			t.Errorf("pieces of %d: %s", size, d)
		}
		for _, e := range want {
			if e.Begin < 0 || e.Begin > e.End || e.End > int64(max(len(a), len(b))) || len(e.Settings) > http.MaxSettings {
				t.Errorf("%+v", e)
			}
		}
	})
}
