package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// Markdown writes a study as text that GitHub and its kind show as tables, to be
// pasted into an issue: what was asked, the verdicts, the times, and folded what
// has to be known of them. Options.Color and Width have no meaning here.
func Markdown(w io.Writer, out stats.Output, o Options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", cellText(title(out)))
	if o.Question != "" {
		fmt.Fprintf(&b, "%s\n\n", cellText(o.Question))
	}
	markdownVerdicts(&b, out)
	markdownTimes(&b, out)
	for _, part := range notes(out, o) {
		fold(&b, part.head, part.notes)
	}
	fmt.Fprintf(&b, "<sub>samewire %s</sub>\n", cellText(out.Samewire))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write markdown: %w", err)
	}
	return nil
}

func markdownVerdicts(b *strings.Builder, out stats.Output) {
	m := newMatrix(out.Verdicts)
	if len(m.loads) == 0 {
		return
	}
	head := []string{"load", "path", "site"}
	for _, p := range m.pairs {
		head = append(head, p.String())
	}
	b.WriteString("### Verdicts\n\n")
	tableHead(b, head, 3)
	for _, l := range m.loads {
		for _, r := range l.rows {
			words := []string{l.name, strings.TrimSpace(r.path + " " + r.stack), string(r.site)}
			for _, p := range m.pairs {
				words = append(words, markdownMark(r.verdicts, p))
			}
			tableRow(b, words)
		}
	}
	fmt.Fprintf(b, "\n%s\n\n", cellText(matrixLegend))
	fold(b, "Why", append(reasons(out.Verdicts), explanations(out.Verdicts, len(out.Verdicts))...))
}

// markdownMark is bold where something is claimed.
func markdownMark(verdicts map[pair]stats.Verdict, p pair) string {
	v, ok := verdicts[p]
	switch {
	case !ok:
		return "–"
	case v.Verdict == stats.Faster || v.Verdict == stats.Slower:
		return "**" + mark(v) + "**"
	}
	return mark(v)
}

func markdownTimes(b *strings.Builder, out stats.Output) {
	sites, protocols := columnsOf(out.Cells), protocolsOf(out.Cells)
	if len(out.Cells) == 0 {
		return
	}
	b.WriteString("### Median times\n\n")
	head := []string{"load", "path", "site"}
	for _, p := range protocols {
		head = append(head, string(p))
	}
	tableHead(b, head, 3)
	for _, s := range sections(out.Cells) {
		for _, r := range s.rows {
			for _, site := range sites {
				words := []string{s.load.Name, r.label, string(site)}
				for _, p := range protocols {
					words = append(words, markdownValue(r, column{p, site}))
				}
				tableRow(b, words)
			}
		}
	}
	b.WriteString("\n")
}

// markdownValue is a median with its interval, and the count where not all runs
// ended ok.
func markdownValue(r *row, at column) string {
	median, count := r.shown(at)
	if c := r.cells[slot(at)]; c != nil {
		median += interval(c.Statistic(lab.Duration))
	}
	return strings.TrimSpace(median + " " + count)
}

func tableHead(b *strings.Builder, words []string, texts int) {
	tableRow(b, words)
	marks := make([]string, len(words))
	for i := range marks {
		marks[i] = "---"
		if i >= texts {
			marks[i] = "--:"
		}
	}
	fmt.Fprintf(b, "|%s|\n", strings.Join(marks, "|"))
}

func tableRow(b *strings.Builder, words []string) {
	for _, w := range words {
		fmt.Fprintf(b, "| %s ", cellText(w))
	}
	b.WriteString("|\n")
}

// fold writes sentences that are shown when asked for.
func fold(b *strings.Builder, head string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	fmt.Fprintf(b, "<details><summary>%s (%d)</summary>\n\n", cellText(head), len(sentences))
	for _, s := range sentences {
		fmt.Fprintf(b, "- %s\n", cellText(s))
	}
	b.WriteString("\n</details>\n\n")
}

// cellText makes text safe inside a table of Markdown: names and reasons come
// from elsewhere. Bold marks are the report's own.
func cellText(s string) string {
	bold := strings.HasPrefix(s, "**") && strings.HasSuffix(s, "**") && len(s) > 4
	if bold {
		s = s[2 : len(s)-2]
	}
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(printable(s)), " ") {
		switch r {
		case '\\', '|', '`', '*', '_', '[', ']', '#', '~', '@':
			b.WriteRune('\\')
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	if bold {
		return "**" + b.String() + "**"
	}
	return b.String()
}
