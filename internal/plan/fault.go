package plan

import (
	"fmt"
	"sort"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Fault is one thing that is wrong with a study, a path or a flag.
type Fault struct {
	File    string // of a study; a flag's name otherwise
	Line    int    // from 1; 0 where the fault has no place in a text
	Column  int    // from 1, in characters
	Source  string // the line itself
	Message string // what is wrong, and what is allowed
}

// String writes the fault as compilers do, with the line and a caret under the
// place:
//
//	edge.yaml:5:29: share "150%": must be from 0% to 100%
//	    5 |   edge: {rtt: 100ms, loss: 150%}
//	      |                            ^
func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	head := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	shown, caret := f.excerpt()
	return fmt.Sprintf("%s\n%5d | %s\n%5s | %s^", head, f.Line, shown, "", caret)
}

// excerpt returns the source line as it can be shown, and what goes before the
// caret so that it stands under the place. Long lines are cut to the place's
// surroundings; tabs and control characters become blanks.
func (f Fault) excerpt() (shown, caret string) {
	const before, after = 70, 30 // together the most that is shown
	runes := []rune(f.Source)
	for i, r := range runes {
		if r < ' ' || r == 0x7f || r == '\ufffd' || runewidth.RuneWidth(r) == 0 {
			runes[i] = ' '
		}
	}
	at := min(max(f.Column-1, 0), len(runes))
	from, to := 0, len(runes)
	if to > before+after {
		from, to = max(at-before, 0), min(max(at-before, 0)+before+after, to)
	}
	return string(runes[from:to]), strings.Repeat(" ", runewidth.StringWidth(string(runes[from:at])))
}

// Faults is all that is wrong, in the order of the text. It is an error.
type Faults []Fault

func (f Faults) Error() string {
	const most = 100
	var lines []string
	for _, fault := range f[:min(len(f), most)] {
		lines = append(lines, fault.String())
	}
	if len(f) > most {
		lines = append(lines, fmt.Sprintf("and %d more faults", len(f)-most))
	}
	return strings.Join(lines, "\n")
}

// err returns the faults, ordered and without repetitions, or nil when there
// are none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	sort.SliceStable(f, func(i, j int) bool {
		if f[i].Line != f[j].Line {
			return f[i].Line < f[j].Line
		}
		return f[i].Column < f[j].Column
	})
	var kept Faults
	seen := map[Fault]bool{}
	for _, fault := range f {
		if !seen[fault] {
			kept = append(kept, fault)
		}
		seen[fault] = true
	}
	return kept
}

// notKnown says that a word is not one of those allowed, and which was
// probably meant.
func notKnown(word string, allowed []string) string {
	return fmt.Sprintf("%q is not known", clip(word)) + meant(word, allowed) + "allowed: " + strings.Join(allowed, ", ")
}

// meant goes on after what is not known: with the word that was probably
// meant, if one is near.
func meant(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q? ", near)
	}
	return "; "
}

// nearest returns the word of a list that is at most two slips of the finger
// away, and less than a third of the word; empty if there is none.
func nearest(word string, list []string) string {
	best, least := "", 3
	for _, w := range list {
		d := distance(strings.ToLower(word), strings.ToLower(w))
		if d < least && d*3 < max(len(word), len(w)) {
			best, least = w, d
		}
	}
	return best
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours between two words (optimal string alignment). Words longer than
// 64 bytes are never near.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 65
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			d := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
