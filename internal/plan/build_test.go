package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

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
	if want := 2 * 2 * 2 * 2 * (3 + 1) * 4; len(p.Runs) != want {
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
		if i%4 != 0 && block(r) != block(p.Runs[i-1]) {
			t.Fatalf("run %d leaves its block", i)
		}
		key := fmt.Sprint(r.Cell.Path.Name, r.Cell.Load.Name, r.Rep, r.Cell.Arm)
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
	if len(distinct) != 2*2*4*2 {
		t.Errorf("%d different link seeds, want one for each path, load, repetition and arm: 32", len(distinct))
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
	for i := 0; i < len(p.Runs); i += 4 {
		key := ""
		for _, r := range p.Runs[i : i+4] {
			if r.Cell.Arm == "" {
				key += string(r.Cell.Protocol)
			}
		}
		protocols[key]++
	}
	if len(protocols) != 6 {
		t.Errorf("64 blocks have %d of the 6 orders of protocols: %v", len(protocols), protocols)
	}
	reps := func(rep int) (keys []string) {
		for _, r := range p.Runs {
			if r.Rep == rep && r.Cell.Protocol == lab.H3 {
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

// The second series of a comparison's first protocol is in every block, at any
// place in it, and its losses are its own.
func TestASecondSeriesOfTheFirstProtocol(t *testing.T) {
	for _, protocols := range []string{"[h1, h2, h3]", "[h3, h2]", "[h2]"} {
		s := mustStudy(t, crossed+"protocols: "+protocols+"\n")
		first, n := s.Protocols[0], len(s.Protocols)+1
		p := mustBuild(t, s)
		places, before := map[int]int{}, 0
		for i := 0; i < len(p.Runs); i += n {
			var own, again *lab.Run
			for j := range p.Runs[i : i+n] {
				switch r := &p.Runs[i+j]; {
				case block(*r) != block(p.Runs[i]):
					t.Fatalf("%s: run %d is of another block", protocols, i+j)
				case r.Cell.Arm == lab.ArmAA:
					again = r
					places[j]++
				case r.Cell.Protocol == first:
					own = r
				}
			}
			if own == nil || again == nil || again.Cell.Protocol != first || again.Seed == own.Seed || again.ID == own.ID {
				t.Fatalf("%s: block at %d: %+v, %+v", protocols, i, own, again)
			}
			if again.Order < own.Order {
				before++
			}
		}
		blocks := len(p.Runs) / n
		if len(places) != n || before < blocks/4 || before > 3*blocks/4 {
			t.Errorf("%s: of %d blocks, %d have the second series before the first; its places: %v", protocols, blocks, before, places)
		}
	}
}

// Leaving out any cell of a study leaves the others' order, names and seeds.
func TestLeavingOutACellKeepsTheOthers(t *testing.T) {
	base := mustStudy(t, crossed)
	base.Reps = 2
	whole := mustBuild(t, base)
	seeds := map[string]uint64{}
	for _, r := range whole.Runs {
		seeds[r.ID] = r.Seed
	}
	rapid.Check(t, func(t *rapid.T) {
		s := base
		s.Paths = some(t, "paths", base.Paths)
		s.Loads = some(t, "loads", base.Loads)
		s.Sites = some(t, "sites", base.Sites)
		s.Protocols = append([]lab.Protocol{base.Protocols[0]}, some(t, "protocols", base.Protocols[1:])...)
		s.Reps = rapid.IntRange(1, base.Reps).Draw(t, "reps")
		part, err := Build(s)
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]bool{}
		for _, r := range part.Runs {
			kept[r.ID] = true
			if seed, ok := seeds[r.ID]; !ok || seed != r.Seed {
				t.Fatalf("run %s: another name or seed than in the whole study", r.ID)
			}
		}
		want := order(whole, func(r lab.Run) bool { return kept[r.ID] })
		if got := order(part, all); !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	})
}

// some draws a part of a list, at least one of it, in the list's order.
func some[T any](t *rapid.T, what string, list []T) (part []T) {
	mask := rapid.IntRange(1, 1<<len(list)-1).Draw(t, what)
	for i, v := range list {
		if mask&(1<<i) != 0 {
			part = append(part, v)
		}
	}
	return part
}

func TestEqualise(t *testing.T) {
	const study = "paths: [wired]\nloads: [cold]\nequalise: true\nsites: [virtual, process, kernel]\nreps: 1\n"
	for name, tt := range map[string]struct {
		more  string
		fixed []lab.SiteName
		want  map[lab.SiteName][]string
	}{
		"both arms": {"", nil, map[lab.SiteName][]string{
			lab.Virtual: {"cubic 10", "reno 32"}, lab.Process: {"cubic 10", "reno 32"}, lab.Kernel: {"cubic 10", "reno 32"},
		}},
		"a fixed window": {"", []lab.SiteName{lab.Virtual, lab.Process}, map[lab.SiteName][]string{
			lab.Virtual: {"cubic 10"}, lab.Process: {"cubic 10"}, lab.Kernel: {"cubic 10", "reno 32"},
		}},
		"equal already": {"stacks: [{cc: reno, initcwnd: 32}]\n", []lab.SiteName{lab.Virtual, lab.Process}, map[lab.SiteName][]string{
			lab.Virtual: {"reno 32"}, lab.Process: {"reno 32"}, lab.Kernel: {"reno 32"},
		}},
		"two that become one": {"stacks: [{cc: reno}, {cc: bbr}]\n", []lab.SiteName{lab.Virtual, lab.Process}, map[lab.SiteName][]string{
			lab.Virtual: {"bbr 10", "reno 10"}, lab.Process: {"bbr 10", "reno 10"}, lab.Kernel: {"bbr 10", "reno 10", "reno 32"},
		}},
	} {
		s := mustStudy(t, study+tt.more)
		s.FixedWindow = tt.fixed
		got := map[lab.SiteName][]string{}
		for _, r := range mustBuild(t, s).Runs {
			what := fmt.Sprint(r.Cell.Stack.CC, " ", r.Cell.Stack.InitCwnd)
			if !slices.Contains(got[r.Cell.Site], what) {
				got[r.Cell.Site] = append(got[r.Cell.Site], what)
			}
		}
		for site := range got {
			slices.Sort(got[site])
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
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
