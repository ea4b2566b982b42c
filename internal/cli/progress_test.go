package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func progressPlan() lab.Plan {
	var p lab.Plan
	for i, site := range []lab.SiteName{lab.Virtual, lab.Virtual, lab.Kernel, lab.Kernel} {
		cell := lab.Cell{Path: lab.Path{Name: "p"}, Load: lab.Load{Name: "l"}, Site: site, Protocol: lab.H3}
		p.Runs = append(p.Runs, lab.Run{ID: string(rune('a' + i)), Cell: cell, Rep: i + 1, Timeout: time.Minute})
	}
	return p
}

func ended(run lab.Run, o lab.Outcome, attempt int, duration float64) lab.Record {
	r := lab.Record{Run: run, Outcome: o, Attempt: attempt, Took: 0.1, Reason: "because"}
	r.Samples = []lab.Sample{{Metric: lab.Duration, Value: &duration}}
	return r
}

func TestProgressInPlainLines(t *testing.T) {
	var out bytes.Buffer
	p := progressPlan()
	g := newProgress(&out, p, map[string]bool{"a": true}, nil)
	g.Started(p.Runs[1], 1)
	g.Ended(ended(p.Runs[1], lab.Stalled, 1, 0))
	g.Ended(ended(p.Runs[2], lab.Invalid, 1, 0)) // will be repeated
	if g.done != 2 {
		t.Errorf("%d runs done, want 2: one was done before, and an invalid one is repeated", g.done)
	}
	g.Started(p.Runs[2], 2)
	g.Ended(ended(p.Runs[2], lab.OK, 2, 1))
	g.Ended(ended(p.Runs[3], lab.OK, 1, 1))
	g.close()
	for _, want := range []string{
		"virtual p l h3 #2: stalled: because", "kernel p l h3 #3: invalid: because", "4 of 4 runs", "(again)", "0s left",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}

// Virtual time tells how long the same cell takes in real time.
func TestEstimate(t *testing.T) {
	p := progressPlan()
	e := newEstimate(p, nil, map[lab.SiteName]int{lab.Kernel: 2})
	e.ended(ended(p.Runs[0], lab.OK, 1, 40))
	e.ended(ended(p.Runs[1], lab.OK, 1, 40))
	if left := e.left(time.Time{}).Seconds(); left < 40 || left > 41 {
		t.Errorf("two runs of 40 s, two at a time: %.1f s left", left)
	}
	e.ended(ended(p.Runs[2], lab.OK, 1, 40))
	e.ended(ended(p.Runs[3], lab.OK, 1, 40))
	if left := e.left(time.Time{}); left != 0 {
		t.Errorf("all is done and %s are left", left)
	}
}
