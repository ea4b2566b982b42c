package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Files reads a file that a study names, such as a trace. The names are as the
// study has them.
type Files func(name string) ([]byte, error)

// ParsePath reads the one-line notation of a path:
//
//	rtt 40ms rate 100mbit loss gemodel 1% 10% queue 1bdp down{rate 50mbit}
//
// The words are those of lab.Words, trace, and the rules drop, reject and
// outage, for both directions, or for one inside up{…} or down{…}, where they
// replace what stands outside; and for the whole path rtt, family, rebind and
// handover. docs/study.md explains each. What is not said is zero: no delay, no
// limit of rate, no loss. The error is Faults, with columns of the notation.
func ParsePath(name, notation string, files Files) (lab.Path, error) {
	t := newText(strings.TrimSuffix("path "+name, " "+Unnamed), notation, files)
	if err := checkName("path", name); err != nil {
		t.fault(place{1, 1}, err.Error())
	}
	n := &node{kind: scalar, text: notation, at: place{1, 1}, offsets: len(t.lines) == 1}
	p := t.path(name, n)
	return p, t.faults.err()
}

// Unnamed is the name of a path that has none of its own.
const Unnamed = "path"

// FindPath returns the path of a preset's name, which is the path's name then,
// or of a notation, which is Unnamed.
func FindPath(nameOrNotation string, files Files) (lab.Path, error) {
	if p, ok := lookup(pathPresets(), nameOrNotation); ok {
		return p.value, nil
	}
	if s := strings.TrimSpace(nameOrNotation); s != "" && !isNotation(s) {
		return lab.Path{}, fmt.Errorf("no preset path of that name: %s; or a notation, such as 'rtt 40ms rate 100mbit'",
			notKnown(clip(s), names(pathPresets())))
	}
	return ParsePath(Unnamed, nameOrNotation, files)
}

// isNotation tells a notation from a name.
func isNotation(s string) bool { return strings.ContainsAny(s, " \t\n{}") }

// The words of a path as a whole.
const (
	rttWord      = "rtt"
	familyWord   = "family"
	rebindWord   = "rebind"
	handoverWord = "handover"
)

// traceWord is a word of a direction whose value is a file.
const traceWord = "trace"

func pathWords() grammar {
	g := grammar{{name: rttWord}}
	for _, w := range lab.Words() {
		g = append(g, word{name: w.Name, flag: w.Flag, inside: w.Inside})
	}
	g = append(g, word{name: traceWord})
	for _, verb := range lab.RuleVerbs() {
		g = append(g, word{name: string(verb), many: true, inside: lab.RuleInside()})
	}
	return append(g,
		word{name: familyWord},
		word{name: rebindWord, inside: lab.RebindInside()},
		word{name: handoverWord, inside: lab.HandoverInside()},
		word{name: "up"}, word{name: "down"})
}

// path reads a path out of a mapping or a one-line notation.
func (t *text) path(name string, n *node) lab.Path {
	g := pathWords()
	if n.kind == scalar {
		n = t.notation(n, g)
	}
	if n.kind == mapping && len(n.entries) == 0 {
		t.fault(n.at, "the path is empty; it takes: "+strings.Join(g.names(), ", "))
	}
	r := pathReader{text: t, path: lab.Path{Name: name}}
	r.read(n)
	return r.path
}

// pathReader gathers a path: first what is said outside and inside up and down,
// wherever it stands, then what it means together.
type pathReader struct {
	*text
	path             lab.Path
	outer, up, down  []said
	rebind, handover *node
}

// said is a word with its value, as the author wrote it.
type said struct {
	word  string
	value *node
	outer bool // it stands outside up{…} and down{…}
}

