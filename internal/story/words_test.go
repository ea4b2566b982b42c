package story

import (
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// Each frame of RFC 9000 has its words.
func TestFrameWords(t *testing.T) {
	for _, tt := range []struct {
		frame quic.Frame
		want  string
	}{
		{quic.Frame{Kind: quic.Ping}, "PING"},
		{quic.Frame{Kind: quic.Padding, Length: 12}, "PADDING 12"},
		{acks(quic.Range{Smallest: 14, Largest: 14}, quic.Range{Largest: 12}), "ACK 14, 0-12"},
		{quic.Frame{Kind: quic.Ack, Ranges: make([]quic.Range, 9), ECN: &[3]uint64{1, 0, 3}}, "ACK 0, 0, 0, 0, 0, 0, … 3 ranges more (ECN: 1 ECT(0), 3 CE)"},
		{quic.Frame{Kind: quic.Stream, Stream: 4, Length: 1200, Offset: 2400, Fin: true}, "STREAM 4 +1200 at 2400 FIN"},
		{quic.Frame{Kind: quic.Crypto, Length: 90}, "CRYPTO +90"},
		{quic.Frame{Kind: quic.MaxData, Max: 1 << 20}, "MAX_DATA 1,048,576"},
		{quic.Frame{Kind: quic.MaxStreamData, Stream: 8, Max: 1000}, "MAX_STREAM_DATA 8: 1,000"},
		{quic.Frame{Kind: quic.MaxStreams, Uni: true, Max: 3}, "MAX_STREAMS one-way 3"},
		{quic.Frame{Kind: quic.StreamsBlocked, Max: 3}, "STREAMS_BLOCKED two-way 3"},
		{quic.Frame{Kind: quic.ResetStream, Stream: 4, Error: 0x10c, Max: 77}, "RESET_STREAM 4 error 0x10c, final size 77"},
		{quic.Frame{Kind: quic.StopSending, Stream: 4, Error: 1}, "STOP_SENDING 4 error 0x1"},
		{quic.Frame{Kind: quic.NewConnectionID, Sequence: 2}, "NEW_CONNECTION_ID 2"},
		{quic.Frame{Kind: quic.RetireConnectionID, Sequence: 1}, "RETIRE_CONNECTION_ID 1"},
		{quic.Frame{Kind: quic.NewToken, Length: 60}, "NEW_TOKEN +60"},
		{quic.Frame{Kind: quic.ConnectionClose, Error: 2, Reason: "no\x1b"}, `CONNECTION_CLOSE 0x2 "no\x1b"`},
		{quic.Frame{Kind: quic.HandshakeDone}, "HANDSHAKE_DONE"},
	} {
		if got := frame(&tt.frame, fewParts); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// A datagram says what could not be opened, and why.
func TestPacketWords(t *testing.T) {
	for _, tt := range []struct {
		packets []quic.Packet
		want    string
	}{
		{[]quic.Packet{{Kind: quic.OneRTT, Size: 33}}, "1-RTT: 33 B, not opened: no secrets"},
		{[]quic.Packet{{Kind: quic.VersionNegotiation, Supported: []uint32{1, 0x6b3343cf, 0xa0b0c0d}}}, "VersionNegotiation: supported: 1, 2, 0x0a0b0c0d"},
		{[]quic.Packet{opened(quic.Initial, 3, quic.Frame{Kind: quic.Ping}), {Kind: quic.Handshake, Size: 9, Problem: "no keys"}},
			"Initial[3] + Handshake: Initial: PING, Handshake: 9 B, not opened: no keys"},
	} {
		e := wire.Event{Packet: &wire.Packet{}, QUIC: tt.packets}
		title, parts := what(&e, fewParts)
		if got := (row{title: title, parts: parts}).text(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

func TestMessageWords(t *testing.T) {
	whole := func(streams ...uint64) (list []wire.Message) {
		for _, s := range streams {
			list = append(list, wire.Message{Kind: wire.RequestStart, Stream: s}, wire.Message{Kind: wire.RequestEnd, Stream: s})
		}
		return list
	}
	for _, tt := range []struct {
		list []wire.Message
		want string
	}{
		{whole(0), "request 0"},
		{whole(0, 4, 8), "requests 0, 4, 8"},
		{whole(0, 4, 8, 12, 16), "requests 0, 4 … 16 (5)"},
		{[]wire.Message{{Kind: wire.ResponseStart, Stream: 4}}, "response 4 begins"},
		{[]wire.Message{{Kind: wire.ResponseEnd}, {Kind: wire.ResponseEnd, Stream: 4}}, "responses 0, 4 end"},
		{[]wire.Message{{Kind: wire.OtherMessage, Note: "SETTINGS\x07"}}, `SETTINGS\a`},
		{[]wire.Message{{Kind: wire.ApplicationData}}, "encrypted record"},
		{[]wire.Message{{Kind: wire.ClientHello, Early: true}, {Kind: wire.Finished, Note: "of the client"}}, "ClientHello as early data, Finished (of the client)"},
	} {
		if got := strings.Join(messages(tt.list, fewParts), ", "); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

func TestSegmentWords(t *testing.T) {
	e := wire.Event{Packet: &wire.Packet{}, AckOffset: 100, Again: 10, New: 5}
	e.IP = ip.Packet{Proto: ip.ProtoTCP, Size: 15, TCP: ip.TCP{Flags: ip.ACK | ip.ECE, Ack: 5, SACKs: 1}}
	e.IP.TCP.SACK[0] = ip.Block{Left: 15, Right: 25}
	e.Fate.Marked = true
	title, parts := what(&e, fewParts)
	want := "TCP: data +15 at 0, ACK 100, SACK 110–120, window 0, congestion echoed (ECE), 10 B of it sent before, marked with congestion experienced"
	if got := (row{title: title, parts: parts}).text(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		seconds(0): "0 ms", seconds(0.0001): "100 µs", seconds(0.0051): "5.1 ms", seconds(0.301): "301 ms", seconds(1.59): "1.59 s",
		seconds(19.44): "19.4 s", seconds(107.9): "108 s", size(52): "52 B", size(11_234): "11.2 kB", size(594_000): "594 kB",
		size(3_000_000): "3.00 MB", size(999_600): "1.00 MB", exact(61440): "61,440", exact(-1234567): "-1,234,567", exact(0): "0",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
