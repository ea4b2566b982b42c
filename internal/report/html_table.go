package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// mostPageRows is how many rows a table of a page has at most: a page must open. The
// CSV and the JSON have all.
const mostPageRows = 2000

// timeTable is a load's table: a row a path, a group of columns a protocol.
type timeTable struct {
	Load, What string
	Protocols  []lab.Protocol
	Sites      []string // heads of the columns of each protocol
	Rows       []timeRow
	LeftOut    string // how many rows are not shown; empty: all are
}

type timeRow struct {
	Label string
	Cells []timeCell
}

// timeCell is one median, with all that must be known of it.
type timeCell struct {
	Median   string
	Interval string // 95 %
	Count    string // ok/runs where that is not full
	Flags    []flagMark
	First    bool // of its protocol: a line is drawn before it
	Faint    bool // predicted, or nothing
}

// flagMark refers to a note below the tables.
type flagMark struct {
	Letter string
	Flag   stats.Flag
}

// flagNote is a flag and what it means.
type flagNote struct {
	flagMark
	Meaning string
}

// flagMeanings says what a flag means for the reader of a table.
var flagMeanings = map[stats.Flag]string{
	stats.Censored:             "too many runs did not finish: the median is beyond the time limit, or undefined",
	stats.Connections:          "more or fewer connections were opened than asked for",
	stats.UnequalCC:            "the protocols' senders use different congestion controls, which explains differences under loss",
	stats.UnequalInitialWindow: "the protocols' senders start with different windows, which explains differences of short transfers",
	stats.ClientLimited:        "the client's flow-control window is below two bandwidth-delay products: the client was measured, not the protocol",
	stats.ImplementationBound:  "processor time explains at least half of what the time here exceeds protocol time: the library was measured, not the protocol",
	stats.SmallUDPBuffer:       "a UDP receive buffer is small, or overflowed: bursts are lost on the host, not on the path",
	stats.Late:                 "the lab delivered packets too late in a run, which was repeated or is invalid",
	stats.Waiting:              "a program waited long for a processor: the machine was busy with other things",
	stats.UntrustedTCP:         "this site's TCP in user space is not to be trusted on such a path",
	stats.NotInternetMTU:       "packets larger than any on the internet may pass",
	stats.Drift:                "the machine changed while the study ran",
}

// flagNotes gives a letter to each flag that occurs.
func flagNotes(cells []stats.Cell) (list []flagNote) {
	for _, f := range stats.Flags() {
		if slices.ContainsFunc(cells, func(c stats.Cell) bool { return flagged(&c, f) }) {
			list = append(list, flagNote{flagMark{string(rune('a' + len(list))), f}, flagMeanings[f]})
		}
	}
	return list
}

func flagged(c *stats.Cell, f stats.Flag) bool {
	if f == stats.Censored {
		return c.Statistic(lab.Duration).Censored
	}
	return c.Has(f)
}

func timeTables(sections []*section, cells []stats.Cell) (tables []timeTable) {
	sites, protocols, notes := columnsOf(cells), protocolsOf(cells), flagNotes(cells)
	left := mostPageRows
	for _, s := range sections {
		t := timeTable{Load: clean(s.load.Name), What: describe(s.load), Protocols: protocols}
		for _, site := range sites {
			t.Sites = append(t.Sites, siteHeads[site])
		}
		rows := s.rows[:min(len(s.rows), left)]
		left -= len(rows)
		if n := len(s.rows) - len(rows); n > 0 {
			t.LeftOut = fmt.Sprintf("%d more rows are not shown on this page; --format csv and --format json have all.", n)
		}
		for _, r := range rows {
			row := timeRow{Label: clean(r.label)}
			for _, p := range protocols {
				for i, site := range sites {
					c := newTimeCell(r, column{p, site}, notes)
					c.First = i == 0
					row.Cells = append(row.Cells, c)
				}
			}
			t.Rows = append(t.Rows, row)
		}
		tables = append(tables, t)
	}
	return tables
}

// siteHeads are short: a column has little room.
var siteHeads = map[lab.SiteName]string{
	theory: "theory", lab.Virtual: "protocol time", lab.Process: "in one process", lab.Kernel: "here",
}

