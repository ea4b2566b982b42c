package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/gauge"
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
	"github.com/samewire/samewire/internal/site/kernel"
)

// checkOptions are the flags of `samewire link check`.
type checkOptions struct {
	path, carry, backend string
	seed                 uint64
	seconds              float64
	quick, json          bool
	only                 []string
}

func newLinkCheck(s streams) *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check",
		Short: "Measure whether an emulated path is what it claims to be",
		Long: `Make a path on the kernel site, measure what it really does, and print asked
against measured: round trip, one-way delay and jitter, loss and the length of
its runs, reordering, duplicates, corruption, rate, queue, MTU, TCP's goodput,
and an unlimited path against a bare veth pair. docs/link.md explains each.

Exit status: 0 every check that could be made holds; 1 samewire failed; 2 wrong
usage or a bad path; 4 the path is not what it claims, or this machine cannot
make it; 130 interrupted.`,
		Example: `  samewire link check --path cell-edge
  samewire link check --path 'rtt 40ms rate 10mbit loss 5%' --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return checkLink(cmd.Context(), s, o) },
	}
	f := c.Flags()
	f.StringVar(&o.path, "path", "wired", "the path: a preset's name (list paths), or its notation")
	f.StringVar(&o.carry, "carry", "", "make this path instead, and still expect --path: shows that a wrong path is found out")
	f.StringVar(&o.backend, "backend", backendTUN, "what moves the packets: "+strings.Join(backends(), ", "))
	f.Uint64Var(&o.seed, "seed", lab.DefaultSeed, "seed of the path's chance")
	f.Float64Var(&o.seconds, "seconds", gauge.DefaultSpan.Seconds(), "how long each instrument measures, 0.5 to 600")
	f.BoolVar(&o.quick, "quick", false, "delay, rate and MTU only, in one to three seconds, as before a study")
	f.StringSliceVar(&o.only, "only", nil, "only these: "+strings.Join(choices(), ", "))
	f.BoolVar(&o.json, "json", false, "print JSON instead of the table")
	return c
}

// job reads the flags. The error names all faults.
func (o checkOptions) job() (gaugeJob, error) {
	var faults []string
	find := func(flag, value string) lab.Path {
		p, err := findPath(value)
		if err != nil {
			faults = append(faults, fmt.Sprintf("--%s: %v", flag, err))
		}
		return p
	}
	j := gaugeJob{
		Asked: find("path", o.path), Backend: o.backend, Seed: o.seed, Quick: o.quick,
	}
	j.Carry = j.Asked
	if o.carry != "" {
		j.Carry = find("carry", o.carry)
		if j.Carry.Family != j.Asked.Family {
			faults = append(faults, "--carry: must be of the same family as --path")
		}
	}
	if !slices.Contains(backends(), o.backend) {
		faults = append(faults, fmt.Sprintf("--backend %q: must be one of %s", o.backend, strings.Join(backends(), ", ")))
	}
	if !(o.seconds >= 0.5 && o.seconds <= 600) {
		faults = append(faults, fmt.Sprintf("--seconds %g: must be from 0.5 to 600", o.seconds))
	}
	faults = append(faults, o.choose(&j)...)
	if len(faults) > 0 {
		return j, exit(exitUsage, fmt.Errorf("%s", strings.Join(faults, "\n")))
	}
	return j, nil
}

// choose sets which instruments measure, and for how long.
func (o checkOptions) choose(j *gaugeJob) (faults []string) {
	switch {
	case o.quick && len(o.only) > 0:
		return []string{"--only and --quick: give one of the two"}
	case o.quick:
		j.Instruments = []instrument{packetsInstrument}
		return nil
	}
	j.Span = time.Duration(o.seconds * float64(time.Second))
	j.Instruments = []instrument{packetsInstrument, streamsInstrument, capacityInstrument}
	if len(o.only) > 0 {
		j.Instruments, j.Parts, faults = choose(o.only)
	}
	return faults
}

// choices lists the values of --only: the parts of the first instrument, and the
// instruments.
func choices() (names []string) {
	for _, p := range gauge.Parts() {
		names = append(names, string(p))
	}
	return append(names, string(packetsInstrument), string(streamsInstrument), string(capacityInstrument))
}

// choose reads --only.
func choose(only []string) (instruments []instrument, parts []gauge.Part, faults []string) {
	for _, name := range only {
		i := instrument(name)
		switch {
		case slices.Contains(gauge.Parts(), gauge.Part(name)):
			i, parts = packetsInstrument, append(parts, gauge.Part(name))
		case !slices.Contains(choices(), name):
			faults = append(faults, fmt.Sprintf("--only %q: must be among %s", name, strings.Join(choices(), ", ")))
		}
		if !slices.Contains(instruments, i) {
			instruments = append(instruments, i)
		}
	}
	return instruments, parts, faults
}

// linkReport is what `samewire link check --json` prints (docs/link.md).
type linkReport struct {
	Samewire  string        `json:"samewire"`
	Path      string        `json:"path"`
	Notation  string        `json:"notation"`
	Site      lab.SiteName  `json:"site"`
	Backend   string        `json:"backend"`
	Seed      uint64        `json:"seed"`
	Quick     bool          `json:"quick"`
	OK        bool          `json:"ok"` // no check fails
	Holds     int           `json:"holds"`
	Fails     int           `json:"fails"`
	Unchecked int           `json:"unchecked"`
	Checks    []gauge.Check `json:"checks"`
}

func newLinkReport(j gaugeJob, checks []gauge.Check) linkReport {
	r := linkReport{
		Samewire: lab.Version, Path: j.Asked.Name, Notation: plan.FormatPath(j.Asked), Site: lab.Kernel,
		Backend: j.Backend, Seed: j.Seed, Quick: j.Quick, Checks: checks,
		Holds: gauge.Count(checks, gauge.Holds), Fails: gauge.Count(checks, gauge.Fails),
		Unchecked: gauge.Count(checks, gauge.Unchecked),
	}
	r.OK = r.Fails == 0
	return r
}

// checkLink carries out `samewire link check`.
func checkLink(ctx context.Context, s streams, o checkOptions) error {
	job, err := o.job()
	if err != nil {
		return err
	}
	for _, w := range otherwise(kernel.Backend(job.Backend), job.Carry) {
		fmt.Fprintln(s.err, "note:", w)
	}
	show, clear := doing(s.err)
	checks, err := startGauge(ctx, job, show)
	clear()
	if err != nil {
		return err
	}
	report := newLinkReport(job, checks)
	if o.json {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		err = e.Encode(report)
	} else {
		err = printLinkReport(s.out, report)
	}
	if err != nil {
		return exit(exitFailed, err)
	}
	if !report.OK {
		return exit(exitMachine, fmt.Errorf("path %s is not what it claims: %d of %s",
			report.Path, report.Fails, plural(report.Fails+report.Holds, "check fails", "checks fail")))
	}
	return nil
}

// printLinkReport prints the table.
func printLinkReport(w io.Writer, r linkReport) error {
	fmt.Fprintf(w, "path %s: %s\nsite %s, backend %s, seed %d\n\n", r.Path, r.Notation, r.Site, r.Backend, r.Seed)
	printChecks(w, r.Checks)
	fmt.Fprintf(w, "\n%d hold, %d fail, %d could not be checked\n", r.Holds, r.Fails, r.Unchecked)
	return nil
}
