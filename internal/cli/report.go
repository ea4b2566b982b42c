package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/report"
	"github.com/samewire/samewire/internal/stats"
	"github.com/samewire/samewire/internal/store"
)

// The formats of a report.
const (
	formatText     = "text"
	formatMarkdown = "md"
	formatCSV      = "csv"
	formatJSON     = "json"
	formatBench    = "bench"
)

var formats = []string{formatText, formatMarkdown, formatCSV, formatJSON, formatBench, formatHTML}

// loaded is what a report is made from.
type loaded struct {
	folder  *store.Folder
	plan    lab.Plan
	records []lab.Record
	out     stats.Output
	method  stats.Method // of papers, to be shown too; empty: none
}

// reportOptions are the flags of `samewire report`.
type reportOptions struct {
	format, output, method string
	json                   bool
}

func newReport(s streams) *cobra.Command {
	o := reportOptions{format: formatText}
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Make a report from a study's folder",
		Long: `Make a report from what a study's folder holds. Nothing is measured, no privileges
are needed, and any machine will do.

  text   the table that "samewire run" printed, with the verdicts
  md     the same for an issue or a pull request (GitHub's Markdown)
  csv    one row a sample, failed runs included
  json   what scripts rely on (docs/format.md, docs/output.schema.json)
  bench  Go benchmark lines, for benchstat: a run that failed takes the time
         limit, and counts in the unit "failed"
  html   one page with pictures that needs nothing else to be read, and no network;
         without -o it is written into the folder, as report.html

docs/report.md says what each is for, and shows it.

Exit status: 0 done; 1 the folder cannot be read; 2 wrong usage.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("report: %s: want the DIR of a study's records (samewire run prints it)", howMany(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return reportFolder(s, o, args[0]) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "the same as --format json")
	c.Flags().StringVar(&o.format, "format", formatText, strings.Join(formats, ", "))
	c.Flags().StringVar(&o.method, "method", "", "text, md and html: show beside the medians what a method of papers makes of the runs: tukey, mean-sd or fastest-20")
	c.Flags().StringVarP(&o.output, "output", "o", "", "write the report to this file, not to standard output")
	return c
}

// chosenFormat is the format that --format and --json ask for, of those that there are.
func chosenFormat(format string, json bool, formats []string) (string, error) {
	switch {
	case json && format != formatText && format != formatJSON:
		return "", fmt.Errorf("--json and --format %s: want one of them", format)
	case json:
		return formatJSON, nil
	case !slices.Contains(formats, format):
		return "", fmt.Errorf("--format %q: want one of %s", format, strings.Join(formats, ", "))
	}
	return format, nil
}

func reportFolder(s streams, o reportOptions, dir string) (err error) {
	if o.format, err = chosenFormat(o.format, o.json, formats); err != nil {
		return exit(exitUsage, err)
	}
	var method stats.Method
	if o.method != "" {
		if method, err = stats.ParseMethod(o.method); err != nil {
			return exit(exitUsage, fmt.Errorf("--method: %w", err))
		}
		if o.format != formatText && o.format != formatMarkdown && o.format != formatHTML {
			return exit(exitUsage, fmt.Errorf("--method: only with --format %s, %s or %s", formatText, formatMarkdown, formatHTML))
		}
	}
	l, err := readFolder(dir)
	if err != nil {
		return exit(exitFailed, err)
	}
	l.method = method
	defer func() { _ = l.folder.Close() }()
	if o.format == formatHTML && o.output == "" {
		// A terminal has no use for a page.
		o.output = filepath.Join(dir, htmlFile)
		defer func() {
			if err == nil {
				fmt.Fprintln(s.err, "report: "+o.output)
			}
		}()
	}
	if o.output == "" {
		if err := l.print(s.out, o.format); err != nil {
			return exit(exitFailed, err)
		}
	} else if err := l.write(o.output, o.format); err != nil {
		return exit(exitFailed, err)
	}
	sayNextOf(func(what string) { fmt.Fprintln(s.err, what) }, l.folder, l.records)
	return nil
}

// readFolder reads a study's folder, which the caller closes.
func readFolder(dir string) (loaded, error) {
	folder, err := store.Open(dir)
	if err != nil {
		return loaded{}, err
	}
	l, err := readOpen(folder)
	if err != nil {
		return loaded{}, errors.Join(err, folder.Close())
	}
	return l, nil
}

// readOpen reads an open folder.
func readOpen(folder *store.Folder) (loaded, error) {
	records, warnings, err := folder.Records()
	if err != nil {
		return loaded{}, err
	}
	l := loaded{folder: folder, plan: folder.Plan(), records: records}
	l.out = summarise(l.plan, records)
	l.out.Warnings = append(l.out.Warnings, warnings...)
	l.out.Warnings = append(l.out.Warnings, folder.Warnings()...)
	return l, nil
}

// write makes a file in one step: half a report is never seen under its name. What
// is there and no file, such as a pipe, is written to.
func (l loaded) write(name, format string) (err error) {
	var b bytes.Buffer
	if err := l.print(&b, format); err != nil {
		return err
	}
	if err := writeWhole(name, b.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// print writes a report. Colours and the width are a terminal's.
func (l loaded) print(w io.Writer, format string) error {
	switch format {
	case formatJSON:
		return report.JSON(w, l.out)
	case formatCSV:
		return report.CSV(w, l.out, l.records)
	case formatBench:
		return report.Bench(w, l.out, l.records)
	case formatHTML:
		return l.html(w)
	}
	o := terminalOptions(w)
	o.Question = l.plan.Question
	if l.method != "" {
		o.Papers, o.PaperMethod = report.Papers(l.out, l.records, l.method), l.method.Describe()
	}
	var b strings.Builder
	var err error
	if format == formatMarkdown {
		err = report.Markdown(&b, l.out, o)
	} else {
		err = report.Text(&b, l.out, o)
	}
	if err != nil {
		return err
	}
	text := printable(b.String())
	if o.Color {
		text = printableColour(b.String())
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// terminalOptions are those of a terminal where w is one: its width, and colours
// unless NO_COLOR is set (https://no-color.org) or the terminal is dumb.
func terminalOptions(w io.Writer) report.Options {
	if c, ok := w.(*checkedWriter); ok {
		w = c.to
	}
	file, ok := w.(*os.File)
	if !ok {
		return report.Options{}
	}
	width, isTerminal := terminalWidth(file)
	if !isTerminal {
		return report.Options{}
	}
	return report.Options{Width: max(width, 40), Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}
