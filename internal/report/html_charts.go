package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// The bounds of what is drawn.
const (
	mostLabels = 40   // rows of one chart
	mostPanels = 24   // comparisons that have a chart of their own, in a group
	mostMarks  = 1500 // single runs in one chart
	mostSteps  = 200  // of one curve
	mostWorks  = 60   // requests of one waterfall
	mostHeats  = 12
	mostFields = 6000 // of all heat maps
)

// chartGroup is the charts of one kind.
type chartGroup struct {
	ID, Title, Text string
	Charts          []chart
	LeftOut         string
}

// chart is one picture: data for assets/charts.js, and the same for those who
// cannot see it.
type chart struct {
	ID, Title, Alt string
	Wide           bool // takes the page's whole width
	Protocols      []lab.Protocol
	Data           chartData
	Head           []string
	Rows           [][]string
}

// chartData is what assets/charts.js draws. Which fields have a meaning depends on
// the kind.
type chartData struct {
	Kind   string    `json:"kind"`
	X      string    `json:"x,omitempty"` // titles of axes
	Y      string    `json:"y,omitempty"`
	Log    bool      `json:"log,omitempty"` // of x
	Domain []float64 `json:"domain,omitempty"`
	Labels []string  `json:"labels,omitempty"` // the order of rows
	Across []string  `json:"across,omitempty"` // the order of columns
	Marks  []datum   `json:"marks"`
	Boxes  []datum   `json:"boxes,omitempty"`
}

// datum is one mark.
type datum struct {
	Label    string       `json:"label,omitempty"`
	Across   string       `json:"across,omitempty"`
	Protocol lab.Protocol `json:"protocol,omitempty"`
	Kind     string       `json:"kind,omitempty"`
	X        *float64     `json:"x,omitempty"`
	Low      *float64     `json:"low,omitempty"`
	High     *float64     `json:"high,omitempty"`
	Y        *float64     `json:"y,omitempty"`
	Word     string       `json:"word,omitempty"` // written into the mark
	Text     string       `json:"text,omitempty"` // told when it is pointed at
}

// drawer makes the charts of a study.
type drawer struct {
	in       HTMLInput
	sections []*section
	records  map[lab.Cell][]*lab.Record
	sites    []lab.SiteName
	places   []comparison // in the order of the tables
	n        int          // charts so far
}

func newDrawer(in HTMLInput, sections []*section) *drawer {
	d := &drawer{in: in, sections: sections, records: countedRecords(in.Records), sites: sitesOf(in.Out.Cells)}
	d.places = d.comparisons()
	return d
}

// groups are all charts, those left out that have nothing to show.
func (d *drawer) groups() (list []chartGroup) {
	for _, g := range []chartGroup{
		d.medians(), d.siteCharts(), d.heats(), d.spread(), d.ecdfs(), d.throughput(), d.waterfalls(), d.resolution(),
	} {
		if len(g.Charts) > 0 {
			list = append(list, g)
		}
	}
	return list
}

func (d *drawer) add(g *chartGroup, c chart) {
	d.n++
	c.ID = fmt.Sprintf("chart-%d", d.n)
	if c.Data.Marks == nil {
		c.Data.Marks = []datum{}
	}
	g.Charts = append(g.Charts, c)
}

// rowsOf are a section's rows that a chart has room for.
func rowsOf(s *section, g *chartGroup) []*row {
	if n := len(s.rows) - mostLabels; n > 0 {
		g.LeftOut = fmt.Sprintf("Only the first %d rows of each load are drawn; the tables have more.", mostLabels)
	}
	return s.rows[:min(len(s.rows), mostLabels)]
}

// labels are the names of rows, each once.
func labels(rows []*row) (list []string) {
	for _, r := range rows {
		list = with(list, clean(r.label))
	}
	return list
}

// scale decides how a row of times is laid out: logarithmic where they differ by
// more than twenty times.
func scale(c *chartData, values []float64) {
	values = slices.DeleteFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	c.X = "seconds"
	if len(values) == 0 {
		return
	}
	low, high := slices.Min(values), slices.Max(values)
	if c.Log = low > 0 && high > 20*low; c.Log {
		c.X = "seconds (logarithmic)"
		c.Domain = []float64{low / 1.1, high * 1.1}
		return
	}
	c.Domain = []float64{0, max(high*1.05, 1e-6)}
}

// medians draws the medians with their intervals: a chart a load and site.
func (d *drawer) medians() chartGroup {
	g := chartGroup{
		ID: "medians", Title: "Medians with their intervals",
		Text: "The median time of each protocol on each path, with its 95 % interval; a hollow mark at the right is a median beyond the time limit; a short upright line is what theory predicts. All sites of a load have one scale.",
	}
	for _, s := range d.sections {
		rows := rowsOf(s, &g)
		var values []float64
		list := make([]chart, len(d.sites))
		for i, site := range d.sites {
			list[i] = medianChart(s, rows, site)
			for _, m := range slices.Concat(list[i].Data.Marks, list[i].Data.Boxes) {
				for _, v := range []*float64{m.X, m.Low, m.High} {
					if v != nil {
						values = append(values, *v)
					}
				}
			}
		}
		for _, c := range list {
			scale(&c.Data, values)
			c.Wide = len(list) == 1
			if len(c.Data.Marks) > 0 {
				d.add(&g, c)
			}
		}
	}
	return g
}

