package lab

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWayJSON(t *testing.T) {
	const ms = time.Millisecond
	trace := NewTrace("a/cell.trace", "1\n2\n")
	for _, tt := range []struct {
		way  Way
		want string
	}{
		{Way{}, `{}`},
		{Way{Delay: 20 * ms, Rate: 100e6, Loss: Loss{Share: 0.01}, Queue: Queue{BDP: 1}}, `{"delay":"20ms","rate":"100mbit","queue":"1bdp","loss":"1%"}`},
		{
			Way{Delay: 1, Jitter: Jitter{5 * ms, 0.25, Pareto, true}, Rate: 1500, Overhead: 14, Burst: 1500, Police: true, Limit: 3},
			`{"delay":"1ns","jitter":"5ms 25% pareto in-order","rate":"1500bit 14","burst":"1500B","police":true,"limit":"3"}`,
		},
		{
			Way{Trace: trace, AQM: AQM{Kind: FQCoDel, ECN: true, Flows: 3}, Throttle: Throttle{UDP, 1e6, 0}},
			`{"queue":"fq_codel ecn flows 3","throttle":"udp 1mbit","trace":"a/cell.trace","trace_sha256":"` + trace.SHA256 + `"}`,
		},
		{
			Way{Loss: Loss{Gilbert: Gilbert{0.01, 0.1, 1, 0}, Super: true}, Rules: "drop udp; outage from 5s to 7s", Reorder: Reorder{0.5, 0, 5}},
			`{"loss":"gemodel 1% 10% super","reorder":"50% gap 5","rules":["drop udp","outage from 5s to 7s"]}`,
		},
		{Way{TooBig: true, Shrink: Shrink{1280, 0}, Corrupt: Chance{1, 0}}, `{"corrupt":"100%","mtu":"default icmp then 1280 at 0s"}`},
	} {
		b, err := json.Marshal(tt.way)
		if err != nil || string(b) != tt.want {
			t.Errorf("got  %s, %v\nwant %s", b, err, tt.want)
			continue
		}
		var got Path
		err = json.Unmarshal([]byte(`{"up":`+tt.want+`}`), &got)
		if err == nil {
			err = Traces{trace.SHA256: trace.Data}.Attach(&got)
		}
		if diff := cmp.Diff(tt.way, got.Up); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", b, err, diff)
		}
	}
}

