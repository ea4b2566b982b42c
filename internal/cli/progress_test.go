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

// What is left out counts no more, and what is carried out again is added.
func TestProgressOfAPlanThatMayEndEarly(t *testing.T) {
	var out bytes.Buffer
	p := progressPlan()
	p.Auto = &lab.Auto{Max: 4, Budget: time.Minute}
	g := newProgress(&out, p, nil, nil)
	g.said = time.Now().Add(-time.Hour)
	g.Started(p.Runs[0], 1)
	g.Ended(ended(p.Runs[0], lab.OK, 1, 1000))
	g.LeftOut(p.Runs[1])
	g.LeftOut(p.Runs[3])
	g.Started(p.Runs[2], 1)
	g.Ended(ended(p.Runs[2], lab.OK, 1, 1))
	again := p.Runs[2]
	again.ID, again.Rep, again.Repeats, again.Cell.Arm = "again", 7, 3, lab.ArmAA
	g.Started(again, 1)
	g.said = time.Now().Add(-time.Hour)
	g.say("said aloud")
	g.Ended(ended(again, lab.Timeout, 1, 1))
	g.close()
	for _, want := range []string{
		"1 of at most 4 runs · virtual p l h3 #1 · at most 1m0s left\n", "2 of 2 runs · kernel p l h3 #3 · 0s left\n",
		"said aloud\n", "kernel p l h3 (A/A) #3 once more: timeout", "3 of 3 runs",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}

// A last line says how far all is where what was left out came after the last run.
func TestProgressSaysALastTimeHowFarAllIs(t *testing.T) {
	var out bytes.Buffer
	p := progressPlan()
	p.Auto = &lab.Auto{Max: 4}
	g := newProgress(&out, p, map[string]bool{"a": true}, nil)
	g.Started(p.Runs[1], 1)
	g.Ended(ended(p.Runs[1], lab.OK, 1, 1))
	g.LeftOut(p.Runs[2])
	g.LeftOut(p.Runs[3])
	g.close()
	if want := "2 of 2 runs · virtual p l h3 #2 · 0s left\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// No site takes longer than its budget.
func TestEstimateWithABudget(t *testing.T) {
	p := progressPlan()
	p.Auto = &lab.Auto{Max: 4, Budget: 30 * time.Second}
	e := newEstimate(p, nil, nil)
	began := time.Unix(0, 0)
	e.started(p.Runs[0], began)
	e.ended(ended(p.Runs[0], lab.OK, 1, 40)) // two runs of 40 s on the kernel site
	if left := e.left(began).Seconds(); left < 30 || left > 31 {
		t.Errorf("%.1f s left, want the budget of 30 s and a run in virtual time", left)
	}
	e.ended(ended(p.Runs[1], lab.OK, 1, 40))
	e.started(p.Runs[2], began)
	if left := e.left(began.Add(20 * time.Second)).Seconds(); left != 10 {
		t.Errorf("%.1f s left, want what is left of the budget: 10", left)
	}
	if left := e.left(began.Add(time.Minute)); left != 0 {
		t.Errorf("the budget is spent, and %s are left", left)
	}
}
