package plan

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// The limits of a study.
const (
	maxReps     = 100_000
	maxTimeout  = 24 * time.Hour
	maxLateness = time.Minute
	// MaxRuns is the most runs that one plan may have.
	MaxRuns = 100_000
)

var nameShape = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// checkName holds a name to what can stand in a command line, a folder's name
// and a table.
func checkName(what, name string) error {
	switch {
	case !nameShape.MatchString(name):
		return fmt.Errorf("%s's name %q: must be 1 to 64 of the characters A-Z a-z 0-9 . _ -", what, clip(name))
	case name[0] == '.' || name[0] == '-':
		return fmt.Errorf("%s's name %q: must begin with a letter, a digit or _", what, name)
	}
	return nil
}

func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// ParseStudy reads the text of a study: YAML with the keys name, question,
// paths, loads, protocols, sites, stacks, reps, timeout, seed, equalise and
// lateness. The file's name is for messages, and names the study that has no
// name of its own; files reads what the study names, such as traces, and may be
// nil. What a study does not say is the default of package lab:
// all protocols, the sites virtual and kernel, lab.DefaultStack. The error is
// Faults: all that is wrong.
func ParseStudy(name string, text []byte, files Files) (lab.Study, error) {
	t := newText(name, string(text), files)
	n := parseYAML(t, string(text))
	if n == nil {
		return lab.Study{}, t.faults.err()
	}
	s := t.study(n)
	if s.Name == "" {
		base := path.Base(name)
		s.Name = strings.TrimSuffix(base, path.Ext(base))
		if checkName("the study", s.Name) != nil && len(t.faults) == 0 {
			t.fault(n.at, "the study needs a name")
		}
	}
	if err := t.faults.err(); err != nil {
		return lab.Study{}, err
	}
	return s, nil
}

func (t *text) study(n *node) lab.Study {
	s := lab.Study{
		Protocols: lab.Protocols(), Sites: []lab.SiteName{lab.Virtual, lab.Kernel},
		Stacks: []lab.Stack{lab.DefaultStack},
		Reps:   lab.DefaultReps, Timeout: lab.DefaultTimeout,
		Seed: lab.DefaultSeed, Lateness: lab.DefaultLateness,
	}
	t.fields(n, "a study", []field{
		{"name", read(t, "name", parseStudyName, func(v string) { s.Name = v })},
		{"question", read(t, "question", parseQuestion, func(v string) { s.Question = v })},
		{"paths", func(n *node) { s.Paths = axis(t, n, "path", pathPresets(), t.path, renamePath) }},
		{"loads", func(n *node) { s.Loads = axis(t, n, "load", loadPresets(), t.load, renameLoad) }},
		{"protocols", func(n *node) { s.Protocols = words(t, n, "protocol", lab.Protocols()) }},
		{"sites", func(n *node) { s.Sites = words(t, n, "site", lab.SiteNames()) }},
		{"stacks", func(n *node) { s.Stacks = t.stacks(n) }},
		{"reps", func(n *node) { s.Reps, s.Auto = t.reps(n, "reps") }},
		{"timeout", read(t, "timeout", runTimeout, func(v time.Duration) { s.Timeout = v })},
		{"seed", read(t, "seed", parseSeed, func(v uint64) { s.Seed = v })},
		{"equalise", read(t, "equalise", parseBool, func(v bool) { s.Equalise = v })},
		{"lateness", read(t, "lateness", span(time.Microsecond, maxLateness), func(v time.Duration) { s.Lateness = v })},
	})
	for _, key := range []string{"paths", "loads"} {
		if !has(n, key) {
			t.fault(n.at, "the study has no "+key+": no cell is left to measure")
		}
	}
	return s
}

func has(n *node, key string) bool {
	for _, e := range n.entries {
		if e.key == key {
			return true
		}
	}
	return n.kind != mapping // another fault says so already
}

