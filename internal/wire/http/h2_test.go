package http_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/wire/http"
)

// TestH2 has what net/http does not say by itself: CONTINUATION, trailers, a
// reset, a push, padding, and a frame after its stream's end.
func TestH2(t *testing.T) {
	var a, b bytes.Buffer
	client, server := http2.NewFramer(&a, nil), http2.NewFramer(&b, nil)
	a.WriteString(http2.ClientPreface)
	must := func(errs ...error) {
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	must(client.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}, EndStream: true}),
		client.WriteContinuation(1, true, []byte{0x84}),
		client.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x82}, EndHeaders: true}),
		client.WriteRSTStream(3, http2.ErrCodeCancel),
		server.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: []byte{0x82}, EndHeaders: true, PadLength: 3}),
		server.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}, EndHeaders: true}),
		server.WriteDataPadded(1, false, []byte("abc"), []byte{0, 0}),
		server.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true}),
		server.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true}),
		server.WriteHeaders(http2.HeadersFrameParam{StreamID: 2, BlockFragment: []byte{0x88}, EndHeaders: true}),
		server.WriteData(2, true, nil),
		server.WriteRawFrame(0x42, 0, 0, nil))
	const want = `up preface 0 [0,24)
up request 1 [24,33)
up HEADERS 1 [34,44)
up end of request 1 [34,44)
up request 3 [44,53)
up RST_STREAM 3 [54,67)
down PUSH_PROMISE 1 [0,18)
down response 1 [18,27)
down DATA 1 [28,43)
down HEADERS 1 [43,53)
down end of response 1 [43,53)
down HEADERS 3 [53,63)
down response 2 [63,72)
down DATA 2 [73,82)
down end of response 2 [73,82)
down other 0 [82,91) frame type 0x42
`
	talk := []said{{up, a.String()}, {down, b.String()}}
	for _, size := range []int{0, 1, 10} {
		list := read(http.NewConn("h2"), talk, size)
		if d := cmp.Diff(want, lines(list)); d != "" {
			t.Errorf("pieces of %d: %s", size, d)
		}
		for _, e := range list {
			if e.Kind == http.Push && e.Value != 2 || e.Kind == http.Reset && e.Value != 8 || e.Kind == http.Data && e.Stream == 1 && e.Size != 6 {
				t.Errorf("%+v", e)
			}
		}
	}
}

func TestH2Broken(t *testing.T) {
	for data, want := range map[string]string{
		"GET / HTTP/1.1\r\n": "no connection preface",
		http2.ClientPreface + "\x00\x00\x01\x08\x00\x00\x00\x00\x00\x00": "WINDOW_UPDATE frame of 1 bytes, want 4",
	} {
		list := http.NewConn("h2").Read(up, []byte(data))
		if last := list[len(list)-1]; last.Kind != http.Broken || !strings.Contains(last.Note, want) {
			t.Errorf("%q: %+v", data, last)
		}
	}
}