func (r *pathReader) read(n *node) {
	fields := append([]field{{rttWord, r.sayer(&r.outer, rttWord, true)}}, r.wayFields(&r.outer, true)...)
	fields = append(fields,
		field{familyWord, read(r.text, familyWord, parseFamily, func(f lab.Family) { r.path.Family = f })},
		field{rebindWord, func(n *node) { r.rebind = n }},
		field{handoverWord, func(n *node) { r.handover = n }},
		field{"up", func(n *node) { r.fields(n, "up", r.wayFields(&r.up, false)) }},
		field{"down", func(n *node) { r.fields(n, "down", r.wayFields(&r.down, false)) }},
	)
	r.fields(n, "a path", fields)
	up, down := r.way(lab.Up, r.up), r.way(lab.Down, r.down)
	up.share(down)
	down.share(up)
	r.path.Up, r.path.Down = up.way, down.way
	r.readHandover()
	r.readRebind()
	r.check(up)
	r.check(down)
}

// wayFields are the words that hold for a direction, or for both.
func (r *pathReader) wayFields(level *[]said, outer bool) (out []field) {
	for _, w := range lab.Words() {
		out = append(out, field{w.Name, r.sayer(level, w.Name, outer)})
	}
	out = append(out, field{traceWord, r.sayer(level, traceWord, outer)})
	for _, verb := range lab.RuleVerbs() {
		say := r.sayer(level, string(verb), outer)
		out = append(out, field{string(verb), func(n *node) {
			if n.kind != list {
				say(n)
				return
			}
			for _, item := range n.items {
				say(item)
			}
		}})
	}
	return out
}

// sayer notes what is said at a level.
func (r *pathReader) sayer(level *[]said, word string, outer bool) func(*node) {
	return func(n *node) {
		if _, ok := r.scalar(n, word); ok {
			*level = append(*level, said{word, n, outer})
		}
	}
}

func (r *pathReader) readRebind() {
	if r.rebind == nil {
		return
	}
	s, ok := r.scalar(r.rebind, rebindWord)
	if !ok {
		return
	}
	b, err := lab.ParseRebind(s)
	if err != nil {
		r.valueFault(r.rebind, rebindWord, err)
	}
	r.path.Rebind = b
	if r.handover != nil {
		r.fault(r.rebind.at, "rebind: handover changes the client's address already: give rebind or handover, not both")
	}
}

// readHandover writes a handover out: an outage both ways, and another address
// at its end.
func (r *pathReader) readHandover() {
	if r.handover == nil {
		return
	}
	s, ok := r.scalar(r.handover, handoverWord)
	if !ok {
		return
	}
	h, err := lab.ParseHandover(s)
	if err != nil {
		r.valueFault(r.handover, handoverWord, err)
		return
	}
	end := h.At + h.For
	outage := lab.Rule{Verb: lab.RuleOutage, From: h.At, To: end}.String()
	for _, w := range []*lab.Way{&r.path.Up, &r.path.Down} {
		w.Rules = lab.JoinRules(append(w.Rules.List(), outage))
	}
	r.path.Rebind = lab.Rebind{At: end, Address: true}
}

func parseRTT(s string) (time.Duration, error) {
	d, err := lab.ParseDuration(s)
	if err != nil {
		return 0, err
	}
	if d < 0 || d > 2*lab.MaxDelay {
		return 0, fmt.Errorf("duration %q: must be from 0 to %s", s, lab.FormatDuration(2*lab.MaxDelay))
	}
	return d, nil
}

func parseFamily(s string) (lab.Family, error) {
	switch f := lab.Family(s); f {
	case lab.IPv4:
		return "", nil // the zero value, so that equal paths are equal values
	case lab.IPv6:
		return f, nil
	}
	return "", errors.New(notKnown(s, []string{string(lab.IPv4), string(lab.IPv6)}))
}

// valueFault says what is wrong with a value, at the part of it that is.
func (t *text) valueFault(n *node, word string, err error) {
	at := n.at
	var v *lab.ValueError
	if errors.As(err, &v) && n.offsets {
		at = at.right(v.At)
	}
	t.fault(at, word+": "+strings.TrimPrefix(err.Error(), word+" "))
}

// isVerb says whether a word begins a rule.
func isVerb(word string) bool { return slices.Contains(lab.RuleVerbs(), lab.RuleVerb(word)) }
