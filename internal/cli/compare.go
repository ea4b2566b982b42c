package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/report"
	"github.com/samewire/samewire/internal/stats"
	"github.com/samewire/samewire/internal/store"
)

// formatJUnit is a format of comparisons only.
const formatJUnit = "junit"

var compareFormats = []string{formatText, formatMarkdown, formatJSON, formatJUnit}

// compareOptions are the flags of `samewire compare`.
type compareOptions struct {
	failIf         []string
	strict, json   bool
	format, output string
}

func newCompare(s streams) *cobra.Command {
	o := compareOptions{format: formatText}
	c := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Say what changed from one study's folder to another, and fail where too much did",
		Long: `Compare two folders of one study cell by cell: the same cells, measured before and
after a change. Nothing is measured, and no privileges are needed.

--fail-if sets a threshold, and may be given more than once. It is looked at in
every cell that both folders have:

  [METRIC] median +N%   the median rose by more than N %  (-N%: fell)
  [METRIC] worst +N%    the worst run rose by more than N %  (-N%: fell)
  failures > N          more than N runs did not end ok
  failures +N           more than N more of them than in OLD

METRIC is ` + metricList() + `;
duration where none is named. A threshold on a median is crossed when the whole
interval of the change lies beyond it and the change is claimed; one that chance
may have crossed is shown, and counts with --strict only. Of failures the counts
are compared. docs/compare.md says more.

Exit status: 0 no threshold was crossed; 1 a folder cannot be read; 2 wrong
usage, no cell in common, or a threshold that could be looked at in no cell; 3 a
threshold was crossed.`,
		Example: `  samewire compare base head --fail-if 'median +5%' --fail-if 'failures +0'
  samewire compare base head --fail-if 'goodput median -5%' --format md -o comment.md`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("compare: %s: want the folders OLD and NEW of a study's records (samewire run prints them)", howMany(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return compareFolders(s, o, args[0], args[1]) },
	}
	c.Flags().StringArrayVar(&o.failIf, "fail-if", nil, "exit with status 3 where this is so in a cell, such as 'median +5%' or 'failures > 0'")
	c.Flags().BoolVar(&o.strict, "strict", false, "thresholds look at the estimates, whether chance could have made them or not")
	c.Flags().BoolVar(&o.json, "json", false, "the same as --format json")
	c.Flags().StringVar(&o.format, "format", formatText, "text, md (for a pull request), json (docs/compare.schema.json), junit (JUnit XML)")
	c.Flags().StringVarP(&o.output, "output", "o", "", "write the comparison to this file, not to standard output")
	return c
}

func metricList() string {
	var words []string
	for _, m := range lab.Metrics() {
		words = append(words, m.Metric)
	}
	return strings.Join(words, ", ")
}

func compareFolders(s streams, o compareOptions, old, fresh string) (err error) {
	if o.format, err = chosenFormat(o.format, o.json, compareFormats); err != nil {
		return exit(exitUsage, err)
	}
	thresholds, err := readThresholds(o.failIf)
	if err != nil {
		return exit(exitUsage, err)
	}
	before, warnings, err := readMeasured(old)
	if err != nil {
		return exit(exitFailed, err)
	}
	after, more, err := readMeasured(fresh)
	if err != nil {
		return exit(exitFailed, err)
	}
	changes, err := stats.Compare(before, after, thresholds, o.strict)
	if err != nil {
		return exit(exitUsage, err)
	}
	changes.Warnings = append(append(changes.Warnings, warnings...), more...) // never null
	if err := writeChanges(s.out, changes, o); err != nil {
		return exit(exitFailed, err)
	}
	return judge(changes)
}

func readThresholds(texts []string) (thresholds []stats.Threshold, err error) {
	for _, text := range texts {
		t, err := stats.ParseThreshold(text)
		if err != nil {
			return nil, fmt.Errorf("--fail-if: %w", err)
		}
		thresholds = append(thresholds, t)
	}
	return thresholds, nil
}

// readMeasured reads one side of a comparison. A folder without what is known of
// its machine can be compared still.
func readMeasured(dir string) (m stats.Measured, warnings []string, err error) {
	folder, err := store.Open(dir)
	if err != nil {
		return m, nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	records, warnings, err := folder.Records()
	if err != nil {
		return m, nil, err
	}
	for i := range warnings {
		warnings[i] = dir + ": " + warnings[i]
	}
	for _, l := range folder.Plan().LeftOut {
		warnings = append(warnings, fmt.Sprintf("%s: site %s was left out: %s", dir, l.Site, l.Why))
	}
	m = stats.Measured{Name: dir, Plan: folder.Plan(), Records: records}
	env, err := folder.Environment()
	if err != nil {
		return m, append(warnings, fmt.Sprintf("%s: %v", dir, err)), nil
	}
	m.Machine = machineOf(env)
	return m, warnings, nil
}

func machineOf(env store.Environment) stats.Machine {
	m := stats.Machine{
		Revision: env.Revision, System: strings.Trim(env.OS+"/"+env.Arch, "/"), CPU: env.CPU, Cores: env.Cores,
		Settings: map[string]string{"kernel": env.Kernel, "Go": env.Go, "frequency governor": env.Governor},
	}
	for name, value := range env.Sysctls {
		m.Settings[name] = value
	}
	return m
}

// writeChanges writes a comparison, into a file in one step.
func writeChanges(to io.Writer, changes stats.Changes, o compareOptions) error {
	if o.output == "" {
		return printChanges(to, changes, o.format)
	}
	var b bytes.Buffer
	if err := printChanges(&b, changes, o.format); err != nil {
		return err
	}
	if err := writeWhole(o.output, b.Bytes()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

func printChanges(w io.Writer, changes stats.Changes, format string) error {
	switch format {
	case formatJSON:
		return report.CompareJSON(w, changes)
	case formatJUnit:
		return report.CompareJUnit(w, changes)
	}
	o := terminalOptions(w)
	var b strings.Builder
	var err error
	if format == formatMarkdown {
		err = report.CompareMarkdown(&b, changes)
	} else {
		err = report.CompareText(&b, changes, o)
	}
	if err != nil {
		return err
	}
	text := printable(b.String())
	if o.Color {
		text = printableColour(b.String())
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// judge is the exit status. A threshold that was looked at nowhere is no threshold
// that held: who set it must know.
func judge(changes stats.Changes) error {
	if changes.Crossed {
		var words []string
		for _, t := range changes.Thresholds {
			if t.Crossed > 0 {
				words = append(words, fmt.Sprintf("%s in %d of %d cells", t.Threshold, t.Crossed, t.Looked))
			}
		}
		return exit(exitCrossed, fmt.Errorf("crossed: %s", strings.Join(words, "; ")))
	}
	for _, t := range changes.Thresholds {
		if t.Looked == 0 {
			return exit(exitUsage, fmt.Errorf("--fail-if %q: it could be looked at in no cell: none that is comparable has that value in both folders", t.Threshold))
		}
	}
	if n := len(changes.Unmeasured); n > 0 && len(changes.Thresholds) > 0 {
		return exit(exitUsage, fmt.Errorf("--fail-if: nothing was measured in %s that %s was to measure and %s has (the first: %s)",
			plural(n, "cell", "cells"), changes.New.Name, changes.Old.Name, changes.Unmeasured[0]))
	}
	return nil
}
