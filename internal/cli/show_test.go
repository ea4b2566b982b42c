package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

func TestFindRecord(t *testing.T) {
	run := func(id string, order int) lab.Run { return lab.Run{ID: id, Order: order} }
	p := lab.Plan{Runs: []lab.Run{run("abcdefgh-1", 1), run("abcdefgh-12", 2), run("3bcdefgh-1", 3), run("zzzzzzzz-1", 4)}}
	records := []lab.Record{
		{Run: p.Runs[0], Attempt: 1, Outcome: lab.Invalid}, {Run: p.Runs[0], Attempt: 2, Outcome: lab.OK},
		{Run: p.Runs[1], Attempt: 1, Outcome: lab.Invalid}, {Run: p.Runs[1], Attempt: 2, Outcome: lab.Invalid},
		{Run: p.Runs[2], Attempt: 1, Outcome: lab.Stalled},
		{Run: lab.Run{ID: "repeated-9", Order: 7, Rep: 9, Repeats: 2}, Attempt: 1, Outcome: lab.OK},
	}
	for _, tt := range []struct {
		name    string
		attempt int
		id      string
		got     int
		fault   string
	}{
		{name: "abcdefgh-1", id: "abcdefgh-1", got: 2}, // exact, though it is also the start of another
		{name: "1", id: "abcdefgh-1", got: 2},
		{name: "1", attempt: 1, id: "abcdefgh-1", got: 1},
		{name: "2", id: "abcdefgh-12", got: 2},
		{name: "3", id: "3bcdefgh-1", got: 1},
		{name: "3b", id: "3bcdefgh-1", got: 1},
		{name: "abc", fault: "2 runs begin with"},
		{name: "4", fault: "not been carried out"},
		{name: "repeated-9", id: "repeated-9", got: 1}, // not in the plan
		{name: "rep", id: "repeated-9", got: 1},
		{name: "7", id: "repeated-9", got: 1},
		{name: "5", fault: "no run"},
		{name: "", fault: "no run"},
		{name: "3", attempt: 7, fault: "no attempt 7: there is 1"},
	} {
		r, err := findRecord(p, records, tt.name, tt.attempt)
		switch {
		case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
			t.Errorf("%q: %v, want an error with %q", tt.name, err, tt.fault)
		case tt.fault == "" && (err != nil || r.Run.ID != tt.id || r.Attempt != tt.got):
			t.Errorf("%q: %s attempt %d, %v, want %s attempt %d", tt.name, r.Run.ID, r.Attempt, err, tt.id, tt.got)
		}
	}
}

// Real captures: all that is in them is read, and told.
func TestShowCapture(t *testing.T) {
	for name, want := range map[string][]string{
		"cold-h1.pcapng": {"TCP SYN: MSS 1460", "TLS: ClientHello", "TLS: ServerHello", "TCP FIN ACK", "ALPN http/1.1 of http/1.1", "TLS_AES_128_GCM_SHA256"},
		"cold-h3.pcapng": {"Initial[0]:", "Handshake[2] + 1-RTT[3]:", "HANDSHAKE_DONE", "CONNECTION_CLOSE 0x100 by the application", "QUIC: version 1"},
	} {
		var out, errs bytes.Buffer
		if got := run([]string{"show", "testdata/show/" + name, "--packets", "all"}, streams{nil, &out, &errs}); got != exitOK {
			t.Fatalf("%s: exit status %d: %s", name, got, errs.String())
		}
		text := out.String()
		for _, w := range append(want, "A capture alone: samewire run", "for server.samewire.test", "the load ends") {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is not told", name, w)
			}
		}
		for _, bad := range []string{"not opened", "not decodable", "cannot be read: "} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q", name, bad)
			}
		}
	}
}

// A capture that was cut is not taken for the whole run.
func TestMissingPackets(t *testing.T) {
	facts := lab.Wire{}
	facts.Up.Packets, facts.Down.Packets = 3, 4
	c := &wire.Capture{Packets: make([]wire.Packet, 5), Skipped: 2}
	if note := missing(c, facts); note != "" {
		t.Errorf("a whole capture: %q", note)
	}
	c.Packets = c.Packets[:4]
	if note := missing(c, facts); !strings.Contains(note, "6 of the 7 packets") {
		t.Errorf("a cut one: %q", note)
	}
}
