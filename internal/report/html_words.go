package report

import (
	"fmt"
	"strings"
	"unicode"
)

// The bounds of what a page repeats of others' words. Names are many times on a
// page, and a server or a study may have long ones.
const (
	mostName     = 120  // characters of a name
	mostSentence = 1500 // of a sentence
	mostNotes    = 200  // sentences of one kind
)

// notesShown is a part of the notes, bounded.
type notesShown struct {
	Head     string
	Warnings bool
	Notes    []string
}

func shownParts(parts []notePart) (list []notesShown) {
	for _, p := range parts {
		list = append(list, notesShown{p.head, p.head == warningsHead, shownNotes(p.notes)})
	}
	return list
}

// shownNotes are sentences, each in bounds, and how many are not shown.
func shownNotes(notes []string) (list []string) {
	for _, n := range notes[:min(len(notes), mostNotes)] {
		list = append(list, together(sentence(n)))
	}
	if n := len(notes) - mostNotes; n > 0 {
		list = append(list, fmt.Sprintf("and %d more, which --format text has.", n))
	}
	return list
}

// clean makes a name fit for one line of a page, and sentence a sentence.
func clean(s string) string { return oneLine(s, mostName) }

func sentence(s string) string { return oneLine(s, mostSentence) }

// oneLine has at most so many characters, and shows where there were more.
func oneLine(s string, most int) string {
	// No more of a megabyte is looked at than can be shown.
	rest := len(s) > 8*most
	if rest {
		s = strings.ToValidUTF8(s[:8*most], "")
	}
	runes := []rune(strings.Join(strings.Fields(shown(s)), " "))
	if len(runes) <= most && !rest {
		return string(runes)
	}
	return string(runes[:min(len(runes), most-1)]) + "…"
}

// shown replaces what a terminal would obey, and what would turn the text after it
// around (Unicode's Bidi_Control).
func shown(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return '?'
		}
		return r
	}, printable(s))
}

// together keeps a number with its sign of percent, and a pair of protocols, on one
// line.
func together(s string) string { return unbroken.Replace(s) }

var unbroken = strings.NewReplacer(" %", "\u00a0%", " : h", "\u00a0:\u00a0h", " ms", "\u00a0ms", " s)", "\u00a0s)")
