package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/gauge"
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/kernel"
)

// checkPlan is a plan of two paths on the kernel site and one on the virtual.
func checkPlan() lab.Plan {
	run := func(id, path string, site lab.SiteName) lab.Run {
		return lab.Run{ID: id, Cell: lab.Cell{Path: lab.Path{Name: path, Up: lab.Way{Delay: time.Second}}, Site: site}}
	}
	return lab.Plan{Seed: 7, Runs: []lab.Run{
		run("1", "b", lab.Kernel), run("2", "a", lab.Kernel), run("3", "a", lab.Kernel), run("4", "c", lab.Virtual),
	}}
}

func TestCheckPaths(t *testing.T) {
	ok, bad := true, false
	one := 1.0
	holds := gauge.Check{Name: gauge.RTT, Direction: gauge.Both, State: gauge.Holds, OK: &ok, Asked: &one, Measured: &one}
	fails := gauge.Check{Name: gauge.Delay, Direction: "up", State: gauge.Fails, OK: &bad, Asked: &one}
	skipped := gauge.Check{Name: gauge.Rate, Direction: "down", State: gauge.Unchecked, Note: "a trace"}
	for _, c := range []struct {
		name    string
		done    map[string]bool
		checks  []gauge.Check
		err     error
		measure string // the paths that are measured, in order
		status  int    // 0: no error
		said    []string
	}{
		{"all hold", nil, []gauge.Check{holds}, nil, "ab", 0, []string{"of 2 paths checked, 2 checks hold"}},
		{"done", map[string]bool{"2": true, "3": true}, []gauge.Check{holds}, nil, "b", 0, []string{"of 1 path checked, 1 check holds"}},
		{"all done", map[string]bool{"1": true, "2": true, "3": true}, nil, nil, "", 0, nil},
		{"one fails", nil, []gauge.Check{holds, fails}, nil, "a", exitMachine, []string{"delay  up", "FAILS", "path a is not what it claims", "1 of 2 checks"}},
		{"one part is left out", nil, []gauge.Check{holds, skipped}, nil, "ab", 0, []string{"path a: not checked: rate down (a trace)\n"}},
		{"the machine cannot", nil, nil, exit(exitMachine, errors.New("no TUN")), "a", exitMachine, []string{"check path a: no TUN"}},
		{"interrupted", nil, nil, exit(exitInterrupted, errors.New("interrupted")), "a", exitInterrupted, []string{"interrupted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said strings.Builder
			measured := ""
			err := checkPaths(t.Context(), &said, checkPlan(), kernel.TUN, c.done, func(_ context.Context, j gaugeJob, _ func(string)) ([]gauge.Check, error) {
				measured += j.Asked.Name
				if j.Asked != j.Carry || j.Seed != 7 || !j.Quick || j.Backend != backendTUN {
					t.Errorf("asked for %+v", j)
				}
				return c.checks, c.err
			})
			status := 0
			var e *exitError
			if errors.As(err, &e) {
				status = e.status
				said.WriteString(err.Error())
			}
			if status != c.status || measured != c.measure {
				t.Errorf("exit status %d after %q, want %d after %q: %v", status, measured, c.status, c.measure, err)
			}
			for _, want := range c.said {
				if !strings.Contains(said.String(), want) {
					t.Errorf("no %q in %q", want, said.String())
				}
			}
			if c.said == nil && said.Len() > 0 {
				t.Errorf("said %q", said.String())
			}
		})
	}
}
