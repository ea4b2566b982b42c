package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// What reps: auto is where a study does not say: intervals of ±5 % or so, 30
// blocks and five minutes of real time for each site at most.
const (
	defaultWidth  = 0.1
	defaultMax    = 30
	defaultBudget = 5 * time.Minute
)

// The limits of reps: auto.
const (
	minWidth  = 0.001
	maxWidth  = 1.0
	minBudget = time.Second
	maxBudget = 30 * 24 * time.Hour
)

const autoWord = "auto"

var autoWords = grammar{{name: "width"}, {name: "min"}, {name: "max"}, {name: "budget"}}

// reps reads how often each comparison is carried out: a number; auto; or auto
// with a rule of its own, as "auto width 5% max 50" or {auto: {width: 5%, max: 50}}.
// Min stays 0 where it is left to Build.
func (t *text) reps(n *node, what string) (reps int, auto *lab.Auto) {
	switch first, _, _ := strings.Cut(strings.TrimSpace(n.text), " "); {
	case n.kind == scalar && first == autoWord:
		return t.auto(t.notation(n.after(len(autoWord)), autoWords))
	case n.kind != mapping:
		read(t, what, parseReps, func(v int) { reps = v })(n)
		return reps, nil
	}
	t.fields(n, what, []field{{autoWord, func(n *node) { reps, auto = t.auto(n) }}})
	if auto == nil && len(t.faults) == 0 {
		t.fault(n.at, what+" has no "+autoWord)
	}
	return reps, auto
}

// after is what follows the first characters of a single value.
func (n *node) after(characters int) *node {
	rest := *n
	blank := n.text[:len(n.text)-len(strings.TrimLeft(n.text, " \t\n"))]
	rest.text = n.text[len(blank)+characters:]
	rest.at = n.at.right(len(blank) + characters)
	return &rest
}

func (t *text) auto(n *node) (int, *lab.Auto) {
	a := lab.Auto{Width: defaultWidth, Max: defaultMax, Budget: defaultBudget}
	var least place
	t.fields(n, autoWord, []field{
		{"width", read(t, "width", parseWidth, func(v float64) { a.Width = v })},
		{"min", func(n *node) {
			least = n.at
			read(t, "min", number(2, maxReps), func(v int) { a.Min = v })(n)
		}},
		{"max", read(t, "max", number(2, maxReps), func(v int) { a.Max = v })},
		{"budget", read(t, "budget", parseBudget, func(v time.Duration) { a.Budget = v })},
	})
	if a.Min > a.Max {
		t.fault(least, fmt.Sprintf("min: %d blocks are more than the most, max %d", a.Min, a.Max))
	}
	return a.Max, &a
}

func parseReps(s string) (int, error) {
	n, err := number(1, maxReps)(s)
	if err != nil {
		return 0, fmt.Errorf("%w, or auto, such as auto width 10%% max 30 budget 5m", err)
	}
	return n, nil
}

// parseWidth reads how wide an interval may be, as a share of the ratio.
func parseWidth(s string) (float64, error) {
	v, err := lab.ParseShare(s)
	if err != nil {
		return 0, err
	}
	if v < minWidth || v > maxWidth {
		return 0, fmt.Errorf("%q: must be from %g%% to %g%%", s, minWidth*100, maxWidth*100)
	}
	return v, nil
}

// parseBudget reads a budget; none is no limit.
func parseBudget(s string) (time.Duration, error) {
	if s == "none" {
		return 0, nil
	}
	d, err := span(minBudget, maxBudget)(s)
	if err != nil {
		return 0, fmt.Errorf("%w, or none", err)
	}
	return d, nil
}

// repsFlag reads --reps. Its faults have no place in a text.
func repsFlag(faults *Faults, value string) (int, *lab.Auto) {
	t := newText("--reps", value, nil)
	reps, auto := t.reps(&node{kind: scalar, text: value, at: place{1, 1}, offsets: true}, "reps")
	for _, f := range t.faults {
		*faults = append(*faults, Fault{File: f.File, Message: f.Message})
	}
	return reps, auto
}

// fewest is the number of blocks from which on an exact interval of 95 % can be
// given for the median of differences: the signed-rank test's smallest p, with
// six, is 2/2⁶ = 3.1 %.
const fewest = 6

// BlocksNeeded is how many blocks each of so many comparisons of two protocols
// takes before any of them can be claimed to differ: the smallest p of the exact
// signed-rank test, 2/2ⁿ, must be within the first step of Holm's correction,
// 0.05/tests. (Wilcoxon, 1945; Holm, 1979.) It is never below six.
func BlocksNeeded(tests int) int {
	n := fewest
	for ; n < 60 && uint64(40)*uint64(max(tests, 1)) > uint64(1)<<n; n++ {
	}
	return n
}

// tests is how many pairs of protocols a study tests: all of its comparisons but
// the exact ones, which have no chance in them.
func tests(s lab.Study, comparisons []lab.Cell) int {
	inexact := 0
	for _, c := range comparisons {
		if c.Site != lab.Virtual || c.Path.Random() {
			inexact++
		}
	}
	return inexact * len(s.Protocols) * (len(s.Protocols) - 1) / 2
}

// rule is the study's rule with all that was left open in it.
func rule(s lab.Study, comparisons []lab.Cell) *lab.Auto {
	if s.Auto == nil {
		return nil
	}
	a := *s.Auto
	if a.Min == 0 {
		a.Min = min(BlocksNeeded(tests(s, comparisons)), a.Max)
	}
	return &a
}
