package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
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
		list = append(list, together(clipped(oneLine(n), mostSentence)))
	}
	if n := len(notes) - mostNotes; n > 0 {
		list = append(list, fmt.Sprintf("and %d more, which --format text has.", n))
	}
	return list
}

// clean makes a name fit for one line of a page.
func clean(s string) string { return clipped(oneLine(s), mostName) }

func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// clipped shortens what is longer than so many characters, and says so.
func clipped(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// together keeps a number with its sign of percent, and a pair of protocols, on one
// line.
func together(s string) string { return unbroken.Replace(s) }

var unbroken = strings.NewReplacer(" %", "\u00a0%", " : h", "\u00a0:\u00a0h", " ms", "\u00a0ms", " s)", "\u00a0s)")
