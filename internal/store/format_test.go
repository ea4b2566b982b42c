package store

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// docs/format.md names every field that a folder's files have.
func TestFormatPageIsComplete(t *testing.T) {
	page, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	p := testPlan(1)
	p.LeftOut = []lab.LeftOut{{}}
	p.Runs[0].Cell.Path = everyWord()
	r := testRecord(p, 0)
	r.Requests = []lab.Request{{}}
	r.Server.Senders = []lab.Sender{{}}
	r.Kept = &lab.Kept{}
	r.Wire = fullWire()
	for name, file := range map[string]any{PlanFile: newPlanFile(p), RecordsFile: r, EnvironmentFile: ReadEnvironment()} {
		b, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		fields := map[string]bool{}
		collect(v, fields)
		if len(fields) < 10 {
			t.Errorf("%s has %d fields", name, len(fields))
		}
		for field := range fields {
			if !regexp.MustCompile("`([a-z]+\\.)?" + field + "[`.]").Match(page) {
				t.Errorf("%s: the page does not name %s", name, field)
			}
		}
	}
	// The example is a record, of this format.
	example := regexp.MustCompile("(?m)^{\"format\":.*}$").Find(page)
	got, err := parseRecord(example)
	if err != nil || got.Run.ID != lab.RunID(got.Run.Cell, got.Run.Rep) || got.Value(lab.Duration) == nil {
		t.Errorf("the example: %+v, %v", got, err)
	}
}

// fullWire has one of everything that a wire can have.
func fullWire() lab.Wire {
	way := lab.WireWay{LossRuns: []lab.LossRun{{}}, Usage: &lab.Usage{InFlight: []lab.Level{{}}, Delivered: []lab.Level{{}}}, Bursts: &lab.Bursts{}}
	return lab.Wire{
		Up: way, Down: way, Causes: []lab.Cause{{}}, Stalls: []lab.Stall{{Timers: []lab.Timer{{}}}},
		Conversations: []lab.Conversation{{Handshake: &lab.Handshake{}, QUIC: &lab.QUICFacts{}}},
	}
}

// everyWord is a path that has something to say under each key, though not a
// sensible one.
func everyWord() lab.Path {
	rare := lab.Chance{Share: 0.01}
	w := lab.Way{
		Delay: 1, Jitter: lab.Jitter{Spread: 1}, Rate: 1, Burst: 1, Police: true, Trace: lab.NewTrace("x", "1\n"),
		Queue: lab.Queue{Packets: 1}, Limit: 1, Throttle: lab.Throttle{Rate: 1}, Loss: lab.Loss{Share: 0.01}, Rules: "drop udp",
		Duplicate: rare, Corrupt: rare, Reorder: lab.Reorder{Share: 0.01}, MTU: 1400,
	}
	return lab.Path{Name: "p", Up: w, Down: w, Rebind: lab.Rebind{At: 1}}
}

func TestEveryWordIsWritten(t *testing.T) {
	b, err := json.Marshal(everyWord().Up)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(b, &keys); err != nil {
		t.Fatal(err)
	}
	for _, w := range lab.Words() {
		if _, ok := keys[w.Name]; !ok && w.Name != "distribution" {
			t.Errorf("everyWord does not say %s", w.Name)
		}
	}
}

// collect gathers the names of fields. Those of drops and sysctls are values,
// those of traces digests.
func collect(v any, names map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collect(item, names)
		}
	case map[string]any:
		for name, value := range v {
			names[name] = true
			if name != "drops" && name != "sysctls" && name != "traces" {
				collect(value, names)
			}
		}
	}
}
