package stats

import (
	"fmt"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// ruledPlan is a plan of h1, h2 and the A/A arm on two paths of a site.
func ruledPlan(reps int, rule lab.Auto, site lab.SiteName) lab.Plan {
	p := lab.Plan{Reps: reps, Auto: &rule}
	for rep := 1; rep <= reps; rep++ {
		for _, path := range []string{"a", "b"} {
			for _, arm := range []string{"h1", "h2", "aa"} {
				c := lab.Cell{Path: lab.Path{Name: path}, Site: site, Protocol: lab.Protocol(arm)}
				if arm == "aa" {
					c.Protocol, c.Arm = lab.H1, lab.ArmAA
				}
				p.Runs = append(p.Runs, lab.Run{ID: fmt.Sprint(path, arm, rep), Cell: c, Rep: rep})
			}
		}
	}
	return p
}

// ruledRecords are a second for each run of path a, and of path b such as scatter.
func ruledRecords(p lab.Plan, a, b int) (records []lab.Record) {
	for i, r := range p.Runs {
		if r.Cell.Path.Name == "a" && r.Rep > a || r.Cell.Path.Name == "b" && r.Rep > b {
			continue
		}
		duration := 1.0
		if r.Cell.Path.Name == "b" && r.Cell.Arm == "" {
			duration = []float64{1, 2, 1.5, 3}[(i*7+r.Rep)%4]
		}
		record := took(r.Cell.Site, r.Rep, float64(len(records)), 1)
		record.Run, record.Outcome = r, lab.OK
		record.Samples = []lab.Sample{{Metric: lab.Duration, Value: &duration}}
		records = append(records, record)
	}
	return records
}

func TestNeedless(t *testing.T) {
	rule := lab.Auto{Width: 0.1, Min: 6, Max: 12}
	limited := rule
	limited.Budget = 40 * time.Second
	for name, tt := range map[string]struct {
		rule  lab.Auto
		site  lab.SiteName
		a, b  int // blocks that were carried out
		needs [2]int
	}{
		"nothing yet":                   {rule, lab.Kernel, 0, 0, [2]int{12, 12}},
		"before the least":              {rule, lab.Kernel, 5, 5, [2]int{7, 7}},
		"a has enough":                  {rule, lab.Kernel, 6, 6, [2]int{0, 6}},
		"b goes on":                     {rule, lab.Kernel, 6, 9, [2]int{0, 3}},
		"b comes to its end":            {rule, lab.Kernel, 6, 12, [2]int{0, 0}},
		"exact ones":                    {rule, lab.Virtual, 2, 1, [2]int{0, 11}},
		"the budget is spent":           {limited, lab.Kernel, 6, 8, [2]int{0, 0}},
		"the budget is not spent yet":   {limited, lab.Kernel, 6, 7, [2]int{0, 5}},
		"the budget ended it for both":  {limited, lab.Kernel, 7, 7, [2]int{0, 0}},
		"spent, but a block is missing": {limited, lab.Kernel, 5, 9, [2]int{4, 0}},
	} {
		p := ruledPlan(12, tt.rule, tt.site)
		records := ruledRecords(p, tt.a, tt.b)
		needless := Needless(p, records)
		needs := [2]int{12 - tt.a, 12 - tt.b}
		for _, r := range p.Runs {
			if needless[r.ID] && r.Cell.Arm != "" {
				needs[r.Cell.Path.Name[0]-'a']--
			}
		}
		if needs != tt.needs {
			t.Errorf("%s: %v more blocks of a and b are needed, want %v", name, needs, tt.needs)
		}
	}
	p := ruledPlan(3, rule, lab.Kernel)
	p.Auto = nil
	if got := Needless(p, nil); len(got) > 0 {
		t.Errorf("without a rule: %v", got)
	}
}
