package stats

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// The statistics that a threshold can be on.
const (
	OfMedian   = "median"
	OfWorst    = "worst"
	OfFailures = "failures"
)

// Threshold is how far the new folder of a comparison may be from the old one,
// cell by cell.
type Threshold struct {
	Text   string // as it was written
	Stat   string // OfMedian, OfWorst or OfFailures
	Metric string // empty for failures, which are the whole run's
	// Percent is the limit of the change, 0 or more, in percent of the old value.
	// Fall says that it is one on falling, not on rising.
	Percent float64
	Fall    bool
	// Count is the limit of failures: on their number where Total, else on how many
	// more there are than in the old folder.
	Count int
	Total bool
}

const (
	longestThreshold = 200 // bytes
	mostPercent      = 1e6
	mostFailures     = 1_000_000_000
)

// ParseThreshold reads a threshold:
//
//	[METRIC] median +N%     the median rose by more than N %
//	[METRIC] median -N%     it fell by more than N %
//	[METRIC] worst +N%      the same of the worst run
//	failures > N            more than N runs did not end ok
//	failures +N             more than N more than in the old folder
//
// METRIC is one of lab.Metrics, duration where none is named. N is a decimal
// number; below 100 for a fall, and whole for failures. Blanks may stand between
// all parts.
func ParseThreshold(text string) (Threshold, error) {
	t := Threshold{Text: strings.Join(strings.Fields(text), " ")}
	fault := func(at int, format string, a ...any) (Threshold, error) {
		return Threshold{}, fmt.Errorf("threshold %q: at character %d: %s", shorten(text), at+1, fmt.Sprintf(format, a...))
	}
	if len(text) > longestThreshold {
		return fault(longestThreshold, "it is longer than %d bytes", longestThreshold)
	}
	first, at, next := nextWord(text, 0)
	switch {
	case first == "":
		return fault(at, "want a statistic (%s) or a metric (%s) before it", statWords, metricWords())
	case isMetric(first):
		t.Metric = first
		if t.Stat, at, next = nextWord(text, next); t.Stat != OfMedian && t.Stat != OfWorst {
			return fault(at, "%s is not a statistic of a metric: want %s or %s", quoted(t.Stat, text[at:]), OfMedian, OfWorst)
		}
	case slices.Contains([]string{OfMedian, OfWorst, OfFailures}, first):
		t.Stat = first
		if first != OfFailures {
			t.Metric = lab.Duration
		}
	default:
		return fault(at, "%q is neither a statistic (%s) nor a metric (%s)", first, statWords, metricWords())
	}
	at, problem := t.limit(text, next)
	if problem != "" {
		return fault(at, "%s", problem)
	}
	return t, nil
}

const statWords = OfMedian + ", " + OfWorst + ", " + OfFailures

func metricWords() string {
	var words []string
	for _, m := range lab.Metrics() {
		words = append(words, m.Metric)
	}
	return strings.Join(words, ", ")
}

func isMetric(word string) bool {
	return slices.ContainsFunc(lab.Metrics(), func(m lab.Sample) bool { return m.Metric == word })
}

// limit reads the sign and the number; what is wrong, and where, comes back.
func (t *Threshold) limit(text string, from int) (at int, problem string) {
	rest := strings.TrimSpace(text[from:])
	at = from + strings.Index(text[from:], rest)
	if t.Stat == OfFailures {
		return at, t.failures(rest)
	}
	want := fmt.Sprintf("want +N%% or -N%% after %s, such as +5%%", t.Stat)
	if rest == "" || rest[0] != '+' && rest[0] != '-' {
		return at, fmt.Sprintf("%s: %s", quoted("", rest), want)
	}
	t.Fall = rest[0] == '-'
	number, ok := strings.CutSuffix(rest[1:], "%")
	number = strings.TrimSpace(number)
	v, err := decimal(number)
	switch {
	case !ok:
		return at, fmt.Sprintf("%q has no %% at its end: %s", rest, want)
	case err != nil:
		return at + 1, fmt.Sprintf("%q is not a decimal number: %s", number, want)
	case t.Fall && v >= 100:
		return at, fmt.Sprintf("nothing can fall by more than %s%%: the limit must be below 100", number)
	case v > mostPercent:
		return at, fmt.Sprintf("%s%% is too much: at most %.0f%%", number, float64(mostPercent))
	}
	t.Percent = v
	return at, ""
}

func (t *Threshold) failures(rest string) (problem string) {
	const want = "want > N or +N after failures, N a whole number, such as > 0"
	if rest == "" || rest[0] != '>' && rest[0] != '+' {
		return fmt.Sprintf("%s: %s", quoted("", rest), want)
	}
	t.Total = rest[0] == '>'
	number := strings.TrimSpace(rest[1:])
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n > mostFailures {
		return fmt.Sprintf("%q is not a number of runs up to %d: %s", number, mostFailures, want)
	}
	t.Count = int(n)
	return ""
}

// decimal reads digits with at most one point, and nothing else: no sign, no
// exponent, no infinity.
func decimal(s string) (float64, error) {
	if strings.Trim(s, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}

// nextWord returns the word at or after a place, where it begins, and what
// follows it.
func nextWord(text string, from int) (word string, at, next int) {
	at = from
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n') {
		at++
	}
	next = at
	for next < len(text) && !strings.ContainsRune(" \t\n+->", rune(text[next])) {
		next++
	}
	return text[at:next], at, next
}

func quoted(word, rest string) string {
	if word == "" {
		word = rest
	}
	if word == "" {
		return "the end"
	}
	return strconv.Quote(shorten(word))
}

func shorten(s string) string {
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// worsening returns the limit as one on the logarithm of a ratio of badness, which
// is the value itself, or its inverse where more is better: how much worse (or
// better) is allowed, 0 or more.
func (t Threshold) worsening() (worse bool, most float64) {
	change := t.Percent / 100
	if t.Fall {
		change = -change
	}
	return t.Fall == higherIsBetter(t.Metric), math.Abs(math.Log1p(change))
}
