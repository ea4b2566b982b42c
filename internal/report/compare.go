package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// CompareText writes what a comparison of two folders found: in one sentence, as a
// table of cells, the thresholds that were crossed, and what has to be known.
func CompareText(w io.Writer, c stats.Changes, o Options) error {
	if o.Width <= 0 {
		o.Width = DefaultWidth
	}
	p := painter{o.Color}
	var b strings.Builder
	wrap(&b, "", CompareSummary(c), o.Width)
	for _, side := range []struct {
		what string
		from stats.Origin
	}{{"old", c.Old}, {"new", c.New}} {
		wrap(&b, indent, side.what+": "+originWords(side.from), o.Width)
	}
	stack := changeLabels(c.Cells)
	for _, load := range changeLoads(c.Cells) {
		b.WriteString("\n")
		line(&b, p.bold(printable(load)))
		var rows [][]string
		for _, cell := range c.Cells {
			if cell.Load == load {
				rows = append(rows, changeRows(cell, stack)...)
			}
		}
		writeRows(&b, changeHead(), rows, p)
	}
	for _, part := range compareNotes(c) {
		b.WriteString("\n")
		line(&b, p.bold(part.head))
		for _, n := range part.notes {
			wrap(&b, indent, n, o.Width)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// CompareJSON writes a comparison as docs/compare.schema.json has it.
func CompareJSON(w io.Writer, c stats.Changes) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(c); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// CompareSummary says in one sentence what a comparison found.
func CompareSummary(c stats.Changes) string {
	counts := map[string]int{}
	crossed, may := 0, 0
	for _, cell := range c.Cells {
		counts[cell.Change]++
		for _, x := range cell.Crossings {
			if x.State == stats.Crossed {
				crossed++
			} else {
				may++
			}
		}
	}
	var words []string
	for _, change := range changes() {
		if n := counts[change]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, changeWord(change)))
		}
	}
	s := fmt.Sprintf("%s → %s: %s compared: %s", c.Old.Name, c.New.Name, plural(len(c.Cells), "cell", "cells"), strings.Join(words, ", "))
	if n := len(c.OnlyOld) + len(c.OnlyNew); n > 0 {
		s += fmt.Sprintf("; %s in one folder only", plural(n, "cell", "cells"))
	}
	switch {
	case len(c.Thresholds) == 0:
	case crossed > 0:
		s += "; " + plural(crossed, "crossing", "crossings") + " of thresholds"
	default:
		s += "; no threshold was crossed"
	}
	if may > 0 {
		s += fmt.Sprintf(" (%d that chance may have made)", may)
	}
	return s
}

func changes() []string {
	return []string{stats.Worse, stats.Better, stats.NoDifference, stats.NoVerdict, stats.NotComparable}
}

func changeWord(change string) string {
	switch change {
	case stats.NoDifference:
		return "no difference shown"
	case stats.NoVerdict:
		return "no verdict"
	case stats.NotComparable:
		return "not comparable"
	}
	return change
}

func originWords(o stats.Origin) string {
	s := fmt.Sprintf("%s, study %s, seed %d, %s of %s, samewire %s",
		o.Name, o.Study, o.Seed, plural(o.Runs, "run", "runs"), plural(o.Cells, "cell", "cells"), o.Samewire)
	if o.Revision != "" {
		s += " (" + o.Revision + ")"
	}
	return s
}

func changeLoads(cells []stats.Change) (loads []string) {
	for _, c := range cells {
		if !slices.Contains(loads, c.Load) {
			loads = append(loads, c.Load)
		}
	}
	return loads
}

// changeLabels returns what names a row: the path, and of the stack what is not the
// same in all cells.
func changeLabels(cells []stats.Change) func(stats.CellName) string {
	attributes := []func(stats.CellName) string{
		func(n stats.CellName) string { return n.Server },
		func(n stats.CellName) string { return n.Client },
		func(n stats.CellName) string { return n.CC },
		func(n stats.CellName) string { return "TLS " + n.TLS },
		func(n stats.CellName) string { return fmt.Sprintf("initcwnd %d", n.InitCwnd) },
		func(n stats.CellName) string {
			if n.Pacing == "" {
				return ""
			}
			return "pacing " + n.Pacing
		},
	}
	attributes = slices.DeleteFunc(attributes, func(a func(stats.CellName) string) bool {
		return !slices.ContainsFunc(cells, func(c stats.Change) bool { return a(c.CellName) != a(cells[0].CellName) })
	})
	return func(n stats.CellName) string {
		words := []string{n.Path}
		for _, a := range attributes {
			if w := a(n); w != "" {
				words = append(words, w)
			}
		}
		return strings.Join(words, " ")
	}
}

func changeHead() []string {
	return []string{"path", "site", "protocol", "metric", "old", "new", "new/old", "change"}
}

// changeRows is a cell's rows: what its load takes, how many runs ended ok where
// that is not all, and the metrics of which something is claimed. Where there is
// no chance everything is; there they are shown only if the duration hides them.
func changeRows(c stats.Change, label func(stats.CellName) string) (rows [][]string) {
	duration := ""
	for _, m := range c.Metrics {
		if m.Metric == lab.Duration {
			duration = m.Change
		}
	}
	for _, m := range c.Metrics {
		claimed := m.Change == stats.Worse || m.Change == stats.Better
		if c.Exact && duration != stats.NoDifference {
			claimed = false
		}
		if m.Metric != lab.Duration && m.Metric != stats.Success && !claimed {
			continue
		}
		rows = append(rows, []string{
			label(c.CellName), string(c.Site), string(c.Protocol), m.Metric,
			changeValue(m, m.Old, c.OldOK, c.OldRuns), changeValue(m, m.New, c.NewOK, c.NewRuns),
			changeRatio(m, c.Exact), changeWord(m.Change) + changeMark(c, m.Metric),
		})
	}
	return rows
}