// Format 1 had these keys, loss and mtu as numbers.
func TestWayJSONOfFormat1(t *testing.T) {
	var got Way
	err := json.Unmarshal([]byte(`{"delay":"75ms","rate":"unlimited","loss":0.013,"queue":"default","mtu":0}`), &got)
	if want := (Way{Delay: 75e6, Loss: Loss{Share: 0.013}}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	err = json.Unmarshal([]byte(`{"delay":"0s","rate":"1mbit","loss":0,"queue":"5p","mtu":1400}`), &got)
	if want := (Way{Rate: 1e6, Queue: Queue{Packets: 5}, MTU: 1400}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWayJSONRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                         "cannot unmarshal",
		`{"delay":"1"}`:              `delay: duration "1"`,
		`{"delay":5}`:                "delay: json: cannot unmarshal number",
		`{"rate":"1mbit x"}`:         `rate: "x" cannot stand here`,
		`{"loss":"all"}`:             `loss: "all" is not known`,
		`{"loss":2}`:                 "loss: 2: must be from 0 to 1",
		`{"mtu":5}`:                  "mtu: 5: must be 0, or from 576 to 65535",
		`{"police":"true"}`:          `police: "\"true\"": must be true or false`,
		`{"rules":"drop udp"}`:       "rules: json: cannot unmarshal string",
		`{"rules":["keep udp"]}`:     "rules: ",
		`{"trace":5}`:                "trace: json: cannot unmarshal number",
		`{"trace":"x"}`:              "trace: trace_sha256 is missing",
		`{"limit":"1","limit2":"x"}`: "",
	} {
		var w Way
		err := json.Unmarshal([]byte(text), &w)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	var p Path
	if err := json.Unmarshal([]byte(`{"rebind":"udp"}`), &p); err == nil {
		t.Error("a rebinding without a time was accepted")
	}
}

// A value's fault is at the part that is wrong, or after which something is
// missing.
func TestValueErrorHasItsPlace(t *testing.T) {
	for _, tt := range []struct {
		word, value string
		at          int
	}{
		{"delay", "x", 0},
		{"delay", "  20ms  y", 8},
		{"loss", "gemodel 1% é", 11},
		{"loss", "gemodel", 0},
		{"mtu", "1500 icmp then", 10},
		{"queue", "5p codel target 0s", 16},
		{"delay", "", 0},
	} {
		for _, w := range Words() {
			if w.Name != tt.word {
				continue
			}
			var v *ValueError
			if err := w.Set(new(Way), tt.value); !errors.As(err, &v) || v.At != tt.at {
				t.Errorf("%s %q: %v, at %v; want %d", tt.word, tt.value, err, v, tt.at)
			}
		}
	}
}

func TestTraces(t *testing.T) {
	a, b := NewTrace("a.trace", "1\n"), NewTrace("b.CSV", "0,1mbit\n")
	if a.Kind != Mahimahi || b.Kind != RateCSV {
		t.Errorf("kinds %s, %s", a.Kind, b.Kind)
	}
	p := Path{Name: "p", Up: Way{Trace: a}, Down: Way{Trace: b}}
	traces := Traces{}
	traces.Add(p)
	traces.Add(Path{})
	if len(traces) != 2 || traces.Check() != nil {
		t.Errorf("%v, %v", traces, traces.Check())
	}
	delete(traces, a.SHA256)
	if err := traces.Attach(&p); err == nil || !strings.Contains(err.Error(), "the content of trace a.trace is not there") {
		t.Error(err)
	}
	traces[b.SHA256] += " "
	if traces.Check() == nil {
		t.Error("another content was taken for the one that was meant")
	}
	// A trace that was put together by hand has the same digest.
	byHand := Way{Trace: Trace{Name: "a.trace", Kind: Mahimahi, Data: "1\n"}}
	made, err1 := json.Marshal(Way{Trace: a})
	hand, err2 := json.Marshal(byHand)
	if err := errors.Join(err1, err2); err != nil || string(made) != string(hand) {
		t.Errorf("%s, %s, %v", made, hand, err)
	}
}

// Whatever the words are given, they take it or refuse it, and what they take
// they write so that they take it again.
func FuzzWords(f *testing.F) {
	for _, s := range []string{
		"20ms 5ms 25%", "5ms normal in-order", "10mbit 14", "1bdp fq_codel target 5ms ecn flows 3 quantum 300", "udp 1mbit burst 15kB",
		"gemodel 1% 10% 1% 1% super ecn", "1% burst 3", "25% 50% gap 5", "1500 icmp then 1280 at 2s", "true", "143", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range Words() {
			var got, again Way
			if w.Set(&got, s) != nil || w.Name == "distribution" {
				continue
			}
			text := w.Text(got)
			if w.Name == "delay" {
				got.Jitter = Jitter{} // written under its own word
			}
			if text == "" {
				if got != (Way{}) {
					t.Errorf("%s %q: %#v is written as nothing", w.Name, s, got)
				}
			} else if err := w.Set(&again, text); err != nil || again != got {
				t.Errorf("%s %q → %q: %#v, want %#v, %v", w.Name, s, text, again, got, err)
			}
		}
		if r, err := ParseRebind(s); err == nil {
			if back, err := ParseRebind(r.String()); err != nil || back != r {
				t.Errorf("rebind %q → %q: %+v, %v", s, r, back, err)
			}
		}
		if h, err := ParseHandover(s); err == nil && h.For <= 0 {
			t.Errorf("handover %q: %+v", s, h)
		}
	})
}
