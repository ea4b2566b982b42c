package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// sample picks at most n of a sorted list, evenly, the first and the last
// included.
func sample[T any](list []T, n int) []T {
	if len(list) <= n || n < 2 {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*(len(list)-1)/(n-1)]
	}
	return out
}

// finished are the durations of a cell's runs that ended ok, in order, and how
// many did not.
func (d *drawer) finished(c *stats.Cell) (values []float64, failed int) {
	for _, r := range d.records[c.Cell] {
		v := r.Value(lab.Duration)
		if r.Outcome != lab.OK || v == nil {
			failed++
			continue
		}
		values = append(values, *v)
	}
	slices.Sort(values)
	return values, failed
}

// spread draws every run: a chart a load and site.
func (d *drawer) spread() chartGroup {
	g := chartGroup{
		ID: "spread", Title: "Spread: every run",
		Text: "Each mark is a run; the box is the middle half (quartiles, failed runs counted as slowest), the line in it the median. A cross at the right is a run that did not end ok, put at its time limit.",
	}
	for _, s := range d.sections {
		rows := rowsOf(s, &g)
		for _, site := range d.sites {
			c := d.spreadChart(s, rows, site, &g)
			c.Wide = len(d.sites) == 1
			if len(c.Data.Marks) > 0 {
				d.add(&g, c)
			}
		}
	}
	return g
}

func (d *drawer) spreadChart(s *section, rows []*row, site lab.SiteName, g *chartGroup) chart {
	c := chart{
		Title: clean(s.load.Name) + ": " + siteWords[site], Data: chartData{Kind: "spread", Labels: labels(rows)},
		Head: []string{"path", "protocol", "runs", "failed", "best", "lower quartile", "median", "upper quartile", "worst that finished"},
	}
	var values []float64
	cells := 0
	for _, r := range rows {
		cells += len(r.on(site))
	}
	most := max(mostMarks/max(cells, 1), 10)
	for _, r := range rows {
		for _, cell := range r.on(site) {
			p := cell.Protocol
			times, failed := d.finished(cell)
			if len(times) > most || failed > most {
				g.LeftOut = "Where a cell has more runs than a picture can hold, some are drawn: evenly taken from the sorted ones, the best and the worst included. Boxes and curves are of all."
			}
			name := clean(r.label)
			for _, v := range sample(times, most) {
				c.Data.Marks = append(c.Data.Marks, datum{Label: name, Protocol: p, Kind: "ok", X: &v, Text: fmt.Sprintf("%s, %s: %s", name, p, seconds(v))})
			}
			values = append(values, times...)
			if cell.Limit > 0 && failed > 0 {
				values = append(values, cell.Limit)
				for range min(failed, most) {
					c.Data.Marks = append(c.Data.Marks, datum{Label: name, Protocol: p, Kind: "failed", X: &cell.Limit, Text: fmt.Sprintf("%s, %s: did not end ok (%d of %d)", name, p, failed, cell.Runs)})
				}
			}
			st := cell.Statistic(lab.Duration)
			if st.Q1 != nil && st.Q3 != nil && len(times) > 2 {
				c.Data.Boxes = append(c.Data.Boxes, datum{Label: name, Protocol: p, Low: st.Q1, High: st.Q3, X: st.Median})
			}
			c.Protocols = with(c.Protocols, p)
			c.Rows = append(c.Rows, []string{
				name, string(p), fmt.Sprint(cell.Runs), fmt.Sprint(failed),
				shownTime(st.Best), shownTime(st.Q1), shownTime(st.Median), shownTime(st.Q3), shownTime(st.Worst),
			})
		}
	}
	scale(&c.Data, values)
	c.Alt = fmt.Sprintf("Times of all runs of load %s, %s. The table below has their quartiles.", clean(s.load.Name), siteWords[site])
	return c
}

func shownTime(v *float64) string {
	if v == nil {
		return "–"
	}
	return seconds(*v)
}

// on are a row's cells of a site, in the order of the protocols.
func (r *row) on(site lab.SiteName) (cells []*stats.Cell) {
	for _, p := range lab.Protocols() {
		if cell := r.cells[slot{p, site}]; cell != nil {
			cells = append(cells, cell)
		}
	}
	return cells
}

// comparison is the cells of one place, by protocol.
type comparison struct {
	name  string
	load  lab.Load
	site  lab.SiteName
	cells []*stats.Cell
}

