package lab

import (
	"strconv"
	"strings"
)

// distributions lists the distributions by their names in the notation.
var distributions = map[string]Distribution{"uniform": Uniform, "normal": Normal, "pareto": Pareto}

// String writes the jitter as its word reads it; the zero Jitter is empty.
func (j Jitter) String() string {
	if j == (Jitter{}) {
		return ""
	}
	words := []string{FormatDuration(j.Spread)}
	if j.Correlation != 0 {
		words = append(words, FormatShare(j.Correlation))
	}
	if j.Distribution != Uniform {
		words = append(words, string(j.Distribution))
	}
	if j.InOrder {
		words = append(words, "in-order")
	}
	return strings.Join(words, " ")
}

// readDelay reads TIME [JITTER [CORRELATION]], as netem has it.
func (w *Way) readDelay(v *values) {
	w.Delay = next(v, "a time such as 20ms", ParseDelay)
	if v.number("a jitter such as 5ms") {
		w.Jitter = readSpread(v)
	}
}

// readJitter reads TIME [CORRELATION] [DISTRIBUTION] [in-order].
func (w *Way) readJitter(v *values) {
	j := readSpread(v)
	for _, name := range []string{"uniform", "normal", "pareto"} {
		if v.word(name) {
			j.Distribution = distributions[name]
			break
		}
	}
	j.InOrder = v.word("in-order")
	if j.Spread == 0 {
		j = Jitter{}
	}
	w.Jitter = j
}

func readSpread(v *values) (j Jitter) {
	j.Spread = next(v, "a time such as 5ms", ParseDelay)
	if v.number("a correlation such as 25%") {
		j.Correlation = next(v, "a correlation", parseCorrelation)
	}
	if j.Spread == 0 {
		return Jitter{}
	}
	return j
}

// readDistribution reads netem's separate word.
func (w *Way) readDistribution(v *values) {
	for _, name := range []string{"uniform", "normal", "pareto"} {
		if v.word(name) {
			w.Jitter.Distribution = distributions[name]
			return
		}
	}
	v.fail("%q is not known; allowed: uniform, normal, pareto", clip(v.peek()))
}

// String writes the chance as its word reads it; the zero Chance is empty.
func (c Chance) String() string {
	if c == (Chance{}) {
		return ""
	}
	if c.Correlation == 0 {
		return FormatShare(c.Share)
	}
	return FormatShare(c.Share) + " " + FormatShare(c.Correlation)
}

// readChance reads SHARE [CORRELATION].
func readChance(v *values) (c Chance) {
	c.Share = next(v, "a share such as 1%", ParseShare)
	if v.number("a correlation such as 25%") {
		c.Correlation = next(v, "a correlation", parseCorrelation)
	}
	if c.Share == 0 {
		return Chance{}
	}
	return c
}

// maxGap is the largest gap of reordering.
const maxGap = 1_000_000

// String writes the reordering as its word reads it; the zero Reorder is empty.
func (r Reorder) String() string {
	s := Chance{r.Share, r.Correlation}.String()
	if r.Gap != 0 {
		s += " gap " + strconv.Itoa(r.Gap)
	}
	return s
}

// readReorder reads SHARE [CORRELATION] [gap N].
func readReorder(v *values) (r Reorder) {
	c := readChance(v)
	r.Share, r.Correlation = c.Share, c.Correlation
	if v.word("gap") {
		r.Gap = next(v, "a number of packets", whole(1, maxGap))
	}
	if r.Gap == 1 || r.Share == 0 {
		r.Gap = 0 // every packet has the chance, or none
	}
	return r
}