// axis reads the paths or the loads: a mapping from names to presets' names,
// notations or mappings, or a list of presets' names.
func axis[T any](t *text, n *node, what string, presets []preset[T],
	parse func(string, *node) T, rename func(T, string) T) (out []T) {
	var entries []entry
	switch n.kind {
	case mapping:
		entries = n.entries
	case list:
		for _, item := range n.items {
			if name, ok := t.scalar(item, "a "+what+" in a list"); ok {
				entries = append(entries, entry{key: name, at: item.at, value: item})
			}
		}
	default:
		t.fault(n.at, what+"s must be a mapping of names, or a list of presets such as ["+presets[0].name+"]")
		return nil
	}
	if len(n.entries)+len(n.items) == 0 {
		t.fault(n.at, "there is no "+what+": no cell is left to measure")
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if err := checkName(what, e.key); err != nil {
			t.fault(e.at, err.Error())
		}
		if seen[e.key] {
			t.fault(e.at, fmt.Sprintf("%s %q is given twice", what, clip(e.key)))
		}
		seen[e.key] = true
		out = append(out, member(t, e, what, presets, parse, rename))
	}
	return out
}

// member reads one path or load: the name of a preset, a notation or a mapping.
func member[T any](t *text, e entry, what string, presets []preset[T],
	parse func(string, *node) T, rename func(T, string) T) (zero T) {
	v := e.value
	switch {
	case v.kind == nothing:
		t.fault(e.at, fmt.Sprintf("%s %q has no value", what, clip(e.key)))
		return zero
	case v.kind == unreadable:
		return zero
	case v.kind != scalar || isNotation(v.text):
		return parse(e.key, v)
	}
	p, ok := lookup(presets, v.text)
	if !ok {
		t.fault(v.at, fmt.Sprintf("no preset %s of that name: %s", what, notKnown(clip(v.text), names(presets))))
		return zero
	}
	return rename(p.value, e.key)
}

func renamePath(p lab.Path, name string) lab.Path { p.Name = name; return p }
func renameLoad(l lab.Load, name string) lab.Load { l.Name = name; return l }

// words reads a list of words out of a closed list.
func words[T ~string](t *text, n *node, what string, allowed []T) (out []T) {
	items := n.items
	if n.kind == scalar {
		items = []*node{n}
	} else if n.kind != list {
		t.fault(n.at, what+"s must be a list; allowed: "+strings.Join(texts(allowed), ", "))
		return nil
	}
	if len(items) == 0 {
		t.fault(n.at, "there is no "+what+": no cell is left to measure; allowed: "+strings.Join(texts(allowed), ", "))
	}
	seen := map[T]bool{}
	for _, item := range items {
		read(t, what, oneOf(allowed), func(v T) {
			if seen[v] {
				t.fault(item.at, fmt.Sprintf("%s %q is given twice", what, string(v)))
			}
			seen[v] = true
			out = append(out, v)
		})(item)
	}
	return out
}

func (t *text) stacks(n *node) (out []lab.Stack) {
	if n.kind != list {
		t.fault(n.at, "stacks must be a list, such as [{server: embedded, client: embedded}]")
		return nil
	}
	if len(n.items) == 0 {
		t.fault(n.at, "there is no stack: no cell is left to measure")
	}
	seen := map[lab.Stack]bool{}
	for _, item := range n.items {
		found := len(t.faults)
		s := t.stack(item)
		if seen[s] && len(t.faults) == found {
			t.fault(item.at, "this stack is given twice")
		}
		seen[s] = true
		out = append(out, s)
	}
	return out
}

func parseStudyName(s string) (string, error) { return s, checkName("the study", s) }

func parseQuestion(s string) (string, error) { return strings.Join(strings.Fields(s), " "), nil }

func parseSeed(s string) (uint64, error) {
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: must be a whole number from 0 to %d", s, uint64(1<<64-1))
	}
	return v, nil
}

// runTimeout reads a run's time limit.
func runTimeout(s string) (time.Duration, error) { return span(time.Millisecond, maxTimeout)(s) }

// span makes the parser of a duration in a range.
func span(low, high time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := lab.ParseDuration(s)
		if err != nil {
			return 0, err
		}
		if d < low || d > high {
			return 0, fmt.Errorf("duration %q: must be from %s to %s", s, low, high)
		}
		return d, nil
	}
}
