package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/lab"
)

func TestReps(t *testing.T) {
	auto := func(width float64, least, most int, budget time.Duration) *lab.Auto {
		return &lab.Auto{Width: width, Min: least, Max: most, Budget: budget}
	}
	for text, want := range map[string]*lab.Auto{
		"7":                                     nil,
		"auto":                                  auto(0.1, 0, 30, 5*time.Minute),
		"auto width 5% min 8 max 50 budget 90s": auto(0.05, 8, 50, 90*time.Second),
		"'  auto   max 9'":                      auto(0.1, 0, 9, 5*time.Minute),
		"{auto: {}}":                            auto(0.1, 0, 30, 5*time.Minute),
		"{auto: {width: 0.5%, min: 2, max: 2, budget: none}}":        auto(0.005, 2, 2, 0),
		"{auto: {width: 100%, min: 6, max: 100000, budget: 720h0m}}": auto(1, 6, 100000, 720*time.Hour),
	} {
		s := mustStudy(t, "paths: [wired]\nloads: [cold]\nreps: "+text+"\n")
		if diff := cmp.Diff(want, s.Auto); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if want != nil && s.Reps != want.Max || want == nil && s.Reps != 7 {
			t.Errorf("%s: %d repetitions", text, s.Reps)
		}
		flag := strings.Trim(text, "'")
		if strings.HasPrefix(text, "{") {
			continue
		}
		n, err := Narrow{Reps: flag}.Apply(mustStudy(t, crossed+"timeout: 1s\n"))
		if diff := cmp.Diff(s.Auto, n.Auto); diff != "" || err != nil || n.Reps != s.Reps {
			t.Errorf("--reps %s: %v, %d repetitions (-want +got):\n%s", flag, err, n.Reps, diff)
		}
	}
}

func TestRepsFaults(t *testing.T) {
	const before = "paths: [wired]\nloads: [cold]\nreps: "
	for text, want := range map[string]string{
		"0":                        `s.yaml:3:7: reps: "0": must be a whole number from 1 to 100000, or auto`,
		"automatic":                `s.yaml:3:7: reps: "automatic": must be a whole number`,
		"[auto]":                   `s.yaml:3:7: reps must be a single value, not a list`,
		"{}":                       `s.yaml:3:7: reps has no auto`,
		"{auto: yes}":              `s.yaml:3:14: auto must be a mapping, not a single value; allowed keys: width, min, max, budget`,
		"{auto: {}, max: 3}":       `s.yaml:3:18: "max" is not known; allowed: auto`,
		"auto width 101%":          `s.yaml:3:18: width: share "101%": must be from 0% to 100%`,
		"auto width 0.05%":         `s.yaml:3:18: width: "0.05%": must be from 0.1% to 100%`,
		"auto width 10":            `s.yaml:3:18: width: share "10": want a percentage`,
		"auto min 9 max 8":         `s.yaml:3:16: min: 9 blocks are more than the most, max 8`,
		"auto min 31":              `s.yaml:3:16: min: 31 blocks are more than the most, max 30`,
		"auto min 1":               `s.yaml:3:16: min: "1": must be a whole number from 2 to 100000`,
		"auto budget 1ms":          `s.yaml:3:19: budget: duration "1ms": must be from 1s to 720h0m0s, or none`,
		"auto wdth 1%":             `s.yaml:3:12: "wdth" is not known; did you mean "width"?`,
		"auto max":                 `s.yaml:3:12: max has no value`,
		"{auto: {max: 5, max: 6}}": `max is given twice`,
	} {
		_, err := ParseStudy("s.yaml", []byte(before+text+"\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got\n%v\nwant %s", text, err, want)
		}
	}
	_, err := Narrow{Reps: "auto wdth 1%"}.Apply(mustStudy(t, crossed))
	if err == nil || !strings.HasPrefix(err.Error(), `--reps: "wdth" is not known`) {
		t.Errorf("%v", err)
	}
}