func changeValue(m stats.MetricChange, v *float64, ok, runs int) string {
	if m.Metric == stats.Success {
		return fmt.Sprintf("%d/%d", ok, runs)
	}
	return metricValue(m.Metric, v)
}

// metricValue writes a metric in its unit.
func metricValue(metric string, v *float64) string {
	switch {
	case v == nil:
		return "–"
	case metric == lab.Goodput:
		return fmt.Sprintf("%.3g Mbit/s", *v/1e6)
	case metric == lab.RoundTrips:
		return fmt.Sprintf("%.3g", *v)
	}
	return seconds(*v)
}

func changeRatio(m stats.MetricChange, exact bool) string {
	if m.Metric == stats.Success {
		return ""
	}
	s := "–"
	if m.Ratio != nil {
		s = fmt.Sprintf("%.3f", *m.Ratio)
	}
	switch {
	case exact && m.Ratio != nil:
		return s + " exactly"
	case m.Low != nil && m.High != nil:
		return fmt.Sprintf("%s (%.3f to %.3f)", s, *m.Low, *m.High)
	}
	return s
}

// changeMark tells a row that crossed a threshold.
func changeMark(c stats.Change, metric string) string {
	mark := ""
	for _, x := range c.Crossings {
		if x.Metric != metric && (x.Metric != "" || metric != stats.Success) {
			continue
		}
		if x.State == stats.Crossed {
			return " ✗"
		}
		mark = " ?"
	}
	return mark
}

// writeRows draws a table whose columns are as wide as their widest value.
func writeRows(b *strings.Builder, head []string, rows [][]string, p painter) {
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, s := range row {
			widths[i] = max(widths[i], width(printable(s)))
		}
	}
	write := func(row []string, paint func(string) string) {
		s := indent
		for i, word := range row {
			if i > 0 {
				s += "  "
			}
			s += padRight(printable(word), widths[i])
		}
		line(b, paint(strings.TrimRight(s, " ")))
	}
	write(head, p.faint)
	for _, row := range rows {
		paint := func(s string) string { return s }
		if last := row[len(row)-1]; strings.HasPrefix(last, stats.Worse) || strings.HasSuffix(last, "✗") {
			paint = p.warn
		}
		write(row, paint)
	}
}

// compareNotes are what has to be known of a comparison.
func compareNotes(c stats.Changes) (parts []notePart) {
	for _, part := range []notePart{
		{"Thresholds", thresholdNotes(c)},
		{"Not claimed", unclaimed(c)},
		{"Only in " + c.Old.Name, cellNames(c.OnlyOld)},
		{"Only in " + c.New.Name, cellNames(c.OnlyNew)},
		{"Warnings", c.Warnings},
	} {
		if len(part.notes) > 0 {
			part.head = printable(part.head)
			parts = append(parts, part)
		}
	}
	return parts
}

func cellNames(cells []stats.CellName) (out []string) {
	for _, n := range cells {
		out = append(out, n.String())
	}
	return out
}

// thresholdNotes says of each threshold where it was crossed.
func thresholdNotes(c stats.Changes) (out []string) {
	label := changeLabels(c.Cells)
	for _, t := range c.Thresholds {
		s := fmt.Sprintf("%s: crossed in %d of %s", t.Threshold, t.Crossed, plural(t.Looked, "cell", "cells"))
		if t.MayHave > 0 {
			s += fmt.Sprintf("; in %d more it may have been", t.MayHave)
		}
		out = append(out, s)
		for _, state := range []string{stats.Crossed, stats.MayHave} {
			for _, cell := range c.Cells {
				for _, x := range cell.Crossings {
					if x.Threshold == t.Threshold && x.State == state {
						out = append(out, fmt.Sprintf("%s %s, %s, %s, %s: %s", crossingMark(state), label(cell.CellName), cell.Load, cell.Protocol, cell.Site, x.Why))
					}
				}
			}
		}
	}
	return out
}

func crossingMark(state string) string {
	if state == stats.Crossed {
		return "✗"
	}
	return "?"
}

// unclaimed says once each why nothing is claimed, with the cells.
func unclaimed(c stats.Changes) (out []string) {
	var order []string
	where := map[string][]string{}
	for _, cell := range c.Cells {
		for _, m := range cell.Metrics {
			if m.Why == "" || m.Metric == stats.Success || m.Metric != lab.Duration && (m.Change == stats.NotComparable || m.Change == stats.Untested) {
				continue
			}
			s := fmt.Sprintf("%s, %s: %s", changeWord(m.Change), m.Metric, m.Why)
			if where[s] == nil {
				order = append(order, s)
			}
			where[s] = append(where[s], fmt.Sprintf("%s, %s, %s, %s", cell.Path, cell.Load, cell.Protocol, cell.Site))
		}
	}
	for _, s := range order {
		out = append(out, fmt.Sprintf("%s (%s)", s, some(where[s], 3)))
	}
	return out
}
