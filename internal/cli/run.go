package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/site/kernel"
	"github.com/samewire/samewire/internal/stats"
	"github.com/samewire/samewire/internal/store"
)

// runOptions are the flags of `samewire run`.
type runOptions struct {
	path                           []string
	paths, loads, protocols, sites []string
	reps                           string
	timeout                        string
	seed                           uint64
	jobs, kernelJobs               int
	kernel                         kernelOptions
	noCheck, qlog                  bool
	keep                           string
	out                            string
	json                           bool
}

func newRun(s streams) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [STUDY]",
		Short: "Carry out a study and print the table",
		Long: `Carry out a study, a preset's name or a YAML file (default: quick), and print
the table. Every run is kept in a folder, from which "samewire report" prints the
table again. A folder that exists is gone on with where its study stopped.

Before the first run on the kernel site delay, rate and MTU of its paths are
measured, in one to three seconds each; a path that is not what it claims stops
the study with exit status 4 (see link check; --no-check leaves that out).
Virtual time comes first, then real time. A study with "reps: auto" (quick and
six-networks are such) ends each comparison by itself, once the ratio of every pair
of protocols has an interval that is narrow enough, and a site once its budget of
real time is spent. Each comparison's first protocol is measured twice: what these
two differ by is noise. Blocks that the machine spoilt are carried out again at a
site's end, and both are shown (docs/study.md). Sites that this machine does not
have are left out and named, unless they are asked for with --site. "samewire show"
tells the story of a run that failed or stalled.

Exit status: 0 done, also where runs failed (they are results); 1 samewire
failed; 2 wrong usage or a bad study; 4 this machine cannot do what was asked,
or a path is not what it claims; 130 interrupted (what was measured is kept and
printed).`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "quick"
			if len(args) == 1 {
				name = args[0]
			}
			narrow := plan.Narrow{
				Paths: o.paths, Loads: o.loads, Protocols: o.protocols, Sites: o.sites, Reps: o.reps, Timeout: o.timeout,
			}
			if cmd.Flags().Changed("seed") {
				narrow.Seed = &o.seed
			}
			if err := noEmptyFlags(cmd); err != nil {
				return exit(exitUsage, err)
			}
			return runStudy(cmd.Context(), s, o, name, narrow)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.path, "path", nil, "this path instead of the study's: a preset's name, or a notation such as 'rtt 40ms rate 100mbit'; may be repeated")
	f.StringSliceVar(&o.paths, "paths", nil, "only these paths, or presets besides (list paths)")
	f.StringSliceVar(&o.loads, "loads", nil, "only these loads, or presets besides (list loads)")
	f.StringSliceVar(&o.protocols, "protocols", nil, "only these protocols: h1, h2, h3")
	f.StringSliceVar(&o.sites, "site", nil, "only these sites: virtual, process, kernel")
	f.StringVar(&o.reps, "reps", "", "repetitions of each comparison: a number, or auto, or auto with its own rule such as 'auto width 5% max 50 budget 10m' (default: the study's)")
	f.StringVar(&o.timeout, "timeout", "", "time limit of each run, in its own time, such as 30s (default: the study's)")
	f.Uint64Var(&o.seed, "seed", 0, "seed of losses and order (default: the study's)")
	f.IntVar(&o.jobs, "jobs", 0, "runs at a time in virtual time (default: one for each core)")
	f.IntVar(&o.kernelJobs, "kernel-jobs", 1, "runs at a time on the kernel site: more than one only where links are slow or lossy, since runs then share the machine's cores")
	f.BoolVar(&o.kernel.noOffload, "no-offload", false, "kernel site: have the hosts' kernels cut what they send into packets, as if their network cards could not: the same packets on the wire for several times the processor time")
	backendFlag(c, &o.kernel.backend)
	f.BoolVar(&o.kernel.spin, "spin", false, "kernel site: keep the cores awake with idle-priority threads, for delays closer to the path's")
	f.BoolVar(&o.noCheck, "no-check", false, "kernel site: do not measure the paths before the first run")
	f.StringVar(&o.keep, "keep", string(lab.KeepFailed), "of which runs the packets are kept, in wire/ in the records' folder, as captures that Wireshark opens decrypted: all, failed (not ok, or with a stall) or none")
	f.BoolVar(&o.qlog, "qlog", false, "have QUIC's programs write qlogs, and keep them beside the captures: it costs their side processor time")
	f.StringVar(&o.out, "out", "", "folder for the records (default: samewire-STUDY-TIME)")
	f.BoolVar(&o.json, "json", false, "print JSON instead of the table")
	return c
}

