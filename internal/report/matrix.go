package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// matrix is the verdicts of a study: for each load a row for each path and site,
// a column for each pair of protocols.
type matrix struct {
	pairs []pair
	loads []*matrixLoad
}

type matrixLoad struct {
	name string
	rows []*matrixRow
}

type matrixRow struct {
	path, stack string
	site        lab.SiteName
	verdicts    map[pair]stats.Verdict
}

// pair is two protocols: the later one of lab.Protocols is measured against the
// earlier one, so that h3 is what is asked about.
type pair struct{ a, b lab.Protocol }

func (p pair) String() string { return string(p.b) + " : " + string(p.a) }

// newMatrix arranges the verdicts on durations. They keep their order.
func newMatrix(verdicts []stats.Verdict) *matrix {
	m := &matrix{}
	stack := stackWords(verdicts)
	type rowName struct {
		load, path, stack string
		site              lab.SiteName
	}
	loads, rows := map[string]*matrixLoad{}, map[rowName]*matrixRow{}
	for _, v := range verdicts {
		if v.Metric != lab.Duration {
			continue
		}
		l := loads[v.Load]
		if l == nil {
			l = &matrixLoad{name: v.Load}
			loads[v.Load] = l
			m.loads = append(m.loads, l)
		}
		name := rowName{v.Load, v.Path, stack(v), v.Site}
		r := rows[name]
		if r == nil {
			r = &matrixRow{path: v.Path, stack: name.stack, site: v.Site, verdicts: map[pair]stats.Verdict{}}
			rows[name] = r
			l.rows = append(l.rows, r)
		}
		p := pair{v.A, v.B}
		r.verdicts[p] = v
		if !slices.Contains(m.pairs, p) {
			m.pairs = append(m.pairs, p)
		}
	}
	slices.SortFunc(m.pairs, comparePairs)
	return m
}

func comparePairs(x, y pair) int {
	of := func(p lab.Protocol) int { return slices.Index(lab.Protocols(), p) }
	return cmp.Or(cmp.Compare(of(x.b), of(y.b)), cmp.Compare(of(x.a), of(y.a)))
}

// stackWords returns the words of a verdict's stack that are not the same in all
// verdicts, so that a row has to say them.
func stackWords(verdicts []stats.Verdict) func(stats.Verdict) string {
	attributes := []func(stats.Verdict) string{
		func(v stats.Verdict) string { return v.Server },
		func(v stats.Verdict) string { return v.Client },
		func(v stats.Verdict) string { return v.CC },
		func(v stats.Verdict) string { return "TLS " + v.TLS },
		func(v stats.Verdict) string { return "initcwnd " + strconv.Itoa(v.InitCwnd) },
		func(v stats.Verdict) string { return strings.TrimSpace("pacing " + v.Pacing) },
	}
	attributes = slices.DeleteFunc(attributes, func(of func(stats.Verdict) string) bool {
		return !slices.ContainsFunc(verdicts, func(v stats.Verdict) bool { return of(v) != of(verdicts[0]) })
	})
	return func(v stats.Verdict) string {
		words := make([]string, len(attributes))
		for i, of := range attributes {
			words[i] = of(v)
		}
		return strings.Join(words, " ")
	}
}

// The marks of verdicts that claim nothing. Those that claim something are the
// time of the later protocol against the earlier one: −33 % is a third less.
const (
	markSame  = "~"
	markFew   = "?"
	markOther = "≠"
)

const matrixLegend = "time of the first named against the second: −33 % is a third less; ~ no difference shown " +
	"(in brackets the smallest that would have been); ? too little to tell (in brackets the blocks it takes); ≠ not comparable"

// mark is what a verdict looks like in the matrix.
func mark(v stats.Verdict) string {
	switch v.Verdict {
	case stats.Faster, stats.Slower:
		if v.Ratio == nil || *v.Ratio <= 0 || math.IsInf(*v.Ratio, 0) {
			return winner(v) + " alone" // the other did not finish often enough
		}
		return share(1 / *v.Ratio)
	case stats.NoDifference:
		if v.Smallest != nil {
			return fmt.Sprintf("%s (%.0f %%)", markSame, math.Ceil((*v.Smallest-1)*100))
		}
		return markSame
	case stats.NotComparable:
		return markOther
	}
	if v.Needed != nil {
		return fmt.Sprintf("%s (%d)", markFew, *v.Needed)
	}
	return markFew
}

// winner is the protocol for which a verdict stands.
func winner(v stats.Verdict) string {
	if v.Verdict == stats.Faster {
		return string(v.A)
	}
	return string(v.B)
}

// share writes a ratio as a change in per cent.
func share(ratio float64) string {
	p := (ratio - 1) * 100
	s := fmt.Sprintf("%+.0f %%", p)
	switch {
	case p > 999:
		s = fmt.Sprintf("× %.0f", ratio)
	case math.Abs(p) < 9.95:
		s = fmt.Sprintf("%+.1f %%", p)
	}
	return strings.Replace(s, "-", "−", 1)
}

