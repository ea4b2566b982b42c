package plan

import (
	"slices"
	"strings"
	"unicode"
)

// grammar is what the one-line notation needs to know of its words: which
// exist, and which of them may stand without a value.
type grammar struct {
	words []string
	flags []string
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
// says the same in YAML. A value is one word, and what follows it and begins
// with a digit: such a word can be no key, so that "loss gemodel 1% 10%" is
// one wrong value and not three wrong words.
func (t *text) notation(n *node, g grammar) *node {
	p := &notationParser{text: t, grammar: g, tokens: lex(n.text), at: n.at, offsets: n.offsets}
	return p.mapping(0)
}

type notationParser struct {
	*text
	grammar
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
			out.entries = append(out.entries, entry{tk.text, p.place(tk), p.value(tk, depth)})
		}
	}
}

// value reads what belongs to a word.
func (p *notationParser) value(word token, depth int) *node {
	tk, ok := p.next()
	if ok && tk.text == "{" {
		p.take()
		return p.mapping(depth + 1)
	}
	flag := slices.Contains(p.flags, word.text)
	switch {
	case flag && (!ok || tk.text != "true" && tk.text != "false"):
		return &node{kind: scalar, text: "true", at: p.place(word)}
	case !ok || tk.text == "}" || slices.Contains(p.words, tk.text):
		return &node{kind: nothing, at: p.place(word)}
	}
	p.take()
	parts := []string{tk.text}
	for {
		more, ok := p.next()
		if !ok || !strings.ContainsAny(more.text[:1], "0123456789+-.") {
			break
		}
		parts = append(parts, p.take().text)
	}
	return &node{kind: scalar, text: strings.Join(parts, " "), at: p.place(tk)}
}