// noEmptyFlags refuses flags that were given without a value: an empty shell
// variable must not cost a whole study.
func noEmptyFlags(cmd *cobra.Command) error {
	var faults []error
	for _, name := range []string{"path", "paths", "loads", "protocols", "site", "reps", "timeout", "keep", "out"} {
		f := cmd.Flags().Lookup(name)
		if v := f.Value.String(); f.Changed && (v == "" || v == "[]") {
			faults = append(faults, fmt.Errorf("--%s: the value is empty", name))
		}
	}
	return errors.Join(faults...)
}

// runStudy reads a study, carries it out, and prints what came of it.
func runStudy(ctx context.Context, s streams, o runOptions, name string, narrow plan.Narrow) error {
	text, study, err := readStudy(name)
	if err != nil {
		return exit(exitUsage, err)
	}
	study, err = o.narrow(study, narrow)
	if err := errors.Join(err, o.validate(), needsKernel(study.Sites, o.kernel.backend)); err != nil {
		return exit(exitUsage, err)
	}
	say := func(what string) { fmt.Fprintln(s.err, what) }
	for _, p := range study.Paths {
		for _, w := range plan.Warnings(p) {
			say("warning: " + w)
		}
		for _, w := range otherwise(o.kernel.backend, p) {
			say(fmt.Sprintf("warning: path %s: %s", p.Name, w))
		}
	}
	asked := len(o.sites) > 0 || o.kernel.backend == kernel.Netem
	study, sites, left, err := openSites(ctx, study, asked, o, say)
	defer sites.close()
	if err != nil {
		return err
	}
	study, warnings := equalisable(ctx, study, rebuiltWorker)
	for _, w := range warnings {
		say("warning: " + w)
	}
	p, err := plan.Build(study)
	if err != nil {
		return exit(exitUsage, err)
	}
	p.LeftOut, p.Backend = left, backendOf(p, o.kernel.backend)
	folder, err := o.folder(text, p)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	if err := o.checkPaths(ctx, s.err, p, folder); err != nil {
		return err
	}
	if err := o.carryOut(ctx, s.err, p, folder, sites); err != nil {
		return errors.Join(err, o.print(s.out, folder))
	}
	if err := o.print(s.out, folder); err != nil {
		return exit(exitFailed, err)
	}
	say("records: " + folder.Dir())
	sayNext(say, folder)
	return nil
}

// narrow gives the study the paths of --path, and leaves of it what the other
// flags leave.
func (o runOptions) narrow(study lab.Study, narrow plan.Narrow) (lab.Study, error) {
	if len(o.path) > 0 {
		paths, err := findPaths(o.path)
		if err != nil {
			return study, err
		}
		study.Paths = paths
	}
	return narrow.Apply(study)
}

// findPaths reads the values of --path. Notations are named path, path-2 …;
// files that they name are found from the working folder.
func findPaths(values []string) (paths []lab.Path, err error) {
	var faults []error
	seen, notations := map[string]bool{}, 0
	for _, value := range values {
		p, err := plan.FindPath(value, filesIn("."))
		if err != nil {
			faults = append(faults, fmt.Errorf("--path: %w", err))
			continue
		}
		if p.Name == plan.Unnamed {
			if notations++; notations > 1 {
				p.Name = fmt.Sprintf("%s-%d", plan.Unnamed, notations)
			}
		}
		if seen[p.Name] {
			faults = append(faults, fmt.Errorf("--path: %s is given twice", p.Name))
		}
		seen[p.Name] = true
		paths = append(paths, p)
	}
	return paths, errors.Join(faults...)
}

func (o runOptions) validate() error {
	faults := []error{checkKeep(o.keep)}
	if len(o.path) > 0 && len(o.paths) > 0 {
		faults = append(faults, errors.New("--path takes the place of the study's paths, and --paths chooses among them: give one of the two"))
	}
	if o.jobs < 0 || o.jobs > 256 {
		faults = append(faults, fmt.Errorf("--jobs %d: must be from 1 to 256, or 0 for one for each core", o.jobs))
	}
	if o.kernelJobs < 1 || o.kernelJobs > 64 {
		faults = append(faults, fmt.Errorf("--kernel-jobs %d: must be from 1 to 64", o.kernelJobs))
	}
	return errors.Join(faults...)
}

