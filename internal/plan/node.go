package plan

import (
	"fmt"
	"slices"
	"strings"
)

// node is a piece of a study or of a path's notation, wherever it came from:
// the walkers below see nodes only, so that YAML and the one-line notation
// mean the same.
type node struct {
	kind kind
	text string // of a scalar
	at   place
	// offsets says that the scalar stands in the source as it is, so that a
	// place inside it can be counted.
	offsets bool
	items   []*node // of a list
	entries []entry // of a mapping
}

type kind int

const (
	scalar kind = iota
	mapping
	list
	nothing    // an empty value
	unreadable // a value that is a fault already
)

func (k kind) String() string {
	return [...]string{"a single value", "a mapping", "a list", "nothing", "unreadable"}[k]
}

type entry struct {
	key   string
	at    place
	value *node
	again bool     // the key may stand several times in this mapping
	near  []string // what else may have been meant by the key
}

// place is a place in the text: line and column from 1, in characters.
type place struct{ line, column int }

func (p place) right(n int) place { return place{p.line, p.column + n} }

// text is what is being read, with the faults found so far.
type text struct {
	file   string
	files  Files // nil: none can be read
	lines  []string
	faults Faults
}

func newText(file, s string, files Files) *text {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return &text{file: file, files: files, lines: strings.Split(s, "\n")}
}

func (t *text) fault(at place, message string) {
	f := Fault{File: t.file, Line: max(at.line, 1), Column: max(at.column, 1), Message: message}
	if f.Line <= len(t.lines) {
		f.Source = t.lines[f.Line-1]
	}
	t.faults = append(t.faults, f)
}

// field is what a mapping may have under one key.
type field struct {
	key  string
	read func(*node)
}

// fields walks a mapping: each entry goes to its field's reader; unknown and
// repeated keys are faults.
func (t *text) fields(n *node, what string, fields []field) {
	if n.kind == unreadable {
		return
	}
	if n.kind != mapping {
		t.fault(n.at, what+" must be a mapping, not "+n.kind.String()+"; allowed keys: "+strings.Join(keys(fields), ", "))
		return
	}
	seen := map[string]bool{}
	for _, e := range n.entries {
		f, ok := find(fields, e.key)
		switch {
		case !ok:
			t.fault(e.at, fmt.Sprintf("%q is not known", clip(e.key))+
				meant(e.key, slices.Concat(keys(fields), e.near))+"allowed: "+strings.Join(keys(fields), ", "))
		case seen[e.key] && !e.again:
			t.fault(e.at, e.key+" is given twice")
		case e.value.kind == nothing:
			t.fault(e.at, e.key+" has no value")
		case e.value.kind != unreadable:
			f.read(e.value)
		}
		seen[e.key] = true
	}
}

func find(fields []field, key string) (field, bool) {
	for _, f := range fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

func keys(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	return names
}

// scalar returns the text of a single value; a fault and false for others.
func (t *text) scalar(n *node, what string) (string, bool) {
	if n.kind != scalar {
		if n.kind != unreadable {
			t.fault(n.at, what+" must be a single value, not "+n.kind.String())
		}
		return "", false
	}
	return n.text, true
}

// read makes the reader of a single value out of a parser and a place to put
// what it returns.
func read[T any](t *text, key string, parse func(string) (T, error), to func(T)) func(*node) {
	return func(n *node) {
		s, ok := t.scalar(n, key)
		if !ok {
			return
		}
		v, err := parse(s)
		if err != nil {
			t.fault(n.at, key+": "+strings.TrimPrefix(err.Error(), key+" "))
			return
		}
		to(v)
	}
}
