package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// sampled are five runs of a cell: two failed, and one was carried out again.
func sampled() []lab.Record {
	c := lab.Cell{
		Path: lab.Path{Name: "loss-1"}, Load: lab.Load{Name: "big", Objects: 1, Size: 3e6},
		Stack: lab.DefaultStack, Site: lab.Kernel, Protocol: lab.H3,
	}
	var records []lab.Record
	for i, seconds := range []float64{1, 2, 3, 0, 0} {
		r := lab.Record{
			Run:     lab.Run{ID: lab.RunID(c, i+1), Cell: c, Rep: i + 1, Order: i + 1, Timeout: 2 * time.Minute},
			Attempt: 1, Outcome: lab.OK, Samples: lab.Metrics(),
		}
		if seconds > 0 {
			r.Samples[0].Value = &seconds
		} else {
			r.Outcome = lab.Stalled
		}
		records = append(records, r)
	}
	again := records[0]
	again.Outcome, records[0].Attempt = lab.Invalid, 2
	return append(records, again)
}

func TestCSVIsTidy(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, stats.Output{Study: `a,"b`, Seed: 1<<64 - 1}, sampled()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 6*len(lab.Metrics()); len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	got := map[string]int{}
	for _, r := range rows[1:] {
		if r[column["study"]] != `a,"b` || r[column["seed"]] != "18446744073709551615" {
			t.Fatalf("%q", r)
		}
		if r[column["metric"]] == lab.Duration {
			got[r[column["counts"]]+" "+r[column["outcome"]]+" "+r[column["value"]]]++
		}
	}
	want := map[string]int{"true ok 1": 1, "true ok 2": 1, "true ok 3": 1, "true stalled ": 2, "false invalid 1": 1}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%q: %d, want %d (all: %v)", k, got[k], n, got)
		}
	}
}

// benchstat's own parser reads the lines, and its median is not one of survivors:
// of 1, 2, 3 and two failures it is 3.
func TestBenchLinesAreBenchstats(t *testing.T) {
	var b bytes.Buffer
	if err := Bench(&b, stats.Output{Samewire: "0.1.0", Study: "a b/c", Seed: 3}, sampled()); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	r := benchfmt.NewReader(&b, "report")
	var durations []float64
	failed := 0.0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		case *benchfmt.Result:
			if name := string(rec.Name.Full()); !strings.HasSuffix(name, "/protocol=h3") || !strings.Contains(name, "/path=loss-1/") {
				t.Errorf("name %s", name)
			}
			d, ok := rec.Value("sec/op")
			if !ok {
				t.Fatalf("no sec/op in %q", text)
			}
			durations = append(durations, d)
			n, _ := rec.Value("failed")
			failed += n
		}
	}
	if r.Err() != nil || len(durations) != 5 || failed != 2 {
		t.Fatalf("%v: %v, %v failed", r.Err(), durations, failed)
	}
	sample := benchmath.NewSample(durations, &benchmath.DefaultThresholds)
	if got := benchmath.AssumeNothing.Summary(sample, 0.95).Center; got != 3 {
		t.Errorf("the median is %v, want 3", got)
	}
}
