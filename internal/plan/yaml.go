package plan

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxStudy is the longest text of a study, in bytes.
const MaxStudy = 64 << 10

// maxDepth bounds how deep brackets and dashes may be nested: the YAML parser
// recurses, and needs time that grows with the square of the depth.
const maxDepth = 50

// parseYAML reads the text's single document. It returns nil when the text is
// no YAML, empty, or uses what studies have no use for; the faults say so.
func parseYAML(t *text, s string) *node {
	if !t.readable(s) {
		return nil
	}
	file, err := parseBytes([]byte(s))
	if err != nil {
		t.syntax(err)
		return nil
	}
	if len(file.Docs) == 0 || file.Docs[0] == nil || file.Docs[0].Body == nil {
		t.fault(place{1, 1}, "the study is empty")
		return nil
	}
	if len(file.Docs) > 1 {
		t.fault(at(file.Docs[1].Body), "a file holds one study: no further documents, no directives")
		return nil
	}
	return t.convert(file.Docs[0].Body)
}

func (t *text) readable(s string) bool {
	switch {
	case len(s) > MaxStudy:
		t.fault(place{1, 1}, fmt.Sprintf("the study is longer than %d KiB", MaxStudy>>10))
	case !utf8.ValidString(s):
		t.fault(place{t.badLine(), 1}, "the study is not UTF-8 text")
	case depth(s) > maxDepth:
		t.fault(place{1, 1}, fmt.Sprintf("brackets or dashes are nested deeper than %d", maxDepth))
	default:
		return true
	}
	return false
}

func (t *text) badLine() int {
	for i, line := range t.lines {
		if !utf8.ValidString(line) {
			return i + 1
		}
	}
	return 1
}

// depth is an upper bound of how deep flow collections are nested, or block
// entries opened in one line ("- - - x").
func depth(s string) (most int) {
	brackets, marks := 0, 0
	for i, c := range []byte(s) {
		switch c {
		case '[', '{':
			brackets++
		case ']', '}':
			brackets = max(brackets-1, 0)
		case ' ', '\t', '\r', '\n':
			continue
		}
		marks++
		if next := s[i+1:]; next != "" && !strings.ContainsAny(next[:1], " \t\r\n") {
			marks = 0
		}
		most = max(most, brackets, marks)
	}
	return most
}

// parseBytes calls the parser. A panic in it is a fault of the text, not of
// samewire: a study must never crash it.
func parseBytes(b []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("not YAML: %v", p)
		}
	}()
	return parser.ParseBytes(b, 0, parser.AllowDuplicateMapKey())
}

func (t *text) syntax(err error) {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil || e.GetToken().Position == nil {
		t.fault(place{1, 1}, "not YAML: "+err.Error())
		return
	}
	p := e.GetToken().Position
	hint := ""
	if i := p.Line - 1; i >= 0 && i < len(t.lines) && strings.Contains(t.lines[i], "{") {
		hint = "; a path's notation with braces in it needs quotes: 'rtt 40ms down{rate 50mbit}'"
	}
	t.fault(place{p.Line, p.Column}, "not YAML: "+e.GetMessage()+hint)
}

// at is the place of a node; a block mapping's token is its first colon.
func at(n ast.Node) place {
	switch m := n.(type) {
	case nil:
		return place{1, 1}
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return at(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return at(m.Key)
	}
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return place{1, 1}
	}
	return place{tk.Position.Line, tk.Position.Column}
}

func (t *text) convert(n ast.Node) *node {
	out := &node{kind: nothing, at: at(n)}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.kind, out.entries = mapping, t.entries(n.Values)
	case *ast.MappingValueNode:
		out.kind, out.entries = mapping, t.entries([]*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		out.kind = list
		for _, v := range n.Values {
			out.items = append(out.items, t.convert(v))
		}
	case *ast.LiteralNode:
		out.kind, out.text = scalar, strings.TrimSpace(n.Value.Value)
	case nil, *ast.NullNode:
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		out.kind = unreadable
		t.fault(out.at, "anchors, aliases and merge keys are not supported in a study: write the value out")
	case *ast.TagNode:
		out.kind = unreadable
		t.fault(out.at, "tags are not supported in a study: write the value without one")
	case ast.ScalarNode:
		t.setScalar(out, n)
	default:
		out.kind = unreadable
		t.fault(out.at, "this kind of YAML is not supported in a study")
	}
	return out
}

// setScalar takes the scalar as it was written, not as YAML's types have it:
// 1.30 stays 1.30. The place inside quotes is one further right.
func (t *text) setScalar(out *node, n ast.ScalarNode) {
	tk := n.GetToken()
	out.kind, out.text = scalar, tk.Value
	for _, quote := range []string{"", "'", `"`} {
		if t.has(out.at, quote+tk.Value+quote) {
			out.at = out.at.right(len(quote))
			out.offsets = true
			return
		}
	}
}

// has says that the text goes on with s at a place.
func (t *text) has(at place, s string) bool {
	if at.line < 1 || at.line > len(t.lines) || at.column < 1 {
		return false
	}
	line := []rune(t.lines[at.line-1])
	return at.column-1 <= len(line) && strings.HasPrefix(string(line[at.column-1:]), s)
}

func (t *text) entries(values []*ast.MappingValueNode) []entry {
	var entries []entry
	for _, v := range values {
		key := t.convert(v.Key)
		if key.kind != scalar {
			if key.kind != unreadable {
				t.fault(key.at, "a key must be a plain word")
			}
			continue
		}
		entries = append(entries, entry{key: key.text, at: key.at, value: t.convert(v.Value)})
	}
	return entries
}
