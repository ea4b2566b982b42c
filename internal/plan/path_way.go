package plan

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/samewire/samewire/internal/lab"
)

// wayReader reads one direction out of all that is said of it.
type wayReader struct {
	*text
	direction lab.Direction
	said      []said // what holds for the direction
	way       lab.Way
	bad       map[string]bool // words whose value is a fault
}

// way reads a direction. What is said of it alone replaces what is said of both.
func (r *pathReader) way(d lab.Direction, inner []said) *wayReader {
	w := &wayReader{text: r.text, direction: d, bad: map[string]bool{}}
	for _, o := range r.outer {
		replaced := false
		for _, i := range inner {
			replaced = replaced || replaces(i, o.word)
		}
		if !replaced {
			w.said = append(w.said, o)
		}
	}
	w.said = append(w.said, inner...)
	w.read()
	return w
}

// replaces says whether a word inside up{…} or down{…} takes the place of one
// outside.
func replaces(inner said, outer string) bool {
	switch {
	case inner.word == outer:
		return true
	case inner.word == "delay" && outer == rttWord:
		return true
	case inner.word == "delay" && outer == "jitter":
		return len(parts(inner.value.text)) > 1 // it brings its own
	case inner.word == traceWord && outer == "rate", inner.word == "rate" && outer == traceWord:
		return true
	}
	return false
}

// find returns what is said under a word.
func (w *wayReader) find(word string) (said, bool) {
	for _, s := range w.said {
		if s.word == word {
			return s, true
		}
	}
	return said{}, false
}

// has says that a word is said, and its value is no fault.
func (w *wayReader) has(word string) bool {
	_, ok := w.find(word)
	return ok && !w.bad[word]
}

func (w *wayReader) read() {
	if s, ok := w.find(rttWord); ok {
		w.readRTT(s)
	}
	for _, word := range lab.Words() {
		s, ok := w.find(word.Name)
		if !ok {
			continue
		}
		if err := word.Set(&w.way, s.value.text); err != nil {
			w.bad[word.Name] = true
			w.valueFault(s.value, word.Name, err)
		}
	}
	if s, ok := w.find(traceWord); ok {
		w.readTrace(s)
	}
	w.readRules()
}

// readRTT takes the direction's half; an odd nanosecond goes down.
func (w *wayReader) readRTT(s said) {
	d, err := parseRTT(s.value.text)
	if err != nil {
		w.bad[rttWord] = true
		w.valueFault(s.value, rttWord, err)
	}
	w.way.Delay = d / 2
	if w.direction == lab.Down {
		w.way.Delay = d - d/2
	}
}

func (w *wayReader) readTrace(s said) {
	trace, err := w.traceFile(s.value.text)
	if err != nil {
		w.bad[traceWord] = true
		w.fault(s.value.at, "trace: "+strings.TrimPrefix(err.Error(), "trace "))
		return
	}
	w.way.Trace = trace
}

// traceFile reads a trace and looks whether it is one.
func (w *wayReader) traceFile(name string) (trace lab.Trace, err error) {
	switch {
	case strings.ContainsAny(name, " \t\n{}"):
		return trace, fmt.Errorf("%q: a file's name cannot have blanks or braces in it", clip(name))
	case w.files == nil:
		return trace, fmt.Errorf("%q: no file can be read here", clip(name))
	}
	b, err := w.files(name)
	switch {
	case err != nil:
		return trace, err
	case !utf8.Valid(b):
		return trace, fmt.Errorf("%q: it is not text", clip(name))
	}
	trace = lab.NewTrace(name, string(b))
	return trace, trace.Check()
}

// readRules keeps the rules in the order in which they are said.
func (w *wayReader) readRules() {
	var list []string
	for _, s := range w.said {
		if !isVerb(s.word) {
			continue
		}
		rule, err := lab.ParseRule(s.word + " " + s.value.text)
		if err != nil {
			w.bad[s.word] = true
			w.ruleFault(s, err)
			continue
		}
		list = append(list, rule.String())
	}
	w.way.Rules = lab.JoinRules(list)
}

var quoted = regexp.MustCompile(`"([^"]+)"`)

// ruleFault puts a fault at the part of the rule that its message quotes, or
// begins with.
func (w *wayReader) ruleFault(s said, err error) {
	message := strings.TrimPrefix(err.Error(), fmt.Sprintf("rule %q: ", strings.TrimSpace(s.word+" "+s.value.text)))
	first, _, _ := strings.Cut(message, ":")
	candidates := []string{first}
	for _, q := range quoted.FindAllStringSubmatch(message, -1) {
		candidates = append(candidates, q[1])
	}
	at := s.value.at
	for _, c := range candidates {
		if i := strings.Index(s.value.text, c); i >= 0 && s.value.offsets {
			at = s.value.at.right(utf8.RuneCountInString(s.value.text[:i]))
		}
	}
	w.fault(at, s.word+": "+message)
}

// limited says that the direction has a limit of rate, or was meant to.
func (w *wayReader) limited() bool { return w.way.Limited() || w.bad["rate"] || w.bad[traceWord] }

// share drops what was said of both directions and has no meaning without a
// rate, where only the other direction has one.
func (w *wayReader) share(other *wayReader) {
	if w.limited() || !other.limited() {
		return
	}
	var kept []said
	for _, s := range w.said {
		if !s.outer || !needsRate(s.word) {
			kept = append(kept, s)
		}
	}
	w.said = kept
	w.way.Burst, w.way.Police, w.way.Queue, w.way.AQM = 0, false, lab.Queue{}, lab.AQM{}
	for _, word := range lab.Words() {
		if s, ok := w.find(word.Name); ok && word.Rate && !w.bad[word.Name] {
			_ = word.Set(&w.way, s.value.text) // it was read before, and is a fault of its own
		}
	}
}

func needsRate(name string) bool {
	for _, w := range lab.Words() {
		if w.Name == name {
			return w.Rate
		}
	}
	return false
}

// parts are what blanks separate in a value.
func parts(value string) []string { return strings.Fields(value) }
