package report

import (
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// table draws one section. Every column is as wide as its widest value, so that
// a section is drawn twice: once to measure, once to write.
type table struct {
	section   *section
	sites     []lab.SiteName
	protocols []lab.Protocol
	here      lab.SiteName
	widths    map[column]widths
	painter   painter
}

// column is a protocol's values of one site; the empty site is the difference.
type column struct {
	protocol lab.Protocol
	site     lab.SiteName
}

type widths struct{ median, count int }

func (w widths) total() int {
	if w.count == 0 {
		return w.median
	}
	return w.median + 1 + w.count
}

const (
	indent = "  "
	gap    = "   " // between protocols
	bar    = " │ " // between sites
	// longLabel is the width from which a label takes a line of its own.
	longLabel = 24
)

func newTable(s *section, sites []lab.SiteName, protocols []lab.Protocol, p painter) *table {
	t := &table{section: s, sites: sites, protocols: protocols, here: here(sites), widths: map[column]widths{}, painter: p}
	for _, r := range s.rows {
		for _, p := range protocols {
			for _, site := range sites {
				median, count := r.shown(column{p, site})
				t.grow(column{p, site}, median, count)
			}
			t.grow(column{p, ""}, t.difference(r, p), "")
		}
	}
	return t
}

func (t *table) grow(c column, median, count string) {
	w := t.widths[c]
	w.median, w.count = max(w.median, width(median)), max(w.count, width(count))
	t.widths[c] = w
}

func (t *table) difference(r *row, p lab.Protocol) string {
	protocol, here := r.cells[slot{p, lab.Virtual}], r.cells[slot{p, t.here}]
	if protocol == nil || here == nil {
		return ""
	}
	return percent(protocol.Statistic(lab.Duration).Median, here.Statistic(lab.Duration).Median)
}

// write draws the section in lines no wider than most: with the sites side by
// side where that fits, else one below the other.
func (t *table) write(b *strings.Builder, most int) {
	if len(indent)+t.labelWidth()+t.besideWidth() <= most {
		t.beside(b)
		return
	}
	t.below(b)
}

func (t *table) labelWidth() (n int) {
	for _, r := range t.section.rows {
		n = max(n, width(r.label))
	}
	return n
}

func (t *table) besideWidth() (n int) {
	for _, p := range t.protocols {
		n += len(gap) + t.protocolWidth(p)
	}
	return n
}

func (t *table) protocolWidth(p lab.Protocol) int {
	n := width(bar) * (len(t.sites) - 1)
	for _, s := range t.sites {
		n += t.widths[column{p, s}].total()
	}
	if d := t.widths[column{p, ""}].median; d > 0 {
		n += len(indent) + d
	}
	return n
}

func (t *table) beside(b *strings.Builder) {
	label := t.labelWidth()
	head := indent + padRight("", label)
	for _, p := range t.protocols {
		head += gap + padRight(string(p), t.protocolWidth(p))
	}
	line(b, head)
	for _, r := range t.section.rows {
		s := indent + padRight(r.label, label)
		for _, p := range t.protocols {
			values := make([]string, len(t.sites))
			for i, site := range t.sites {
				values[i] = t.value(r, column{p, site}, t.widths[column{p, site}].median)
			}
			s += gap + strings.Join(values, bar)
			if d := t.widths[column{p, ""}].median; d > 0 {
				s += indent + padLeft(t.difference(r, p), d)
			}
		}
		line(b, s)
	}
}

// below draws a line for each site, and one for the difference. Columns are as
// wide as the widest of them.
func (t *table) below(b *strings.Builder) {
	label := min(t.labelWidth(), longLabel)
	const names = len("difference")
	head := indent + padRight("", label) + indent + padRight("", names)
	for _, p := range t.protocols {
		head += gap + padRight(string(p), t.columnWidth(p))
	}
	line(b, head)
	for _, r := range t.section.rows {
		name := r.label
		if width(name) > label {
			line(b, indent+name)
			name = ""
		}
		for _, site := range t.sites {
			s := indent + padRight(name, label) + indent + padRight(string(site), names)
			name = ""
			for _, p := range t.protocols {
				s += gap + padRight(t.value(r, column{p, site}, t.medianWidth(p)), t.columnWidth(p))
			}
			line(b, s)
		}
		t.differences(b, r, indent+padRight("", label)+indent+padRight("difference", names))
	}
}

func (t *table) differences(b *strings.Builder, r *row, s string) {
	shown := false
	for _, p := range t.protocols {
		d := t.difference(r, p)
		shown = shown || d != ""
		s += gap + padRight(padLeft(d, t.medianWidth(p)), t.columnWidth(p))
	}
	if shown {
		line(b, s)
	}
}

func (t *table) columnWidth(p lab.Protocol) (n int) {
	for _, s := range t.sites {
		n = max(n, t.medianWidth(p)+t.widths[column{p, s}].total()-t.widths[column{p, s}].median)
	}
	return n
}

func (t *table) medianWidth(p lab.Protocol) (n int) {
	for _, s := range append([]lab.SiteName{""}, t.sites...) {
		n = max(n, t.widths[column{p, s}].median)
	}
	return n
}

// value writes a cell's value, its median padded to the given width and its
// count to the column's.
func (t *table) value(r *row, c column, medians int) string {
	median, count := r.shown(c)
	w := t.widths[c]
	s := padLeft(median, medians)
	if w.count > 0 {
		s += " " + t.painter.warn(padRight(count, w.count))
	}
	return s
}

func line(b *strings.Builder, s string) {
	b.WriteString(strings.TrimRight(s, " "))
	b.WriteString("\n")
}
