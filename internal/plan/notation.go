package plan

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// grammar is what the one-line notation needs to know of its words.
type grammar []word

type word struct {
	name string
	flag bool // it may stand without a value
	many bool // it may stand several times
	// inside are the words that can stand inside the value; what begins as
	// numbers do always can.
	inside []string
}

func (g grammar) find(name string) (word, bool) {
	for _, w := range g {
		if w.name == name {
			return w, true
		}
	}
	return word{}, false
}

func (g grammar) names() []string {
	out := make([]string, len(g))
	for i, w := range g {
		out[i] = w.name
	}
	return out
}

// token is a word or a brace of the notation.
type token struct {
	text   string
	column int // characters before it
}

func lex(s string) []token {
	var tokens []token
	start, column := -1, 0
	runes := []rune(s)
	end := func() {
		if start >= 0 {
			tokens = append(tokens, token{string(runes[start:column]), start})
			start = -1
		}
	}
	for _, r := range runes {
		switch {
		case unicode.IsSpace(r):
			end()
		case r == '{' || r == '}':
			end()
			tokens = append(tokens, token{string(r), column})
		case start < 0:
			start = column
		}
		column++
	}
	end()
	return tokens
}

// notation reads "rtt 40ms rate 100mbit down{loss 1%}" into the mapping that
// says the same in YAML.
//
// A value is the part after its word, and what follows and belongs to it: what
// begins as numbers do, and the words that can stand inside this value. So "loss
// gemodel 1% 10% queue 1bdp" is two words with their values, and in "loss 1% rat
// 5mbit" the third part is a word that is not known. A part before a { is always
// a word of its own; and so is burst with a size (of the token bucket) after
// loss, whose own burst is a number of packets.
func (t *text) notation(n *node, g grammar) *node {
	p := &notationParser{text: t, grammar: g, runes: []rune(n.text), tokens: lex(n.text), at: n.at, offsets: n.offsets}
	return p.mapping(0)
}

type notationParser struct {
	*text
	grammar
	runes   []rune
	tokens  []token
	at      place
	offsets bool
}

func (p *notationParser) place(tk token) place {
	if !p.offsets {
		return p.at
	}
	return p.at.right(tk.column)
}

func (p *notationParser) next() (token, bool) {
	if len(p.tokens) == 0 {
		return token{}, false
	}
	return p.tokens[0], true
}

func (p *notationParser) take() token {
	tk := p.tokens[0]
	p.tokens = p.tokens[1:]
	return tk
}

func (p *notationParser) mapping(depth int) *node {
	out := &node{kind: mapping, at: p.at}
	if tk, ok := p.next(); ok {
		out.at = p.place(tk)
	}
	for {
		tk, ok := p.next()
		if !ok {
			if depth > 0 {
				p.fault(out.at, "a { is not closed: } is missing")
			}
			return out
		}
		p.take()
		switch tk.text {
		case "}":
			if depth > 0 {
				return out
			}
			p.fault(p.place(tk), "this } closes nothing")
		case "{":
			p.fault(p.place(tk), "a { must follow a word, such as down{…}")
			p.mapping(depth + 1)
		default:
			w, _ := p.find(tk.text)
			e := entry{key: tk.text, at: p.place(tk), again: w.many}
			if i := len(out.entries) - 1; i >= 0 {
				before, _ := p.find(out.entries[i].key)
				e.near = before.inside
			}
			e.value = p.value(tk, w, depth)
			out.entries = append(out.entries, e)
		}
	}
}

// value reads what belongs to a word.
func (p *notationParser) value(key token, w word, depth int) *node {
	tk, ok := p.next()
	if ok && tk.text == "{" {
		p.take()
		return p.mapping(depth + 1)
	}
	switch {
	case w.flag && (!ok || tk.text != "true" && tk.text != "false"):
		return &node{kind: scalar, text: "true", at: p.place(key)}
	case !ok || tk.text == "}" || p.isKey(w):
		return &node{kind: nothing, at: p.place(key)}
	}
	first, last := p.take(), tk
	for p.belongs(w) {
		last = p.take()
	}
	value := string(p.runes[first.column : last.column+len([]rune(last.text))])
	return &node{kind: scalar, text: value, at: p.place(first), offsets: p.offsets}
}

// isKey says whether the part after a word is the next word, so that there is no
// value.
func (p *notationParser) isKey(w word) bool {
	_, is := p.find(p.tokens[0].text)
	return is && !p.belongs(w)
}

// belongs says whether the next part belongs to the value of a word.
func (p *notationParser) belongs(w word) bool {
	if len(p.tokens) == 0 {
		return false
	}
	part, after := p.tokens[0].text, ""
	if len(p.tokens) > 1 {
		after = p.tokens[1].text
	}
	switch {
	case part == "{" || part == "}" || after == "{":
		return false
	case w.name == "loss" && part == "burst":
		_, err := strconv.Atoi(after)
		return err == nil
	}
	return strings.ContainsAny(part[:1], "0123456789+-.") || slices.Contains(w.inside, part)
}
