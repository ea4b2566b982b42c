package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// A job comes out of its JSON as it went in, traces with their content.
func TestGaugeJobJSON(t *testing.T) {
	path, err := findPath("rtt 40ms rate 10mbit loss 1% down{mtu 1400}")
	if err != nil {
		t.Fatal(err)
	}
	traced := path
	traced.Down.Rate, traced.Down.Queue = 0, lab.Queue{}
	traced.Down.Trace = lab.NewTrace("t.csv", "0,10mbit\n")
	want := gaugeJob{Asked: path, Carry: traced, Backend: backendTUN, Seed: 7, Span: 5, Instruments: []instrument{packetsInstrument}}
	b, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeJob(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	got.Traces = want.Traces
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if _, err := decodeJob(strings.NewReader("{")); err == nil {
		t.Error("half a job was read")
	}
}

func TestReadAnswers(t *testing.T) {
	for _, c := range []struct {
		said  string
		doing string
		done  bool
	}{
		{"", "", false},
		{`{"doing":"a"}{"doing":"b"}{"done":true}`, "ab", true},
		{`{"doing":"a"}`, "a", false},
		{`{"doing":"a"} nonsense`, "a", false},
	} {
		doing := ""
		last := readAnswers(json.NewDecoder(strings.NewReader(c.said)), func(what string) { doing += what })
		if doing != c.doing || last.Done != c.done {
			t.Errorf("%q: doing %q, done %v", c.said, doing, last.Done)
		}
	}
}

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{0.0201234, "s", "20.123 ms"}, {10e6, "bit/s", "10 Mbit/s"}, {0.0123456, "1", "1.2346 %"},
		{1, "bool", "yes"}, {0, "bool", "no"}, {1500, "B", "1500 B"}, {1.0526, "packets", "1.05 packets"},
	} {
		if got := quantity(&c.value, c.unit); got != c.want {
			t.Errorf("%g %s: %q, want %q", c.value, c.unit, got, c.want)
		}
	}
	if got := quantity(nil, "s"); got != "–" {
		t.Errorf("nothing is %q", got)
	}
}
