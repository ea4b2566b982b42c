package story

import (
	"fmt"
	"io"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// Entry is a record in a list of runs.
type Entry struct {
	Record lab.Record
	Kept   bool // a capture of it was kept
}

// List writes which runs there are, a line each, and how to have one shown.
func List(w io.Writer, entries []Entry, dir string, o Options) error {
	p := &page{width: o.width(), painter: painter{o.Color}}
	attempts := false
	for _, e := range entries {
		attempts = attempts || e.Record.Attempt > 1
	}
	head := "run"
	if attempts {
		head = "run (attempt)"
	}
	g := grid{{head, "number", "path", "load", "protocol", "site", "outcome", "duration", "stalls", "capture"}}
	for _, e := range entries {
		g = append(g, listed(e, attempts))
	}
	if len(entries) == 0 {
		p.line("No run has been carried out yet.")
	} else {
		g.writeLeft(p)
		p.line("")
		p.para("", fmt.Sprintf("samewire show %s RUN tells the story of one: RUN is its name, the start of it, or its number.", dir))
	}
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write list of runs: %w", err)
	}
	return nil
}

func listed(e Entry, attempts bool) []string {
	r, c := e.Record, e.Record.Run.Cell
	id := clean(r.Run.ID)
	if attempts {
		id += fmt.Sprintf(" (%d)", r.Attempt)
	}
	duration, kept := "–", "–"
	if d := r.Value(lab.Duration); d != nil {
		duration = seconds(*d)
	}
	if e.Kept {
		kept = "kept"
	}
	return []string{
		id, fmt.Sprint(r.Run.Order), clean(c.Path.Name), clean(c.Load.Name), series(c), string(c.Site), string(r.Outcome),
		duration, fmt.Sprint(len(r.Wire.Stalls)), kept,
	}
}

// series tells the second series of a comparison's first protocol from the first.
func series(c lab.Cell) string {
	if c.Arm == lab.ArmAA {
		return string(c.Protocol) + " (A/A)"
	}
	return string(c.Protocol)
}

// writeLeft writes the table with its columns aligned to the left. Where it is
// too wide, the names of paths and loads are cut.
func (g grid) writeLeft(p *page) {
	const path, load, least = 2, 3, 8
	widths := g.widths()
	sum := 2 * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	for ; sum > p.width; sum-- {
		widest := path
		if widths[load] > widths[path] {
			widest = load
		}
		if widths[widest] <= least {
			break
		}
		widths[widest]--
	}
	for _, row := range g {
		s := ""
		for i, cell := range row {
			s += padRight(shorten(cell, widths[i]), widths[i]) + "  "
		}
		p.line(strings.TrimRight(s, " "))
	}
}