// writeVerdicts writes the matrix, and the reasons where nothing is claimed.
func writeVerdicts(b *strings.Builder, out stats.Output, o Options, p painter) {
	m := newMatrix(out.Verdicts)
	if len(m.loads) == 0 {
		return
	}
	b.WriteString("\n")
	line(b, p.bold("Verdicts"))
	wrap(b, indent, matrixLegend, o.Width)
	m.write(b, p)
	for _, s := range append(reasons(out.Verdicts), explanations(out.Verdicts, mostExplained)...) {
		wrap(b, indent, s, o.Width)
	}
}

// write draws the rows: a label that is too long for its column takes a line of its
// own.
func (m *matrix) write(b *strings.Builder, p painter) {
	label, site, columns := m.widths()
	for _, l := range m.loads {
		name := l.name
		if width(name) > label {
			line(b, indent+name)
			name = ""
		}
		head := indent + padRight(name, label) + indent + padRight("", site)
		for _, c := range m.pairs {
			head += gap + padRight(c.String(), columns[c])
		}
		line(b, head)
		last := ""
		for _, r := range l.rows {
			name := r.label()
			if name == last {
				name = ""
			} else if last = name; width(name) > label {
				line(b, indent+name)
				name = ""
			}
			s := indent + padRight(name, label) + indent + padRight(string(r.site), site)
			for _, c := range m.pairs {
				s += gap + m.paint(p, r, c, columns[c])
			}
			line(b, s)
		}
	}
}

func (m *matrix) paint(p painter, r *matrixRow, c pair, width int) string {
	v, ok := r.verdicts[c]
	if !ok {
		return padRight("–", width)
	}
	s := padRight(mark(v), width)
	switch v.Verdict {
	case stats.Faster, stats.Slower:
		return p.bold(s)
	case stats.NotComparable, stats.NoVerdict:
		return p.faint(s)
	}
	return s
}

func (r *matrixRow) label() string {
	if r.stack == "" {
		return indent + r.path
	}
	return indent + r.path + " " + r.stack
}

func (m *matrix) widths() (label, site int, columns map[pair]int) {
	columns = map[pair]int{}
	for _, c := range m.pairs {
		columns[c] = width(c.String())
	}
	for _, l := range m.loads {
		label = max(label, width(l.name))
		for _, r := range l.rows {
			label, site = max(label, width(r.label())), max(site, width(string(r.site)))
			for c, v := range r.verdicts {
				columns[c] = max(columns[c], width(mark(v)))
			}
		}
	}
	return min(label, longLabel), site, columns
}

// reasons says why nothing is claimed, once for all places with one reason, and
// what the success counts show.
func reasons(verdicts []stats.Verdict) (out []string) {
	var order []string
	places := map[string]*once{}
	for _, v := range verdicts {
		reason := ""
		switch {
		case v.Metric != lab.Duration:
			out = append(out, fmt.Sprintf("%s, %s, %s: %s", v.Path, v.Load, v.Site, v.Why))
			continue
		case v.Verdict == stats.NotComparable:
			reason = markOther + " " + v.Why
		case v.Verdict == stats.NoVerdict:
			reason = markFew + " " + v.Why
		default:
			continue
		}
		if places[reason] == nil {
			order = append(order, reason)
			places[reason] = &once{}
		}
		places[reason].add(fmt.Sprintf("%s/%s %s %s", v.Path, v.Load, v.Site, pair{v.A, v.B}))
	}
	for _, reason := range order {
		out = append(out, reason+": "+some(places[reason].words, 4))
	}
	return out
}

// mostExplained is how many differences the text explains; the JSON has all.
const mostExplained = 12

// explanations writes the signed terms of claimed differences, the largest share
// of time first.
func explanations(verdicts []stats.Verdict, most int) (out []string) {
	var told []stats.Verdict
	for _, v := range verdicts {
		claimed := v.Verdict == stats.Faster || v.Verdict == stats.Slower
		if claimed && v.Metric == lab.Duration && v.Difference != nil && len(v.Terms) > 0 {
			told = append(told, v)
		}
	}
	for i, v := range told {
		if i == most {
			return append(out, fmt.Sprintf("and %d more differences with their terms in --format json", len(told)-most))
		}
		out = append(out, fmt.Sprintf("%s, %s, %s: %s", v.Path, v.Load, v.Site, Explain(v)))
	}
	return out
}

// Explain writes a difference as a sum of signed terms.
func Explain(v stats.Verdict) string {
	a, b, sign := v.A, v.B, 1.0
	if *v.Difference < 0 {
		a, b, sign = v.B, v.A, -1
	}
	words := make([]string, len(v.Terms))
	sum := 0.0
	for i, t := range v.Terms {
		words[i] = signed(sign*t.Seconds) + " " + t.What
		if t.Source == stats.FromMeasurement {
			words[i] += " (measured)"
		}
		sum += sign * t.Seconds
	}
	rest := sign**v.Difference - sum
	if math.Abs(rest) >= 0.0005 {
		words = append(words, signed(rest)+" not explained")
	}
	return fmt.Sprintf("%s − %s = %s: %s", a, b, seconds(sign**v.Difference), strings.Join(words, ", "))
}

// signed writes a term of a difference.
func signed(v float64) string {
	if v < 0 {
		return "−" + seconds(-v)
	}
	return "+" + seconds(v)
}
