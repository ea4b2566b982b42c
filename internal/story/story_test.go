package story

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func ptr[T any](v T) *T { return &v }

func record(p lab.Protocol, outcome lab.Outcome, duration float64) *lab.Record {
	way := lab.Way{Delay: oneWay, Rate: 100e6}
	return &lab.Record{
		Format: lab.FormatVersion, Attempt: 1, Outcome: outcome,
		Run: lab.Run{
			ID: "5fpulogb-1", Rep: 1, Order: 3, Seed: 7,
			Cell: lab.Cell{
				Path: lab.Path{Name: "wired", Up: way, Down: way}, Load: lab.Load{Name: "big", Objects: 1, Size: 62000},
				Stack: lab.DefaultStack, Site: lab.Virtual, Protocol: p,
			},
		},
		Samples: []lab.Sample{{Metric: lab.Duration, Unit: "s", Value: &duration}, {Metric: lab.TTFB, Unit: "s", Value: ptr(0.1204)}},
		Server:  lab.Side{Program: "samewire 0.1.0", Senders: []lab.Sender{{Transport: "tcp", CC: "cubic", InitialWindow: 10, Source: "socket"}}},
	}
}

// good is a run over TCP with all of its facts.
func good() Story {
	r := record(lab.H2, lab.OK, 0.4402)
	r.Wire = lab.Wire{
		Up: lab.WireWay{Packets: 25, Bytes: 2400, Payload: 665, Drops: map[string]int{}, Retransmitted: ptr(int64(0))},
		Down: lab.WireWay{
			Packets: 46, Bytes: 68000, Payload: 65000, Drops: map[string]int{"loss": 1}, Retransmitted: ptr(int64(1448)),
			LossRuns: []lab.LossRun{{Length: 1, Count: 1}},
			Usage: &lab.Usage{Busy: ptr(0.013), Idle: ptr(0.26), QueueDelayP50: ptr(0.0), QueueDelayP99: ptr(0.0012), QueueDelayMax: ptr(0.0013),
				QueuePackets: ptr(9), InFlightPeak: ptr(int64(57920))},
			Bursts: &lab.Bursts{Gap: 0.001, Count: 3, Largest: 41, Median: 10, Share: 0.9, LostMiddle: 1, Paced: ptr(false)},
		},
		Connections: 1, RoundTrips: ptr(3.0), HandshakeRoundTrips: ptr(2.0), GoodputShare: ptr(0.913),
		Causes: []lab.Cause{
			{Packet: 1, Direction: "up", At: 0, What: "SYN"},
			{Packet: 2, Direction: "down", At: 0.02, What: "SYN ACK", Why: "it answers the SYN"},
			{Packet: 4, Direction: "up", At: 0.0401, What: "ClientHello", Why: "TCP sends data once the connection is established"},
			{Packet: 6, Direction: "down", At: 0.0602, What: "Finished", Why: "it answers the ClientHello"},
			{Packet: 7, Direction: "up", At: 0.0803, What: "request 0", Why: "it is sealed with keys of the handshake"},
			{Packet: 8, Direction: "down", At: 0.1004, What: "response 0", Why: "it answers the request"},
		},
		Conversations: []lab.Conversation{{
			Transport: "tcp", Client: client.String(), Server: server.String(), Packets: 71,
			Handshake: &lab.Handshake{TLS: "1.3", ServerName: "server.test", Offered: []string{"h2"}, ALPN: "h2", Suite: "TLS_AES_128_GCM_SHA256",
				Group: "X25519MLKEM768", ClientSize: ptr(512), ServerSize: 1548, EarlyData: "none", Tickets: 1, RoundTrips: ptr(2.0)},
			Up: lab.SenderFacts{Payload: ptr(int64(665)), Retransmitted: ptr(int64(0)), FirstFlight: ptr(int64(517)), Recoveries: &lab.Recoveries{}},
			Down: lab.SenderFacts{Payload: ptr(int64(62364)), Retransmitted: ptr(int64(1448)), Recoveries: &lab.Recoveries{Fast: 1},
				InitialWindow: ptr(int64(14480)), InitialWindowPackets: ptr(10), Backoff: ptr(0.7), CC: "cubic", CCWhy: "0.7 of the window is left after a loss"},
		}},
	}
	return Story{Record: r, Facts: &r.Wire, Reading: overTCP(), Path: "rtt 40ms rate 100mbit"}
}

