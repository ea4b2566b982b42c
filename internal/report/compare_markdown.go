package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/samewire/samewire/internal/stats"
)

// mostRows is how many rows of cells a comment on a pull request has: hosts refuse
// long ones.
const mostRows = 150

// CompareMarkdown writes a comparison for a pull request: what was found in one
// line, the crossings, the cells of which something is claimed, and all else folded.
func CompareMarkdown(w io.Writer, c stats.Changes) error {
	var b strings.Builder
	sign := "✓"
	if c.Crossed {
		sign = "✗"
	}
	fmt.Fprintf(&b, "%s\n\n", cellText(fmt.Sprintf("**%s samewire %s**", sign, CompareSummary(c))))
	if notes := thresholdNotes(c); len(notes) > 0 {
		writeCrossings(&b, c)
	}
	stack := changeLabels(c.Cells)
	claimed, others := [][]string{}, [][]string{}
	for _, cell := range c.Cells {
		rows := changeRows(cell, stack)
		for i := range rows {
			rows[i] = append([]string{cell.Load}, rows[i]...)
		}
		if cell.Change == stats.Worse || cell.Change == stats.Better {
			claimed = append(claimed, rows...)
		} else {
			others = append(others, rows...)
		}
	}
	if len(claimed) > 0 {
		writeMarkdownRows(&b, claimed)
		b.WriteString("\n")
	}
	if len(others) > 0 {
		fmt.Fprintf(&b, "<details><summary>%s without a claim</summary>\n\n", plural(len(others), "row", "rows"))
		writeMarkdownRows(&b, others)
		b.WriteString("\n</details>\n\n")
	}
	for _, part := range compareNotes(c) {
		if part.head != "Thresholds" {
			fold(&b, part.head, part.notes[:min(len(part.notes), mostRows)])
		}
	}
	fmt.Fprintf(&b, "<sub>old: %s<br>new: %s</sub>\n", cellText(originWords(c.Old)), cellText(originWords(c.New)))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// writeCrossings lists each threshold, and where it was crossed or may have been.
func writeCrossings(b *strings.Builder, c stats.Changes) {
	notes := thresholdNotes(c)
	for _, n := range notes[:min(len(notes), mostRows)] {
		fmt.Fprintf(b, "- %s\n", cellText(n))
	}
	b.WriteString("\n")
}

func writeMarkdownRows(b *strings.Builder, rows [][]string) {
	tableHead(b, append([]string{"load"}, changeHead()...), 5)
	for _, row := range rows[:min(len(rows), mostRows)] {
		tableRow(b, row)
	}
	if more := len(rows) - mostRows; more > 0 {
		fmt.Fprintf(b, "\n… and %d more\n", more)
	}
}
