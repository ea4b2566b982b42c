package http_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/hostile"
	"github.com/samewire/samewire/internal/wire/http"
)

// sent is a piece of a QUIC stream.
type sent struct {
	d      lab.Direction
	stream uint64
	data   string
	fin    bool
}

func read3(c *http.H3, talk []sent, size int) []http.Event {
	var list []http.Event
	for _, s := range talk {
		data := s.data
		for size > 0 && len(data) > size {
			list = append(list, c.Read(s.d, s.stream, []byte(data[:size]), false)...)
			data = data[size:]
		}
		list = append(list, c.Read(s.d, s.stream, []byte(data), s.fin)...)
	}
	return list
}

func TestH3(t *testing.T) {
	talk := []sent{
		{up, 2, "\x00\x04\x05\x06\x80\x01\x00\x00\x07\x01\x08", false}, // control: SETTINGS, GOAWAY
		{up, 6, "\x02\x01\x02", false},                                 // QPACK encoder
		{up, 0, "\x40\x21\x01x\x01\x02ab\x00\x40\x03", false},          // reserved frame, HEADERS, DATA
		{up, 0, "cde", true},
		{down, 0, "\x01\x01h\x00\x00", false},
		{down, 0, "", true}, // the FIN alone
		{down, 15, "\x01\x40\x05\x01\x01h", true},
		{up, 4, "\x01\x05a", true},
		{down, 1, "any", true},
	}
	const want = `up stream 2 [0,1) control
up SETTINGS 2 [1,8)
up GOAWAY 2 [8,11)
up stream 6 [0,1) QPACK encoder
up other 0 [0,4) frame type 0x21
up request 0 [4,6)
up DATA 0 [8,14)
up end of request 0 [14,14)
down response 0 [0,2)
down DATA 0 [3,5)
down end of response 0 [5,5)
down stream 15 [0,1) push
down HEADERS 15 [3,6)
up request 4 [0,2)
up broken 4 [0,3) the stream ends within a frame
`
	for _, size := range []int{0, 1, 2} {
		list := read3(http.NewH3(), talk, size)
		if d := cmp.Diff(want, lines(list)); d != "" {
			t.Errorf("pieces of %d: %s", size, d)
		}
		if s := list[1].Settings; len(s) != 1 || s[0] != (http.Setting{ID: 6, Value: 65536}) {
			t.Errorf("settings %v", s)
		}
		if list[2].Value != 8 {
			t.Errorf("GOAWAY %+v", list[2])
		}
	}
}

func FuzzH3(tf *testing.F) {
	f := hostile.Wrap(tf)
	f.Add(uint64(2), []byte("\x00\x04\x05\x06\x80\x01\x00\x00\x07\x01\x08"), byte(1))
	f.Add(uint64(0), []byte("\x40\x21\x01x\x01\x02ab\x00\x40\x03cde"), byte(2))
	f.Add(uint64(15), []byte("\x01\x40\x05\x01\x01h"), byte(3))
	f.Fuzz(func(t *testing.T, stream uint64, data []byte, size byte) {
		talk := []sent{{down, stream, string(data), true}}
		want := read3(http.NewH3(), talk, 0)
		if d := cmp.Diff(lines(want), lines(read3(http.NewH3(), talk, int(size)))); d != "" {
			t.Errorf("pieces of %d: %s", size, d)
		}
		for _, e := range want {
			if e.Begin < 0 || e.Begin > e.End || e.End > int64(len(data)) {
				t.Errorf("%+v", e)
			}
		}
	})
}
