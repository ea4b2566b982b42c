package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// section is a load's part of the table.
type section struct {
	load lab.Load
	rows []*row
}

// row is a path, with one stack.
type row struct {
	key   rowKey
	label string
	cells map[slot]*stats.Cell
}

type slot struct {
	protocol lab.Protocol
	site     lab.SiteName
}

// rowKey tells rows apart. The initial window is part of it only where one site
// has several: a study that equalises sets it on the sites that can.
type rowKey struct {
	load  lab.Load
	path  lab.Path
	stack lab.Stack
}

func key(c stats.Cell, split map[rowKey]bool) rowKey {
	k := rowKey{c.Load, c.Path, c.Stack}
	k.stack.InitCwnd = 0
	if split[k] {
		k.stack.InitCwnd = c.Stack.InitCwnd
	}
	return k
}

// severalWindows finds the rows that would hold two cells in one place.
func severalWindows(cells []stats.Cell) map[rowKey]bool {
	type place struct {
		key  rowKey
		slot slot
	}
	seen, split := map[place]bool{}, map[rowKey]bool{}
	for _, c := range cells {
		p := place{key(c, nil), slot{c.Protocol, c.Site}}
		if seen[p] {
			split[p.key] = true
		}
		seen[p] = true
	}
	return split
}

// sections arranges the cells, smallest load first; the rows keep the order of
// the cells.
func sections(cells []stats.Cell) []*section {
	var out []*section
	byLoad, byKey := map[lab.Load]*section{}, map[rowKey]*row{}
	split := severalWindows(cells)
	for i, c := range cells {
		s := byLoad[c.Load]
		if s == nil {
			s = &section{load: c.Load}
			byLoad[c.Load] = s
			out = append(out, s)
		}
		k := key(c, split)
		r := byKey[k]
		if r == nil {
			r = &row{key: k, cells: map[slot]*stats.Cell{}}
			byKey[k] = r
			s.rows = append(s.rows, r)
		}
		r.cells[slot{c.Protocol, c.Site}] = &cells[i]
	}
	slices.SortStableFunc(out, func(a, b *section) int {
		return cmp.Or(cmp.Compare(a.load.Bytes(), b.load.Bytes()), cmp.Compare(a.load.Name, b.load.Name))
	})
	label(out)
	return out
}

// label names the rows: by the path, and by what of the stack is not the same
// in all rows.
func label(sections []*section) {
	attributes := []func(lab.Stack) string{
		func(s lab.Stack) string { return s.Server },
		func(s lab.Stack) string { return s.Client },
		func(s lab.Stack) string { return s.CC },
		func(s lab.Stack) string { return "TLS " + s.TLS },
		func(s lab.Stack) string { return "initcwnd " + strconv.Itoa(s.InitCwnd) },
		func(s lab.Stack) string { return strings.TrimSpace("pacing " + s.Pacing) },
	}
	varies := make([]bool, len(attributes))
	var first *row
	each(sections, func(r *row) {
		if first == nil {
			first = r
		}
		for i, a := range attributes {
			varies[i] = varies[i] || a(r.key.stack) != a(first.key.stack)
		}
	})
	each(sections, func(r *row) {
		words := []string{r.key.path.Name}
		for i, a := range attributes {
			if varies[i] {
				words = append(words, a(r.key.stack))
			}
		}
		r.label = strings.Join(words, " ")
	})
}

func each(sections []*section, do func(*row)) {
	for _, s := range sections {
		for _, r := range s.rows {
			do(r)
		}
	}
}

// present returns the members of a list that occur among the cells.
func present[T comparable](list []T, cells []stats.Cell, of func(stats.Cell) T) (out []T) {
	for _, v := range list {
		if slices.ContainsFunc(cells, func(c stats.Cell) bool { return of(c) == v }) {
			out = append(out, v)
		}
	}
	return out
}

func sitesOf(cells []stats.Cell) []lab.SiteName {
	return present(lab.SiteNames(), cells, func(c stats.Cell) lab.SiteName { return c.Site })
}

func protocolsOf(cells []stats.Cell) []lab.Protocol {
	return present(lab.Protocols(), cells, func(c stats.Cell) lab.Protocol { return c.Protocol })
}

// here is the site whose time is compared with protocol time: the kernel where
// it was measured, else the process. It is empty where there is no pair.
func here(sites []lab.SiteName) lab.SiteName {
	if !slices.Contains(sites, lab.Virtual) {
		return ""
	}
	for _, s := range []lab.SiteName{lab.Kernel, lab.Process} {
		if slices.Contains(sites, s) {
			return s
		}
	}
	return ""
}

// theory stands for what is predicted, beside the sites.
const theory lab.SiteName = "theory"

// columnsOf are the sites that were measured, after theory where it says something.
func columnsOf(cells []stats.Cell) []lab.SiteName {
	predicted := slices.ContainsFunc(cells, func(c stats.Cell) bool { return c.Statistic(lab.Duration).Predicted != nil })
	if predicted {
		return append([]lab.SiteName{theory}, sitesOf(cells)...)
	}
	return sitesOf(cells)
}

// shown is what a row shows in a column.
func (r *row) shown(c column) (median, count string) {
	if c.site != theory {
		return value(r.cells[slot(c)])
	}
	for _, site := range lab.SiteNames() {
		cell := r.cells[slot{c.protocol, site}]
		if cell == nil {
			continue
		}
		if v := cell.Statistic(lab.Duration).Predicted; v != nil {
			return seconds(*v), ""
		}
	}
	return "–", ""
}