// folder makes the study's folder, or opens the one that is there.
func (o runOptions) folder(text []byte, p lab.Plan) (*store.Folder, error) {
	dir := o.out
	if dir == "" {
		dir = fmt.Sprintf("samewire-%s-%s", p.Study, time.Now().Format("20060102-150405"))
	}
	dir = filepath.Clean(dir)
	folder, err := store.Create(dir, text, p, store.ReadEnvironment())
	if errors.Is(err, store.ErrExists) {
		folder, err = store.Resume(dir, p)
	}
	switch {
	case errors.Is(err, store.ErrOtherStudy):
		return nil, exit(exitUsage, err)
	case err != nil:
		return nil, exit(exitFailed, err)
	}
	return folder, nil
}

// carryOut carries out what the folder does not have yet.
func (o runOptions) carryOut(ctx context.Context, out io.Writer, p lab.Plan, folder *store.Folder, sites openedSites) error {
	records, _, err := folder.Records()
	if err != nil {
		return exit(exitFailed, err)
	}
	done, err := folder.Done()
	if err != nil {
		return exit(exitFailed, err)
	}
	keep, err := keepOf(o.keep, folder.Dir())
	if err != nil {
		return exit(exitFailed, err)
	}
	g := newProgress(out, p, done, sites.jobs())
	options := runner.Options{
		Carriers: sites.carriers(), Jobs: sites.jobs(), Done: done, Keep: keep, Sink: folder, Observer: g,
		Repeater: repeater{folder, spoiltBlocks, g.say},
	}
	if p.Auto != nil {
		options.Stopper = newStopper(*p.Auto, records, stats.Enough)
	}
	err = runner.Run(ctx, p, options)
	g.close()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return exit(exitInterrupted, fmt.Errorf("interrupted; what was measured is in %s, and the same command goes on with it", folder.Dir()))
	default:
		return exit(exitFailed, err)
	}
}

// print prints what the folder has.
func (o runOptions) print(w io.Writer, folder *store.Folder) error {
	l, err := readOpen(folder)
	if err != nil {
		return err
	}
	format := formatText
	if o.json {
		format = formatJSON
	}
	return l.print(w, format)
}

// summarise makes the statistics of a plan's records.
func summarise(p lab.Plan, records []lab.Record) stats.Output {
	out := stats.Summarise(p, records, theory{})
	if p.Backend == string(kernel.Netem) {
		out.Warnings = append(out.Warnings, "on the site kernel, the kernel's netem moved the packets, not samewire's own link (backend netem)")
	}
	out.Warnings = append(out.Warnings, budgetWarnings(p, records, stats.Enough)...)
	for _, l := range p.LeftOut {
		out.Warnings = append(out.Warnings, fmt.Sprintf("site %s was left out: %s", l.Site, l.Why))
	}
	out.Warnings = append(out.Warnings, keptWarnings(records)...)
	return out
}

// openSites opens the study's sites. Those that cannot be had are left out,
// unless they were asked for by name.
func openSites(ctx context.Context, study lab.Study, asked bool, o runOptions, say func(string)) (lab.Study, openedSites, []lab.LeftOut, error) {
	opened := openedSites{}
	left := []lab.LeftOut{}
	var have []lab.SiteName
	var faults []error
	for _, name := range study.Sites {
		site, err := openSiteNamed(ctx, name, siteOptions{jobs: o.jobs, kernelJobs: o.kernelJobs, kernel: o.kernel, qlog: o.qlog}, say)
		if err != nil {
			left = append(left, lab.LeftOut{Site: name, Why: oneLine(err)})
			faults = append(faults, fmt.Errorf("site %s: %s", name, oneLine(err)))
			continue
		}
		opened[name] = site
		have = append(have, name)
	}
	if ctx.Err() != nil {
		return study, opened, left, exit(exitInterrupted, errors.New("interrupted before the first run"))
	}
	if len(faults) > 0 && (asked || len(have) == 0) {
		return study, opened, left, exit(exitMachine, errors.Join(faults...))
	}
	for _, l := range left {
		say(fmt.Sprintf("site %s is left out: %s", l.Site, l.Why))
	}
	study.Sites = have
	return study, opened, left, nil
}

// openedSites are the sites of a study.
type openedSites map[lab.SiteName]openSite

func (o openedSites) carriers() map[lab.SiteName]runner.Carrier {
	m := map[lab.SiteName]runner.Carrier{}
	for name, site := range o {
		m[name] = site.pool
	}
	return m
}

func (o openedSites) jobs() map[lab.SiteName]int {
	m := map[lab.SiteName]int{}
	for name, site := range o {
		m[name] = site.jobs
	}
	return m
}

func (o openedSites) close() {
	for _, site := range o {
		site.pool.Close()
	}
}