// comparisons are the places of a study, in the order of the tables.
func (d *drawer) comparisons() (list []comparison) {
	for _, s := range d.sections {
		for _, r := range s.rows {
			for _, site := range d.sites {
				if cells := r.on(site); len(cells) > 0 {
					list = append(list, comparison{fmt.Sprintf("%s, %s, %s", clean(r.label), clean(s.load.Name), site), s.load, site, cells})
				}
			}
		}
	}
	return list
}

// varied says whether the runs of a comparison's cells differ at all: a curve of
// runs that took one and the same time shows nothing.
func (d *drawer) varied(c comparison) bool {
	for _, cell := range c.cells {
		values, failed := d.finished(cell)
		if failed > 0 && len(values) > 0 || len(values) > 1 && values[len(values)-1]-values[0] > 0.001*values[0] {
			return true
		}
	}
	return false
}

// ecdfs draws the shares of runs that ended within a time: a chart a comparison.
func (d *drawer) ecdfs() chartGroup {
	g := chartGroup{
		ID: "ecdf", Title: "Shares of runs that were done by a time",
		Text: "The empirical distribution: where a curve ends below 1, the rest of the runs did not end ok. Comparisons in which every run took the same time are not drawn.",
	}
	left := 0
	for _, c := range d.places {
		if !d.varied(c) {
			continue
		}
		if len(g.Charts) == mostPanels {
			left++
			continue
		}
		d.add(&g, d.ecdf(c))
	}
	g.LeftOut = notDrawn(left)
	return g
}

func notDrawn(left int) string {
	if left == 0 {
		return ""
	}
	return plural(left, "more comparison is", "more comparisons are") + " not drawn: a page has its limits. Spread and tables have them."
}

func (d *drawer) ecdf(c comparison) chart {
	ch := chart{
		Title: c.name, Data: chartData{Kind: "ecdf", Y: "share of runs"},
		Head: []string{"protocol", "10 % done by", "50 %", "90 %", "100 %"},
	}
	var all []float64
	for _, cell := range c.cells {
		times, _ := d.finished(cell)
		all = append(all, times...)
	}
	scale(&ch.Data, all)
	start, end := 0.0, 0.0
	if len(ch.Data.Domain) == 2 {
		// What lies between the runs matters here, not where zero is.
		low, high := slices.Min(all), slices.Max(all)
		room := max((high-low)*0.05, high*0.001)
		if !ch.Data.Log {
			ch.Data.Domain = []float64{max(low-room, 0), high + room}
		}
		start, end = ch.Data.Domain[0], ch.Data.Domain[1]
	}
	for _, cell := range c.cells {
		times, failed := d.finished(cell)
		n := len(times) + failed
		if n == 0 {
			continue
		}
		ch.Protocols = with(ch.Protocols, cell.Protocol)
		point := func(x, share float64) {
			ch.Data.Marks = append(ch.Data.Marks, datum{Protocol: cell.Protocol, X: &x, Y: &share})
		}
		ranks := make([]int, len(times))
		for i := range ranks {
			ranks[i] = i
		}
		point(start, 0)
		for _, i := range sample(ranks, mostSteps) {
			point(times[i], float64(i+1)/float64(n))
		}
		point(end, float64(len(times))/float64(n))
		row := []string{string(cell.Protocol)}
		for _, share := range []float64{0.1, 0.5, 0.9, 1} {
			k := max(int(math.Ceil(share*float64(n)-1e-9)), 1)
			if k > len(times) {
				row = append(row, "never")
				continue
			}
			row = append(row, seconds(times[k-1]))
		}
		ch.Rows = append(ch.Rows, row)
	}
	ch.Alt = "Shares of runs done by a time, " + c.name + ". The table below has the deciles."
	return ch
}

// middle is the run of a cell whose duration is the middle one of those that ended
// ok; where none did, the first; nil where there is none.
func (d *drawer) middle(c *stats.Cell) *lab.Record {
	var ok []*lab.Record
	for _, r := range d.records[c.Cell] {
		if r.Outcome == lab.OK && r.Value(lab.Duration) != nil {
			ok = append(ok, r)
		}
	}
	if len(ok) == 0 {
		if list := d.records[c.Cell]; len(list) > 0 {
			return list[0]
		}
		return nil
	}
	slices.SortFunc(ok, func(a, b *lab.Record) int {
		return cmp.Or(cmp.Compare(*a.Value(lab.Duration), *b.Value(lab.Duration)), a.Run.Rep-b.Run.Rep)
	})
	return ok[(len(ok)-1)/2]
}
