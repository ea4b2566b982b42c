package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

func mustStudy(t *testing.T, text string) lab.Study {
	t.Helper()
	s, err := ParseStudy("t.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustBuild(t *testing.T, s lab.Study) lab.Plan {
	t.Helper()
	p, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const crossed = `name: crossed
paths: [wired, cell-edge]
loads: [cold, big]
stacks: [{cc: cubic}, {cc: reno}]
reps: 4
`

// block names the comparison and repetition that a run belongs to.
func block(r lab.Run) string {
	c := r.Cell
	return fmt.Sprint(r.Rep, c.Path.Name, c.Load.Name, c.Stack, c.Site)
}

func TestBuild(t *testing.T) {
	s := mustStudy(t, crossed)
	p := mustBuild(t, s)
	if want := 2 * 2 * 2 * 2 * 3 * 4; len(p.Runs) != want {
		t.Fatalf("%d runs, want %d", len(p.Runs), want)
	}
	seeds := map[string]uint64{}
	ids := map[string]bool{}
	for i, r := range p.Runs {
		if r.Order != i+1 || ids[r.ID] || r.ID != lab.RunID(r.Cell, r.Rep) {
			t.Fatalf("run %d: order %d, id %s", i, r.Order, r.ID)
		}
		ids[r.ID] = true
		if i > 0 && r.Rep < p.Runs[i-1].Rep {
			t.Fatalf("run %d is of repetition %d, after one of %d", i, r.Rep, p.Runs[i-1].Rep)
		}
		if i%3 != 0 && block(r) != block(p.Runs[i-1]) {
			t.Fatalf("run %d leaves its block", i)
		}
		key := fmt.Sprint(r.Cell.Path.Name, r.Cell.Load.Name, r.Rep)
		if seed, ok := seeds[key]; ok && seed != r.Seed {
			t.Fatalf("run %d: the seed is not that of its block", i)
		}
		seeds[key] = r.Seed
		if r.Timeout != s.Timeout || r.Lateness != s.Lateness || r.Authority != p.Runs[0].Authority {
			t.Fatalf("run %d: %+v", i, r)
		}
	}
	distinct := map[uint64]bool{}
	for _, seed := range seeds {
		distinct[seed] = true
	}
	if len(distinct) != 2*2*4 {
		t.Errorf("%d different link seeds, want one for each path, load and repetition: 16", len(distinct))
	}
}

func order(p lab.Plan, keep func(lab.Run) bool) (ids []string) {
	for _, r := range p.Runs {
		if keep(r) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func all(lab.Run) bool { return true }

func TestOrderFollowsFromTheSeed(t *testing.T) {
	s := mustStudy(t, crossed)
	first := order(mustBuild(t, s), all)
	if again := order(mustBuild(t, s), all); !slices.Equal(first, again) {
		t.Error("one study gave two orders")
	}
	s.Seed++
	p := mustBuild(t, s)
	if slices.Equal(first, order(p, all)) {
		t.Error("another seed gave the same order")
	}
	protocols := map[string]int{}
	for i := 0; i < len(p.Runs); i += 3 {
		protocols[fmt.Sprint(p.Runs[i].Cell.Protocol, p.Runs[i+1].Cell.Protocol)]++
	}
	if len(protocols) != 6 {
		t.Errorf("64 blocks have %d of the 6 orders of protocols: %v", len(protocols), protocols)
	}
	reps := func(rep int) (keys []string) {
		for _, r := range p.Runs {
			if r.Rep == rep && r.Cell.Protocol == lab.H1 {
				keys = append(keys, strings.TrimPrefix(block(r), fmt.Sprint(rep)))
			}
		}
		return keys
	}
	if slices.Equal(reps(1), reps(2)) {
		t.Error("two repetitions have their blocks in one order")
	}
}

// Leaving out a part of a study leaves the order of the rest as it was.
func TestNarrowingKeepsOrderAndSeeds(t *testing.T) {
	s := mustStudy(t, crossed)
	whole := mustBuild(t, s)
	narrow, err := Narrow{Paths: []string{"wired"}, Protocols: []string{"h3", "h1"}, Sites: []string{"virtual"}}.Apply(s)
	if err != nil {
		t.Fatal(err)
	}
	part := mustBuild(t, narrow)
	want := order(whole, func(r lab.Run) bool {
		return r.Cell.Path.Name == "wired" && r.Cell.Protocol != lab.H2 && r.Cell.Site == lab.Virtual
	})
	if got := order(part, all); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	seeds := map[string]uint64{}
	for _, r := range whole.Runs {
		seeds[r.ID] = r.Seed
	}
	for _, r := range part.Runs {
		if seeds[r.ID] != r.Seed {
			t.Errorf("run %s has another seed than in the whole study", r.ID)
		}
	}
}

func TestEqualise(t *testing.T) {
	s := mustStudy(t, "paths: [wired]\nloads: [cold]\nequalise: true\nsites: [virtual, process, kernel]\nreps: 1\n")
	for _, r := range mustBuild(t, s).Runs {
		want := 10
		if r.Cell.Site == lab.Kernel {
			want = 32
		}
		if r.Cell.Stack.CC != "reno" || r.Cell.Stack.InitCwnd != want {
			t.Errorf("%s: %+v", r.Cell.Site, r.Cell.Stack)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	good := mustStudy(t, crossed)
	for name, tt := range map[string]struct {
		change func(*lab.Study)
		want   string
	}{
		"no path":     {func(s *lab.Study) { s.Paths = nil }, "no cell is left"},
		"no protocol": {func(s *lab.Study) { s.Protocols = nil }, "no cell is left"},
		"no rep":      {func(s *lab.Study) { s.Reps = 0 }, "no cell is left"},
		"equal cells": {func(s *lab.Study) { s.Stacks = append(s.Stacks, s.Stacks[0]) }, "two cells are the same"},
		"equalised":   {func(s *lab.Study) { s.Equalise = true }, "two cells are the same"},
		"too many":    {func(s *lab.Study) { s.Reps = 100_000 }, "more than 100000 runs"},
	} {
		s := good
		tt.change(&s)
		if _, err := Build(s); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The plan of a study is a contract: another order, seed or name would make
// old folders unreadable for resuming.
func TestPlanGolden(t *testing.T) {
	s := mustStudy(t, "name: small\nquestion: why\npaths: {p: 'rtt 40ms rate 10mbit down{loss 1%}'}\nloads: [ten-small]\nreps: 2\nsites: [virtual]\n")
	b, err := json.MarshalIndent(mustBuild(t, s), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "plan.golden", string(b)+"\n")
}
