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

// factor is something that a study sweeps.
type factor struct {
	name string
	of   func(lab.Path) float64
	word func(lab.Path) string
}

var factors = []factor{
	{"rate", func(p lab.Path) float64 { return rateOf(p) }, func(p lab.Path) string { return p.Down.MeanRate().String() }},
	{"round-trip time", func(p lab.Path) float64 { return p.RTT().Seconds() }, func(p lab.Path) string { return lab.FormatDuration(p.RTT()) }},
	{"loss", func(p lab.Path) float64 { return lossOf(p) }, func(p lab.Path) string { return fmt.Sprintf("%.3g %%", 100*lossOf(p)) }},
}

// rateOf puts no limit at the far end.
func rateOf(p lab.Path) float64 {
	if r := p.Down.MeanRate(); r > 0 {
		return float64(r)
	}
	return math.Inf(1)
}

func lossOf(p lab.Path) float64 { return max(p.Down.Loss.Mean(), p.Up.Loss.Mean()) }

// swept are the two factors of a section that make a grid of its paths: each pair
// of values at most once, the pairs at least half of the grid. There is none where
// rows differ in their stacks.
func swept(rows []*row) (x, y factor, ok bool) {
	for i, x := range factors {
		for _, y := range factors[i+1:] {
			xs, ys, places := map[float64]bool{}, map[float64]bool{}, map[[2]float64]bool{}
			for _, r := range rows {
				a, b := x.of(r.key.path), y.of(r.key.path)
				xs[a], ys[b], places[[2]float64{a, b}] = true, true, true
			}
			if len(xs) > 1 && len(ys) > 1 && len(places) == len(rows) && 2*len(places) > len(xs)*len(ys) && len(rows) >= 4 {
				return x, y, true
			}
		}
	}
	return x, y, false
}

// heats draws the verdicts of a study that sweeps two factors of its paths: a chart
// a load, site and pair of protocols.
func (d *drawer) heats() chartGroup {
	g := chartGroup{
		ID: "heat", Title: "Where it pays",
		Text: "The time of the first named protocol against the second over the two factors that this study sweeps. Blue takes less time, orange more, the deeper the more; yellow (~) is no difference shown; grey is no claim at all: ? too little to tell, ≠ not comparable.",
	}
	left, fields := 0, 0
	m, verdicts := newMatrix(d.in.Out.Verdicts), verdictsByPlace(d.in.Out.Verdicts)
	for _, s := range d.sections {
		x, y, ok := swept(s.rows)
		if !ok {
			continue
		}
		for _, site := range d.sites {
			for _, p := range m.pairs {
				if len(g.Charts) == mostHeats || fields+len(s.rows) > mostFields {
					left++
					continue
				}
				if c := heat(s, site, p, verdicts, x, y); len(c.Data.Marks) > 0 {
					fields += len(c.Data.Marks)
					d.add(&g, c)
				}
			}
		}
	}
	if left > 0 {
		g.LeftOut = fmt.Sprintf("%d more are not drawn; the verdicts have them.", left)
	}
	return g
}

// place is where a verdict on durations holds.
type place struct {
	path, load string
	site       lab.SiteName
	pair       pair
}

func verdictsByPlace(verdicts []stats.Verdict) map[place]*stats.Verdict {
	by := map[place]*stats.Verdict{}
	for i := range verdicts {
		if v := &verdicts[i]; v.Metric == lab.Duration {
			by[place{v.Path, v.Load, v.Site, pair{v.A, v.B}}] = v
		}
	}
	return by
}

func heat(s *section, site lab.SiteName, p pair, verdicts map[place]*stats.Verdict, x, y factor) chart {
	c := chart{
		Title: fmt.Sprintf("%s, %s: %s", p, clean(s.load.Name), site),
		Data:  chartData{Kind: "heat", X: x.name, Y: y.name},
		Head:  []string{x.name, y.name, "path", p.String()},
	}
	rows := slices.Clone(s.rows)
	by := func(f factor) []string {
		slices.SortStableFunc(rows, func(a, b *row) int { return cmp.Compare(f.of(a.key.path), f.of(b.key.path)) })
		all := make([]string, len(rows))
		for i, r := range rows {
			all[i] = f.word(r.key.path)
		}
		return slices.Compact(all)
	}
	c.Data.Across, c.Data.Labels = by(x), by(y)
	for _, r := range rows {
		found := verdicts[place{r.key.path.Name, s.load.Name, site, p}]
		if found == nil {
			continue
		}
		v := *found
		m := datum{Label: y.word(r.key.path), Across: x.word(r.key.path), Word: mark(v), Kind: "open"}
		switch v.Verdict {
		case stats.NoDifference:
			m.Kind = "same"
		case stats.NotComparable:
			m.Kind = "other"
		}
		if (v.Verdict == stats.Faster || v.Verdict == stats.Slower) && v.Ratio != nil && *v.Ratio > 0 {
			change := math.Log2(1 / *v.Ratio)
			m.X, m.Kind = &change, "claim"
		}
		m.Text = clean(r.label) + ": " + m.Word
		if i := strings.Index(m.Word, " ("); i > 0 {
			m.Word = m.Word[:i] // the rest is in the table
		}
		c.Data.Marks = append(c.Data.Marks, m)
		c.Rows = append(c.Rows, []string{m.Across, m.Label, clean(r.label), mark(v)})
	}
	c.Alt = "Verdicts over " + x.name + " and " + y.name + ": " + c.Title + ". The table below has them."
	return c
}
