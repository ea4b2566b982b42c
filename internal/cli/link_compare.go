package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/gauge"
)

// named is a report of link check, under a name for its column.
type named struct {
	name   string
	report linkReport
}

func newLinkCompare(s streams) *cobra.Command {
	var only []string
	c := &cobra.Command{
		Use:   "compare NAME=FILE...",
		Short: "Print what link check --json measured of one path on several backends or machines, side by side",
		Long: `Print what "link check --json" measured of one path on several backends or
machines side by side, as a table in Markdown. What was measured each way stands as
up / down; a star follows what is not what was asked for, within the tolerance that
its number of packets leaves to chance.

Exit status: 0 done; 2 wrong usage, or a file that is no such report.`,
		Example: `  samewire link check --path cell-edge --json >a.json
  samewire link compare here=a.json there=b.json --checks delay,loss,loss-run`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			reports, err := readReports(args)
			if err != nil {
				return exit(exitUsage, err)
			}
			printTable(s.out, compareRows(reports, only))
			return nil
		},
	}
	c.Flags().StringSliceVar(&only, "checks", nil, "only these checks, in this order, by their names in the reports")
	return c
}

// readReports reads NAME=FILE.
func readReports(args []string) (reports []named, err error) {
	for _, arg := range args {
		name, file, ok := strings.Cut(arg, "=")
		if !ok || name == "" || file == "" {
			return nil, fmt.Errorf("%q: must be NAME=FILE", arg)
		}
		b, err := readSmall(file, maxReport)
		if err != nil {
			return nil, fmt.Errorf("read report: %w", err)
		}
		r := named{name: name}
		if err := json.Unmarshal(b, &r.report); err != nil {
			return nil, fmt.Errorf("%s: no report of link check --json: %w", file, err)
		}
		if len(r.report.Checks) == 0 {
			return nil, fmt.Errorf("%s: no report of link check --json: it has no checks", file)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// compareRows has the table's rows, the first its head.
func compareRows(reports []named, only []string) [][]string {
	head := []string{"check", "asked"}
	for _, r := range reports {
		head = append(head, r.name)
	}
	rows := [][]string{head}
	for _, name := range checkNames(reports, only) {
		row := []string{name, ""}
		for _, r := range reports {
			checks := r.checks(name)
			asked, measured := sides(checks, askedText), sides(checks, measuredText)
			switch {
			case row[1] == "" || row[1] == noValue:
				row[1] = asked
			case asked != row[1] && asked != noValue: // it follows from how a train was sent
				measured += " (asked " + asked + ")"
			}
			row = append(row, measured)
		}
		rows = append(rows, row)
	}
	return rows
}

// checkNames are those in only, or all, that some report has, in order.
func checkNames(reports []named, only []string) (names []string) {
	for _, r := range reports {
		for _, c := range r.report.Checks {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	if len(only) == 0 {
		return names
	}
	return slices.DeleteFunc(slices.Clone(only), func(name string) bool { return !slices.Contains(names, name) })
}

// checks are the report's checks of a name: one for each way, or one for both.
func (r named) checks(name string) (checks []gauge.Check) {
	for _, c := range r.report.Checks {
		if c.Name == name {
			checks = append(checks, c)
		}
	}
	return checks
}

// noValue stands for what is not asked, or could not be measured.
const noValue = "–"

// sides writes a value of each way, once where they are the same.
func sides(checks []gauge.Check, text func(gauge.Check) string) string {
	var all []string
	for _, c := range checks {
		if t := text(c); len(all) == 0 || all[0] != t {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return noValue
	}
	return strings.Join(all, " / ")
}

func askedText(c gauge.Check) string { return quantity(c.Asked, c.Unit) }

// measuredText has a star after what fails. What was not measured at all says so
// itself: an unchecked value stands for nothing.
func measuredText(c gauge.Check) string {
	switch c.State {
	case gauge.Unchecked:
		return noValue
	case gauge.Fails:
		return quantity(c.Measured, c.Unit) + " *"
	}
	return quantity(c.Measured, c.Unit)
}

// printTable prints rows, the first as head, as a table in Markdown whose columns
// are aligned.
func printTable(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(row []string, fill string) {
		for i, cell := range row {
			fmt.Fprintf(w, "|%s%s%s%s", fill, cell, strings.Repeat(fill, widths[i]-utf8.RuneCountInString(cell)), fill)
		}
		fmt.Fprintln(w, "|")
	}
	line(rows[0], " ")
	line(make([]string, len(widths)), "-")
	for _, row := range rows[1:] {
		line(row, " ")
	}
}

// maxReport is the longest report that is compared, in bytes.
const maxReport = 16 << 20