// stalled is a run over QUIC with an autopsy, and with hostile text wherever
// text comes from packets.
func stalled() Story {
	r := record(lab.H3, lab.Stalled, 108)
	r.Reason = "the wire was silent: " + hostile
	r.Wire = lab.Wire{
		Down:        lab.WireWay{Packets: 16, Drops: map[string]int{"rule": 12}},
		Connections: 1,
		Conversations: []lab.Conversation{{
			Transport: "quic", Client: client.String(), Server: server.String(), Packets: 19,
			Handshake: &lab.Handshake{TLS: "1.3", ServerName: hostile, Offered: []string{hostile}, ClientSize: ptr(300), EarlyData: "accepted", EarlyBytes: 60},
			QUIC: &lab.QUICFacts{Version: "1", ClientID: ptr(0), ServerID: ptr(4), SentBefore: ptr(int64(3600)), ReceivedBefore: ptr(int64(1200)),
				Amplification: ptr(3.0), Blocked: true, SmallestInitialUp: ptr(1200), Coalesced: 2},
			Down: lab.SenderFacts{Payload: ptr(int64(15600)), Recoveries: &lab.Recoveries{PTO: 2}},
		}},
		Stalls: []lab.Stall{{
			At: 0.1005, Length: 107.8995, Ended: true, Delivered: 1200, LastSpoke: "client", ShouldAct: "server",
			Owed: []string{"14,400 B of stream 0 in flight from the server"},
			Timers: []lab.Timer{
				{Side: "server", Name: "pto", Due: 0.22, Why: "3 × smoothed RTT, RFC 9002, section 6.2.1"},
				{Side: "server", Name: "pto", Due: 0.34, Fired: true, Why: hostile},
			},
			Sentence: "the server had 14,400 B in flight; its probe timeout should have fired at 0.22 s; it sent nothing for 108 s " + hostile,
		}},
	}
	return Story{Record: r, Facts: &r.Wire, Reading: overQUIC()}
}

// stories are those of the golden files.
func stories() map[string]Story {
	kept := good()
	kept.Reading, kept.Notes = nil, []string{"No capture of this run was kept."}
	return map[string]Story{
		"good": good(), "stalled": stalled(), "nothing-kept": kept,
		"sealed": {Reading: sealed(), Facts: &lab.Wire{NotKept: 2}}, "empty": {Reading: &wire.Reading{Capture: &wire.Capture{}}},
	}
}

func textOf(t *testing.T, s Story, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	for name, s := range stories() {
		golden(t, name+".txt", textOf(t, s, Options{}))
	}
	golden(t, "stalled-narrow-all.txt", textOf(t, stalled(), Options{Width: 72, Packets: All}))
	golden(t, "good-none.txt", textOf(t, good(), Options{Packets: None}))
}

// No line is wider than asked, whatever the width.
func TestWidth(t *testing.T) {
	for name, s := range stories() {
		for _, n := range []int{60, 72, 89, 90, 100, 180} {
			for i, l := range strings.Split(textOf(t, s, Options{Width: n, Packets: All}), "\n") {
				if width(l) > n {
					t.Errorf("%s, width %d: line %d has %d columns: %s", name, n, i+1, width(l), l)
				}
			}
		}
	}
}

// Nothing of a packet moves the cursor, colours, or ends the markup.
func TestHostileTextIsEscaped(t *testing.T) {
	for _, p := range []Packets{Folded, All} {
		out := map[string]string{"text": textOf(t, stalled(), Options{Packets: p}), "json": jsonOf(t, stalled())}
		for kind, s := range out {
			if !strings.Contains(s, "bye") {
				t.Errorf("%s: the reason of the close is not there", kind)
			}
			for _, r := range s {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%s has the character %U", kind, r)
				}
			}
		}
	}
}

// Colours change nothing but the colours, and only where they are asked for.
func TestColor(t *testing.T) {
	plain, colored := textOf(t, good(), Options{}), textOf(t, good(), Options{Color: true})
	for _, code := range []string{"\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"} {
		if !strings.Contains(colored, code) {
			t.Errorf("%q is not there", code)
		}
		colored = strings.ReplaceAll(colored, code, "")
	}
	trim := func(s string) string {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		return strings.Join(lines, "\n")
	}
	if diff := cmp.Diff(plain, trim(colored)); diff != "" {
		t.Errorf("(-plain +colored):\n%s", diff)
	}
}