func newTimeCell(r *row, at column, notes []flagNote) timeCell {
	median, count := r.shown(at)
	c := timeCell{Median: median, Count: strings.TrimPrefix(count, "⚠ ")}
	cell := r.cells[slot(at)]
	if cell == nil {
		c.Faint = true
		return c
	}
	c.Interval = strings.Trim(interval(cell.Statistic(lab.Duration)), " ()")
	for _, n := range notes {
		if flagged(cell, n.Flag) {
			c.Flags = append(c.Flags, n.flagMark)
		}
	}
	return c
}

// verdictTable is the matrix of verdicts, and below it each verdict in words.
type verdictTable struct {
	Pairs   []string
	Legend  string
	Loads   []verdictLoad
	All     []verdictRow
	LeftOut string
}

type verdictLoad struct {
	Name string
	Rows []verdictLine
}

type verdictLine struct {
	Label, Site string
	Marks       []verdictMark
}

// verdictMark is one place of the matrix.
type verdictMark struct {
	Text  string
	Words string // for those who hear the page
	Kind  string // class: less, more, same, open, other
}

// verdictRow is one verdict in full.
type verdictRow struct {
	Place, Site, Pair, Metric, Ratio, Interval, P, Blocks, Verdict, Why string
}

func newVerdictTable(verdicts []stats.Verdict) *verdictTable {
	m := newMatrix(verdicts)
	if len(m.loads) == 0 {
		return nil
	}
	t := &verdictTable{Legend: together(matrixLegend)}
	for _, p := range m.pairs {
		t.Pairs = append(t.Pairs, p.String())
	}
	left := mostPageRows
	for _, l := range m.loads {
		load := verdictLoad{Name: clean(l.name)}
		rows := l.rows[:min(len(l.rows), left)]
		left -= len(rows)
		for _, r := range rows {
			line := verdictLine{Label: clean(r.label()), Site: string(r.site)}
			for _, p := range m.pairs {
				line.Marks = append(line.Marks, newVerdictMark(r.verdicts, p))
			}
			load.Rows = append(load.Rows, line)
		}
		if len(rows) > 0 {
			t.Loads = append(t.Loads, load)
		}
	}
	for _, v := range verdicts[:min(len(verdicts), mostPageRows)] {
		t.All = append(t.All, newVerdictRow(v))
	}
	if n := len(verdicts) - mostPageRows; n > 0 {
		t.LeftOut = fmt.Sprintf("%d more verdicts are not shown on this page; --format json has all.", n)
	}
	return t
}

func newVerdictMark(verdicts map[pair]stats.Verdict, p pair) verdictMark {
	v, ok := verdicts[p]
	if !ok {
		return verdictMark{"–", "not compared", "open"}
	}
	m := verdictMark{Text: mark(v)}
	switch v.Verdict {
	case stats.Slower:
		m.Words, m.Kind = fmt.Sprintf("%s takes less time than %s", p.b, p.a), "less"
	case stats.Faster:
		m.Words, m.Kind = fmt.Sprintf("%s takes more time than %s", p.b, p.a), "more"
	case stats.NoDifference:
		m.Words, m.Kind = "no difference shown", "same"
	case stats.NotComparable:
		m.Words, m.Kind = "not comparable", "other"
	default:
		m.Words, m.Kind = "too little to tell", "open"
	}
	return m
}

func newVerdictRow(v stats.Verdict) verdictRow {
	r := verdictRow{
		Place: clean(v.Path + ", " + v.Load), Site: string(v.Site), Pair: string(v.A) + " : " + string(v.B),
		Metric: v.Metric, Ratio: "–", Interval: "–", P: "–", Blocks: fmt.Sprint(v.Blocks), Verdict: v.Verdict, Why: sentence(v.Why),
	}
	if v.Ratio != nil {
		r.Ratio = fmt.Sprintf("%.3g", *v.Ratio)
	}
	switch {
	case v.Exact:
		r.Interval = "exact"
	case v.Low != nil && v.High != nil:
		r.Interval = fmt.Sprintf("%.3g to %.3g", *v.Low, *v.High)
	case v.Low != nil:
		r.Interval = fmt.Sprintf("%.3g and more", *v.Low)
	case v.High != nil:
		r.Interval = fmt.Sprintf("up to %.3g", *v.High)
	}
	if v.P != nil {
		r.P = fmt.Sprintf("%.2g", *v.P)
	}
	return r
}
