package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// answer is what the verdicts of one site say, in sentences.
type answer struct {
	Site  string
	Lines []answerLine
}

type answerLine struct {
	Head string // such as "h3 against h2"
	Text string
	Kind string // for the eye: "less", "more", "both", "same", "open"
}

// tally counts the verdicts on one pair of protocols, as seen from the later one.
type tally struct {
	less, more []stats.Verdict
	same       int
	open       int // no verdict
	other      int // not comparable
}

func (t *tally) add(v stats.Verdict) {
	switch v.Verdict {
	case stats.Slower:
		t.less = append(t.less, v)
	case stats.Faster:
		t.more = append(t.more, v)
	case stats.NoDifference:
		t.same++
	case stats.NotComparable:
		t.other++
	default:
		t.open++
	}
}

func (t *tally) all() int { return len(t.less) + len(t.more) + t.same + t.open + t.other }

// answers sums the verdicts up: a lead, and for each site a line for each pair of
// protocols. No winner is named where there is none: a protocol that takes less time
// in one place and more in another is said to do both.
func answers(verdicts []stats.Verdict) (lead string, list []answer) {
	by := map[lab.SiteName]map[pair]*tally{}
	var pairs []pair
	claims, all, open := 0, 0, 0
	for _, v := range verdicts {
		if v.Metric != lab.Duration {
			continue
		}
		p := pair{v.A, v.B}
		if by[v.Site] == nil {
			by[v.Site] = map[pair]*tally{}
		}
		if by[v.Site][p] == nil {
			by[v.Site][p] = &tally{}
		}
		by[v.Site][p].add(v)
		if !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
		all++
		switch v.Verdict {
		case stats.Faster, stats.Slower:
			claims++
		case stats.NoVerdict:
			open++
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int { return -comparePairs(x, y) })
	for _, site := range answerOrder {
		if by[site] == nil {
			continue
		}
		a := answer{Site: siteWords[site]}
		for _, p := range pairs {
			if t := by[site][p]; t != nil {
				a.Lines = append(a.Lines, t.line(p))
			}
		}
		a.Lines = append(a.Lines, successes(verdicts, site)...)
		list = append(list, a)
	}
	return leadOf(claims, open, all), list
}

// answerOrder has the sites whose time is that of a machine first: it is what the
// reader will have.
var answerOrder = []lab.SiteName{lab.Kernel, lab.Process, lab.Virtual}

var siteWords = map[lab.SiteName]string{
	lab.Virtual: "Protocol time (virtual)",
	lab.Process: "Time in one process (process)",
	lab.Kernel:  "Time here (kernel)",
	theory:      "Theory",
}

func leadOf(claims, open, all int) string {
	switch {
	case all == 0:
		return "There are no verdicts: fewer than two protocols were measured in the same place."
	case claims == 0 && open == all:
		return "Nothing can be said yet: there are too few runs for a verdict."
	case claims == 0:
		return "No difference between the protocols was shown."
	}
	return fmt.Sprintf("A difference was shown in %d of %s of protocols.", claims, plural(all, "comparison", "comparisons"))
}

func (t *tally) line(p pair) answerLine {
	l := answerLine{Head: fmt.Sprintf("%s against %s", p.b, p.a), Kind: "open"}
	var parts []string
	of := func(n int) string {
		if n == t.all() {
			return "in " + everyOf(n)
		}
		return fmt.Sprintf("in %d of %d", n, t.all())
	}
	if n := len(t.less); n > 0 {
		parts = append(parts, fmt.Sprintf("%s takes less time %s (%s)", p.b, of(n), reach(t.less)))
		l.Kind = "less"
	}
	if n := len(t.more); n > 0 {
		parts = append(parts, fmt.Sprintf("%s takes more time %s (%s)", p.b, of(n), reach(t.more)))
		l.Kind = "more"
	}
	if len(t.less) > 0 && len(t.more) > 0 {
		l.Kind = "both"
	}
	if t.same > 0 {
		parts = append(parts, "no difference shown "+of(t.same))
		if l.Kind == "open" {
			l.Kind = "same"
		}
	}
	if t.other > 0 {
		parts = append(parts, "not comparable "+of(t.other))
	}
	if t.open > 0 {
		parts = append(parts, "too little to tell "+of(t.open))
	}
	l.Text = together(strings.Join(parts, "; ")) + "."
	if l.Kind == "both" {
		l.Text += " Neither is faster everywhere."
	}
	return l
}

func everyOf(n int) string {
	switch n {
	case 1:
		return "the one comparison"
	case 2:
		return "both comparisons"
	}
	return fmt.Sprintf("all %d comparisons", n)
}

// reach is the smallest and the largest of some claims, with their places where
// they are few.
func reach(list []stats.Verdict) string {
	const few = 3
	if len(list) <= few {
		words := make([]string, len(list))
		for i, v := range list {
			words[i] = fmt.Sprintf("%s, %s: %s", clean(v.Path), clean(v.Load), mark(v))
		}
		return strings.Join(words, "; ")
	}
	var known []float64
	alone := 0
	for _, v := range list {
		if v.Ratio == nil || *v.Ratio <= 0 || math.IsInf(*v.Ratio, 0) {
			alone++
			continue
		}
		known = append(known, 1 / *v.Ratio)
	}
	var words []string
	if len(known) > 0 {
		slices.SortFunc(known, func(a, b float64) int { return cmp.Compare(math.Abs(math.Log(a)), math.Abs(math.Log(b))) })
		first, last := share(known[0]), share(known[len(known)-1])
		words = append(words, first+" to "+last)
		if first == last {
			words[0] = first
		}
	}
	if alone > 0 {
		words = append(words, fmt.Sprintf("in %d one of the two did not finish often enough", alone))
	}
	return strings.Join(words, "; ")
}

// successes are what the counts of runs that ended ok show of a site.
func successes(verdicts []stats.Verdict, site lab.SiteName) (lines []answerLine) {
	const most = 6
	n := 0
	for _, v := range verdicts {
		if v.Metric == lab.Duration || v.Site != site || v.Verdict != stats.Faster && v.Verdict != stats.Slower {
			continue
		}
		if n++; n <= most {
			lines = append(lines, answerLine{
				Head: fmt.Sprintf("%s ends ok more often", winner(v)), Kind: "open",
				Text: fmt.Sprintf("%s, %s: %s.", clean(v.Path), clean(v.Load), sentence(v.Why)),
			})
		}
	}
	if n > most {
		lines = append(lines, answerLine{Head: "Successes", Kind: "open", Text: fmt.Sprintf("and %d more differences in how often runs end ok; the verdicts have all.", n-most)})
	}
	return lines
}