func medianChart(s *section, rows []*row, site lab.SiteName) chart {
	c := chart{
		Title: clean(s.load.Name) + ": " + siteWords[site], Data: chartData{Kind: "medians", Labels: labels(rows)},
		Head: []string{"path", "protocol", "median", "95 % interval", "ended ok", "theory"},
	}
	for _, r := range rows {
		for _, cell := range r.on(site) {
			p := cell.Protocol
			st := cell.Statistic(lab.Duration)
			m := datum{Label: clean(r.label), Protocol: p, X: st.Median, Low: st.Low, High: st.High, Kind: "median"}
			if st.Median == nil {
				if cell.Limit == 0 || !st.Censored {
					continue
				}
				m.X, m.Kind = &cell.Limit, "beyond"
			}
			if m.Low != nil && m.High == nil && cell.Limit > 0 {
				m.High = &cell.Limit
			}
			shown, _ := value(cell)
			m.Text = fmt.Sprintf("%s, %s: %s%s, %d of %d ok", m.Label, p, shown, interval(st), cell.OK, cell.Runs)
			c.Data.Marks = append(c.Data.Marks, m)
			c.Protocols = with(c.Protocols, p)
			if st.Predicted != nil {
				c.Data.Boxes = append(c.Data.Boxes, datum{Label: m.Label, Protocol: p, X: st.Predicted, Text: "theory: " + seconds(*st.Predicted)})
			}
			c.Rows = append(c.Rows, []string{m.Label, string(p), shown, strings.Trim(interval(st), " ()"), fmt.Sprintf("%d of %d", cell.OK, cell.Runs), shownTime(st.Predicted)})
		}
	}
	c.Alt = fmt.Sprintf("Median times of load %s, %s, of %s on %s. The table below has the values.",
		clean(s.load.Name), siteWords[site], words(c.Protocols), plural(len(c.Data.Labels), "path", "paths"))
	return c
}

func words(protocols []lab.Protocol) string {
	list := make([]string, len(protocols))
	for i, p := range protocols {
		list[i] = string(p)
	}
	return strings.Join(list, ", ")
}

// siteCharts draws protocol time and the time here beside each other.
func (d *drawer) siteCharts() chartGroup {
	g := chartGroup{
		ID: "sites", Title: "Sites beside each other",
		Text: "Median times of one cell on each site. The open mark is protocol time, in which processors cost nothing; the full one is the time here. The line between them is what the implementation and the machine add.",
	}
	other := here(d.sites)
	if other == "" {
		return g
	}
	for _, s := range d.sections {
		rows := rowsOf(s, &g)
		c := chart{
			Title: clean(s.load.Name), Wide: true, Data: chartData{Kind: "sites", Labels: labels(rows)},
			Head: []string{"path", "protocol", "protocol time", "time here", "difference"},
		}
		var values []float64
		for _, r := range rows {
			for _, p := range lab.Protocols() {
				a, b := r.cells[slot{p, lab.Virtual}], r.cells[slot{p, other}]
				if a == nil || b == nil {
					continue
				}
				low, high := a.Statistic(lab.Duration).Median, b.Statistic(lab.Duration).Median
				if low == nil || high == nil {
					continue
				}
				values = append(values, *low, *high)
				text := fmt.Sprintf("%s, %s: %s in protocol time, %s here (%s)", clean(r.label), p, seconds(*low), seconds(*high), orNothing(percent(low, high)))
				c.Data.Marks = append(c.Data.Marks, datum{Label: clean(r.label), Protocol: p, Low: low, High: high, Text: text})
				c.Protocols = with(c.Protocols, p)
				c.Rows = append(c.Rows, []string{clean(r.label), string(p), seconds(*low), seconds(*high), percent(low, high)})
			}
		}
		scale(&c.Data, values)
		c.Alt = fmt.Sprintf("Protocol time beside time here, load %s. The table below has the values.", clean(s.load.Name))
		if len(c.Data.Marks) > 0 {
			d.add(&g, c)
		}
	}
	return g
}

func orNothing(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// resolution draws the intervals of the A/A arms: a chart a site.
func (d *drawer) resolution() chartGroup {
	g := chartGroup{
		ID: "resolution", Title: "Resolution: the same cell measured twice",
		Text: "The first protocol of each comparison is measured in two series. What these differ by is noise, and no claim is smaller than it.",
	}
	for _, site := range d.sites {
		c := chart{
			Title: siteWords[site], Wide: true,
			Data: chartData{Kind: "resolution", X: "difference in %"},
			Head: []string{"comparison", "difference", "95 % interval", "blocks"},
		}
		left := 0
		for _, r := range d.in.Out.Resolutions {
			if r.Site != site || r.Metric != lab.Duration || r.Ratio == nil || r.Low == nil || r.High == nil {
				continue
			}
			if len(c.Rows) >= mostLabels {
				left++
				continue
			}
			name := resolutionName(r)
			for slices.Contains(c.Data.Labels, name) {
				name += "′"
			}
			percent := func(v float64) *float64 { v = (v - 1) * 100; return &v }
			c.Data.Labels = append(c.Data.Labels, name)
			span := fmt.Sprintf("%s to %s", share(*r.Low), share(*r.High))
			c.Data.Marks = append(c.Data.Marks, datum{
				Label: name, Protocol: r.Protocol, X: percent(*r.Ratio), Low: percent(*r.Low), High: percent(*r.High),
				Text: fmt.Sprintf("%s: %s, %s", name, share(*r.Ratio), span),
			})
			c.Protocols = with(c.Protocols, r.Protocol)
			c.Rows = append(c.Rows, []string{name, share(*r.Ratio), span, fmt.Sprint(r.Blocks)})
		}
		if left > 0 {
			g.LeftOut = fmt.Sprintf("Only the first %d comparisons of a site are drawn.", mostLabels)
		}
		c.Alt = fmt.Sprintf("Differences between two series of the same cell, %s. The table below has the values.", siteWords[site])
		if len(c.Rows) > 0 {
			d.add(&g, c)
		}
	}
	return g
}

func resolutionName(r stats.Resolution) string { return clean(r.Path + ", " + r.Load) }
