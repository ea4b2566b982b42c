package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/samewire/samewire/internal/store"
	"github.com/samewire/samewire/internal/story"
)

// showOptions are the flags of `samewire show`.
type showOptions struct {
	attempt int
	packets string
	json    bool
	svg     string
	width   int
}

func newShow(s streams) *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show DIR [RUN] | show FILE.pcapng",
		Short: "Tell the story of a run, packet by packet",
		Long: `Tell what happened in a run: how many round trips it took and which packets they
were made of, the timeline of its packets, what was counted and read of them,
and an autopsy of every stall. RUN is a run's name, the start of it, or its
number in the study; without RUN the folder's runs are listed. The packets of a
run can be shown where a capture of it was kept (samewire run --keep). A capture
can also be shown alone.

Exit status: 0 done; 1 the folder, the capture or the diagram's file cannot be
read or written; 2 wrong usage, or no such run.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("show: %s: want the DIR of a study's records (samewire run prints it), to list its runs, DIR RUN, or a FILE.pcapng", howMany(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("attempt") && o.attempt < 1 {
				return exit(exitUsage, fmt.Errorf("--attempt %d: attempts count from 1", o.attempt))
			}
			if cmd.Flags().Changed("svg") && o.svg == "" {
				return exit(exitUsage, errors.New("--svg: the value is empty"))
			}
			if err := o.validate(); err != nil {
				return exit(exitUsage, err)
			}
			if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() {
				return showFile(s, o, args)
			}
			return showFolder(s, o, args)
		},
	}
	f := c.Flags()
	f.IntVar(&o.attempt, "attempt", 0, "which attempt at the run (default: the one that counts)")
	f.StringVar(&o.packets, "packets", string(story.Folded), "the timeline: folded (similar packets in a row are one line), all, or none")
	f.BoolVar(&o.json, "json", false, "print JSON: the facts and all packets, read (with --packets none: the facts alone)")
	f.StringVar(&o.svg, "svg", "", "write a sequence diagram to this file, instead of text")
	f.IntVar(&o.width, "width", 0, "columns of the text (default: the terminal's, or 100)")
	return c
}

// leastWidth is the narrowest text that can be asked for.
const leastWidth = 60

func (o showOptions) validate() error {
	var faults []error
	known := []story.Packets{story.Folded, story.All, story.None}
	if !slices.Contains(known, story.Packets(o.packets)) {
		faults = append(faults, fmt.Errorf("--packets %q: want folded, all or none", o.packets))
	}
	if o.width != 0 && o.width < leastWidth {
		faults = append(faults, fmt.Errorf("--width %d: want at least %d columns", o.width, leastWidth))
	}
	if o.svg != "" && o.packets == string(story.None) {
		faults = append(faults, errors.New("--svg draws packets: it cannot go with --packets none"))
	}
	return errors.Join(faults...)
}

// story are the options for what is written to w: a terminal has its own width,
// and colours unless NO_COLOR is set.
func (o showOptions) story(w io.Writer) story.Options {
	out := story.Options{Width: o.width, Packets: story.Packets(o.packets)}
	if checked, ok := w.(*checkedWriter); ok {
		w = checked.to
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return out
	}
	out.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if columns, _, err := term.GetSize(int(f.Fd())); err == nil && out.Width == 0 {
		out.Width = columns
	}
	return out
}

// showFile shows a capture alone.
func showFile(s streams, o showOptions, args []string) error {
	if len(args) > 1 {
		return exit(exitUsage, fmt.Errorf("%s is a file: a capture alone has no runs to choose from, and %q is one argument too many", args[0], args[1]))
	}
	if o.attempt > 0 {
		return exit(exitUsage, fmt.Errorf("--attempt %d: %s is a file, a capture alone", o.attempt, args[0]))
	}
	r, err := readingOf(args[0])
	if err != nil {
		return exit(exitFailed, err)
	}
	facts := digest(r)
	return write(s, o, story.Story{Reading: r, Facts: &facts})
}

// showFolder shows a run of a record folder, or lists its runs.
func showFolder(s streams, o showOptions, args []string) error {
	folder, err := store.Open(args[0])
	if err != nil {
		return exit(exitFailed, err)
	}
	defer func() { _ = folder.Close() }()
	records, warnings, err := folder.Records()
	if err != nil {
		return exit(exitFailed, err)
	}
	for _, w := range warnings {
		fmt.Fprintln(s.err, "warning:", printable(w))
	}
	if len(args) == 1 {
		if o.json || o.svg != "" || o.attempt > 0 {
			return exit(exitUsage, fmt.Errorf("--json, --svg and --attempt need a run: samewire show %s lists them", args[0]))
		}
		return failed(listRuns(s, o, folder, records))
	}
	record, err := findRecord(folder.Plan(), records, args[1], o.attempt)
	if err != nil {
		return exit(exitUsage, fmt.Errorf("%s: %w", args[0], err))
	}
	st, broken := storyOf(folder, record)
	return errors.Join(write(s, o, st), failed(broken))
}

// failed gives an error the status of a failure.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return exit(exitFailed, err)
}

// write writes the story in the forms that were asked for.
func write(s streams, o showOptions, st story.Story) error {
	if o.svg != "" {
		if st.Reading == nil {
			return exit(exitFailed, fmt.Errorf("--svg %s: no capture of this run was kept: samewire run ... --keep all keeps captures", o.svg))
		}
		if err := writeSVG(o, st); err != nil {
			return exit(exitFailed, err)
		}
		fmt.Fprintln(s.err, "sequence diagram:", o.svg)
	}
	switch {
	case o.json:
		return failed(story.JSON(s.out, st, o.story(s.out)))
	case o.svg == "":
		return failed(story.Text(s.out, st, o.story(s.out)))
	}
	return nil
}

func writeSVG(o showOptions, st story.Story) error {
	var b strings.Builder
	if err := story.SVG(&b, st, story.Options{Packets: story.Packets(o.packets)}); err != nil {
		return err
	}
	if err := writeWhole(filepath.Clean(o.svg), []byte(b.String())); err != nil {
		return fmt.Errorf("write sequence diagram: %w", err)
	}
	return nil
}
