package report

import (
	"fmt"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// Papers sums a study's durations up by a method that papers use, beside the
// medians: a line for each path, load and site. Failed runs are not in it, which
// the line says.
func Papers(out stats.Output, records []lab.Record, m stats.Method) (lines []string) {
	values := map[lab.Cell][]float64{}
	counts := stats.Counts(records)
	for _, r := range records {
		d := r.Value(lab.Duration)
		if d != nil && r.Outcome == lab.OK && counts[stats.Attempt{Run: r.Run.ID, Attempt: r.Attempt}] {
			values[r.Run.Cell] = append(values[r.Run.Cell], *d)
		}
	}
	for _, group := range stats.Comparisons(out.Cells) {
		words := make([]string, len(group))
		for i, c := range group {
			words[i] = string(c.Protocol) + " " + paperValue(m, values[c.Cell], c.Runs)
		}
		first := group[0]
		lines = append(lines, fmt.Sprintf("%s, %s, %s: %s", first.Path.Name, first.Load.Name, first.Site, strings.Join(words, "; ")))
	}
	return lines
}

func paperValue(m stats.Method, values []float64, runs int) string {
	s, ok := m.Summary(values)
	if !ok {
		return fmt.Sprintf("no run of %d ended ok", runs)
	}
	text := seconds(s.Mean)
	if s.SD != nil {
		text += " ± " + seconds(*s.SD)
	}
	text += fmt.Sprintf(" (%d of %d runs", s.Used, runs)
	if failed := runs - len(values); failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	if s.Left > 0 {
		text += fmt.Sprintf(", %d left out", s.Left)
	}
	return text + ")"
}
