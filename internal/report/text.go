package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// Options of Text. The zero value is 100 columns without colours.
type Options struct {
	Width int  // columns; 0 is 100
	Color bool // ANSI colours
	// Question is what the study asks.
	Question string
	// Papers are the lines of Papers, and PaperMethod what the method does.
	Papers      []string
	PaperMethod string
	// Notes are the caller's sentences, such as which site can't run here, and
	// what it lacks.
	Notes []string
}

// DefaultWidth is the number of columns of a table when the options name none.
const DefaultWidth = 100

// Text writes the table of a study and its notes. A section is a load, a row a
// path; a protocol's column has the median time of each site, with the share of
// runs that ended ok wherever that is not all, and how much the time here
// exceeds protocol time. A median that too few runs reached is written as more
// than the time limit.
func Text(w io.Writer, out stats.Output, o Options) error {
	if o.Width <= 0 {
		o.Width = DefaultWidth
	}
	p := painter{o.Color}
	var b strings.Builder
	sites, protocols := columnsOf(out.Cells), protocolsOf(out.Cells)
	line(&b, p.bold(title(out)))
	if o.Question != "" {
		wrap(&b, "", o.Question, o.Width)
	}
	wrap(&b, "", legend(sites), o.Width)
	for _, s := range sections(out.Cells) {
		b.WriteString("\n")
		line(&b, p.bold(s.load.Name)+"  "+describe(s.load))
		newTable(s, sites, protocols, p).write(&b, o.Width)
	}
	writeVerdicts(&b, out, o, p)
	writeNotes(&b, out, o, p)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func title(out stats.Output) string {
	runs := 0
	for _, c := range out.Cells {
		runs = max(runs, c.Runs)
	}
	return fmt.Sprintf("%s: median time of %s, seed %d", out.Study, plural(runs, "run", "runs"), out.Seed)
}

func legend(sites []lab.SiteName) string {
	meaning := map[lab.SiteName]string{
		theory:      "what theory says (theory)",
		lab.Virtual: "protocol time (virtual)",
		lab.Process: "time in one process (process)",
		lab.Kernel:  "time here (kernel)",
	}
	words := make([]string, len(sites))
	for i, s := range sites {
		words[i] = meaning[s]
	}
	switch {
	case len(sites) == 0:
		return "nothing was measured"
	case here(sites) != "":
		return fmt.Sprintf("%s, and by how much %s exceeds virtual", strings.Join(words, bar), here(sites))
	}
	return strings.Join(words, bar)
}

// painter colours text, or leaves it as it is.
type painter struct{ on bool }

func (p painter) bold(s string) string  { return p.paint("1", s) }
func (p painter) faint(s string) string { return p.paint("2", s) }
func (p painter) warn(s string) string  { return p.paint("33", s) }

func (p painter) paint(code, s string) string {
	if !p.on || strings.TrimSpace(s) == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
