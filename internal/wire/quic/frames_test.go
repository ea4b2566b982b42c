package quic

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// goodFrames has each type of frame, in digits, with what it says.
var goodFrames = []struct{ digits, want string }{
	{"000000", "PADDING 3"},
	{"01", "PING"},
	{"020a0501020102", "ACK 8-10 3-5"},
	{"03000000000102c003000000000000", "ACK 0-0 ecn [1 2 844424930131968]"},
	{"0404054006", "RESET_STREAM 4 5 6 0"},
	{"050406", "STOP_SENDING 4 6"},
	{"060502aabb", "CRYPTO 5+2"},
	{"0702aabb", "NEW_TOKEN aabb"},
	{"0804aabb", "STREAM 4 0+2 false"},
	{"0b0401aa", "STREAM 4 0+1 true"},
	{"0c0440ffaa", "STREAM 4 255+1 false"},
	{"0f040900", "STREAM 4 9+0 true"},
	{"1041ff", "MAX_DATA 511"},
	{"110441ff", "MAX_STREAM_DATA 4 511"},
	{"1207", "MAX_STREAMS false 7"},
	{"1307", "MAX_STREAMS true 7"},
	{"1408", "DATA_BLOCKED 8"},
	{"150408", "STREAM_DATA_BLOCKED 4 8"},
	{"1608", "STREAMS_BLOCKED false 8"},
	{"1708", "STREAMS_BLOCKED true 8"},
	{"18020102aabb000102030405060708090a0b0c0d0e0f", "NEW_CONNECTION_ID 2 1 aabb 000102030405060708090a0b0c0d0e0f"},
	{"1902", "RETIRE_CONNECTION_ID 2"},
	{"1a0001020304050607", "PATH_CHALLENGE 0001020304050607"},
	{"1b0001020304050607", "PATH_RESPONSE 0001020304050607"},
	{"1c0a0602" + "6869", `CONNECTION_CLOSE false 10 6 "hi"`},
	{"1d0a00", `CONNECTION_CLOSE true 10 0 ""`},
	{"1e", "HANDSHAKE_DONE"},
	{"1f", "IMMEDIATE_ACK"},
	{"240405060600", "RESET_STREAM_AT 4 5 6 6; PADDING 1"},
	{"30aabb", "DATAGRAM 2"},
	{"3101aa", "DATAGRAM 1"},
	{"40af01020304", "ACK_FREQUENCY"},
}

func TestFrames(t *testing.T) {
	for _, c := range goodFrames {
		var f frameReader
		b := unhex(t, c.digits)
		frames, problem := f.read(OneRTT, b)
		if got := strings.Join(frameTexts(frames), "; "); got != c.want || problem != "" {
			t.Errorf("%s: %s (%s), want %s", c.digits, got, problem, c.want)
		}
		// Cut anywhere, it is bad, and the frame before it stays. Frames up to the
		// packet's end, and PADDING, are whole anywhere.
		if slices.Contains([]string{"PADDING 3", "STREAM 4 0+2 false", "STREAM 4 255+1 false", "DATAGRAM 2"}, c.want) || strings.Contains(c.want, ";") {
			continue
		}
		for n := 1; n < len(b); n++ {
			frames, problem := f.read(OneRTT, append([]byte{1}, b[:n]...))
			if problem == "" || len(frames) != 1 || frames[0].Kind != Ping {
				t.Errorf("%s cut to %d bytes: %v (%s)", c.digits, n, frameTexts(frames), problem)
			}
		}
	}
}

func TestBadFrames(t *testing.T) {
	for _, c := range []struct {
		kind         Kind
		digits, want string
	}{
		{OneRTT, "4001", "a frame's type is not in its shortest form"},
		{OneRTT, "21", "frame type 0x21 is not known"},
		{OneRTT, "0205000006", "ACK has a first range that begins below 0"},
		{OneRTT, "02050001020200", "ACK has a range that begins below 0"},
		{OneRTT, "020500ffffffffffffffff00", "frame ACK ends beyond the packet"},
		{OneRTT, "06ffffffffffffffff01aa", "CRYPTO ends beyond offset 2^62-1"},
		{OneRTT, "0700", "NEW_TOKEN has an empty token"},
		{OneRTT, "12d000000000000001", "MAX_STREAMS says 1152921504606846977, more than 2^60"},
		{OneRTT, "18000000" + strings.Repeat("00", 16), "NEW_CONNECTION_ID has an ID of 0 bytes; 1 to 20 are allowed"},
		{OneRTT, "18000101aa" + strings.Repeat("00", 16), "NEW_CONNECTION_ID retires IDs beyond its own"},
		{OneRTT, "2404050607", "RESET_STREAM_AT has a reliable size beyond the final size"},
		{OneRTT, "", "the packet has no frames"},
		{Initial, "0804aabb", "frame type 0x8 is not allowed in a packet of kind Initial"},
		{Handshake, "1d0a00", "frame type 0x1d is not allowed in a packet of kind Handshake"},
		{ZeroRTT, "0200000000", "frame type 0x2 is not allowed in a packet of kind 0-RTT"},
	} {
		var f frameReader
		if _, problem := f.read(c.kind, unhex(t, c.digits)); problem != c.want {
			t.Errorf("%s in %s: %q, want %q", c.digits, c.kind, problem, c.want)
		}
	}
	var f frameReader
	if frames, problem := f.read(OneRTT, bytes.Repeat([]byte{1}, 60000)); len(frames) != maxFrames || problem == "" {
		t.Errorf("%d frames (%s)", len(frames), problem)
	}
}

// Frames handed out stay as they are, whatever is read later.
func TestFramesStay(t *testing.T) {
	var f frameReader
	ack := unhex(t, "020a0501020102")
	first, _ := f.read(OneRTT, ack)
	for range 2000 {
		if _, problem := f.read(OneRTT, unhex(t, "020f0001050301")); problem != "" {
			t.Fatal(problem)
		}
	}
	if got := frameText(&first[0]); got != "ACK 8-10 3-5" {
		t.Error(got)
	}
}
