package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/report"
	"github.com/samewire/samewire/internal/stats"
	"github.com/samewire/samewire/internal/store"
)

// The formats of a report.
const (
	formatText = "text"
	formatJSON = "json"
)

func newReport(s streams) *cobra.Command {
	format := formatText
	asJSON := false
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Print the table of a study's folder again",
		Long: `Print what a study's folder holds: as the table that "samewire run" printed, or
as JSON. Nothing is measured, and no privileges are needed.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("report: %s: want the DIR of a study's records (samewire run prints it)", howMany(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				format = formatJSON
			}
			if format != formatText && format != formatJSON {
				return exit(exitUsage, fmt.Errorf("--format %q: want %s or %s", format, formatText, formatJSON))
			}
			folder, err := store.Open(args[0])
			if err != nil {
				return exit(exitFailed, err)
			}
			defer func() { _ = folder.Close() }()
			out, err := summarise(folder)
			if err != nil {
				return exit(exitFailed, err)
			}
			if err := printReport(s.out, out, format); err != nil {
				return exit(exitFailed, err)
			}
			sayNext(func(what string) { fmt.Fprintln(s.err, what) }, folder)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	c.Flags().StringVar(&format, "format", formatText, "text or json")
	return c
}

func printReport(w io.Writer, out stats.Output, format string) error {
	if format == formatJSON {
		return report.JSON(w, out)
	}
	var b strings.Builder
	if err := report.Text(&b, out, report.Options{}); err != nil {
		return err
	}
	if _, err := io.WriteString(w, printable(b.String())); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