// The definition: the smallest n of six at least with 2/2ⁿ ≤ 0.05/tests.
func TestBlocksNeeded(t *testing.T) {
	for tests := range 3000 {
		n := BlocksNeeded(tests)
		reaches := func(n int) bool { return 2/math.Exp2(float64(n)) <= 0.05/math.Max(1, float64(tests)) }
		if n < 6 || !reaches(n) || n > 6 && reaches(n-1) {
			t.Fatalf("%d tests: %d blocks", tests, n)
		}
	}
	if n := BlocksNeeded(math.MaxInt32); n < 30 || n > 60 {
		t.Errorf("very many tests: %d", n)
	}
}

// The least number of blocks follows from what is left of a study.
func TestLeastBlocksOfAPlan(t *testing.T) {
	// Two paths, one of them lossy, two loads, two stacks, two sites, three
	// protocols: 16 comparisons, of which the 4 on wired in virtual time are exact.
	text := strings.Replace(crossed, "reps: 4", "reps: auto max 40", 1)
	for name, tt := range map[string]struct {
		narrow Narrow
		more   string
		want   int
	}{
		"whole":           {Narrow{}, "", BlocksNeeded(12 * 3)},
		"one path":        {Narrow{Paths: []string{"wired"}}, "", BlocksNeeded(4 * 3)},
		"two protocols":   {Narrow{Protocols: []string{"h1", "h3"}}, "", BlocksNeeded(12)},
		"one protocol":    {Narrow{Protocols: []string{"h3"}}, "", 6},
		"only exact":      {Narrow{Paths: []string{"wired"}, Sites: []string{"virtual"}}, "", 6},
		"equalised":       {Narrow{Sites: []string{"kernel"}}, "equalise: true\n", BlocksNeeded(3 * 4 * 3)},
		"said":            {Narrow{Reps: "auto min 3"}, "", 3},
		"fewer than Holm": {Narrow{Reps: "auto max 7"}, "", 7},
		"more paths":      {Narrow{Paths: []string{"loss-1", "loss-3", "cell-edge", "wired"}}, "", BlocksNeeded((3*8 + 4) * 3)},
	} {
		s, err := tt.narrow.Apply(mustStudy(t, text+tt.more))
		if err != nil {
			t.Fatal(err)
		}
		p := mustBuild(t, s)
		if p.Auto == nil || p.Auto.Min != tt.want || p.Reps != p.Auto.Max || p.Runs[len(p.Runs)-1].Rep != p.Reps {
			t.Errorf("%s: %+v with %d repetitions, want at least %d", name, p.Auto, p.Reps, tt.want)
		}
		if tt.narrow.Reps == "" && s.Auto.Min != 0 {
			t.Errorf("%s: the study itself was changed", name)
		}
	}
}

func TestRepeat(t *testing.T) {
	p := mustBuild(t, mustStudy(t, crossed))
	cell := p.Runs[len(p.Runs)-1].Cell
	var first []lab.Run
	for _, r := range p.Runs {
		if r.Rep == 3 && Comparison(r.Cell) == Comparison(cell) {
			first = append(first, r)
		}
	}
	again := Repeat(p, cell, 3)
	if len(again) != 4 || len(first) != 4 {
		t.Fatalf("%d runs repeat %d, want 4 and 4", len(again), len(first))
	}
	names := map[string]bool{}
	for _, r := range p.Runs {
		names[r.ID] = true
	}
	for i, r := range again {
		if names[r.ID] || r.ID != lab.RunID(r.Cell, r.Rep) {
			t.Errorf("name %s is taken, or not the run's", r.ID)
		}
		want := first[i]
		want.ID, want.Rep, want.Repeats, want.Order = r.ID, p.Reps+3, 3, len(p.Runs)+first[i].Order
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if more := Repeat(p, cell, p.Reps+1); len(more) > 0 {
		t.Errorf("a block that is not in the plan has %d runs", len(more))
	}
}
