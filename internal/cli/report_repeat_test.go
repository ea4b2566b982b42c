package cli

import (
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
)

const repeatedStudy = `name: it
paths:
  near: {rtt: 10ms}
  far: {rtt: 100ms}
loads: {one: {objects: 1, size: 1kB}, ten: {objects: 10, size: 1kB}}
sites: [virtual]
reps: 3
`

// The command that repeats a study makes the same plan of its text.
func TestRepeatCommand(t *testing.T) {
	seed := uint64(9)
	for _, test := range []struct {
		name   string
		narrow plan.Narrow
		want   string
	}{
		{"as it is", plan.Narrow{}, "samewire run study.yaml"},
		{"part of it", plan.Narrow{Paths: []string{"far"}, Loads: []string{"ten"}, Protocols: []string{"h1", "h3"}}, "samewire run study.yaml --paths far --loads ten --protocols h1,h3"},
		{"another site, seed and limit", plan.Narrow{Sites: []string{"process"}, Seed: &seed, Timeout: "7s"}, "samewire run study.yaml --site process --seed 9 --timeout 7s"},
		{"more of it", plan.Narrow{Reps: "8"}, "samewire run study.yaml --reps 8"},
		{"until it is known", plan.Narrow{Reps: "auto width 5% max 20"}, "samewire run study.yaml --reps 'auto width 5% max 20 budget 5m'"},
		{"another load", plan.Narrow{Loads: []string{"one", "cold"}}, "samewire run study.yaml --loads cold,one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			planned := planOf(t, repeatedStudy, test.narrow)
			got, notes := repeatCommand(planned, []byte(repeatedStudy))
			if got != test.want || len(notes) != 0 {
				t.Errorf("%s (%q), want %s", got, notes, test.want)
			}
		})
	}
}

func TestRepeatCommandOfOtherPaths(t *testing.T) {
	p := planOf(t, repeatedStudy, plan.Narrow{})
	other, err := plan.FindPath("rtt 40ms loss 1%", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Runs {
		p.Runs[i].Cell.Path = other
	}
	if got, _ := repeatCommand(p, []byte(repeatedStudy)); !strings.HasPrefix(got, "samewire run study.yaml --path 'rtt 40ms loss 1%") {
		t.Error(got)
	}
	got, notes := repeatCommand(p, []byte("name: it\npaths: {a: {trace: gone.csv}}\n"))
	if got != "" || len(notes) != 1 {
		t.Errorf("%q, %q", got, notes)
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"a,b-c": "a,b-c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'"} {
		if got := quoted(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

func planOf(t *testing.T, text string, narrow plan.Narrow) lab.Plan {
	t.Helper()
	study, err := plan.ParseStudy("study.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if study, err = narrow.Apply(study); err != nil {
		t.Fatal(err)
	}
	p, err := plan.Build(study)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
