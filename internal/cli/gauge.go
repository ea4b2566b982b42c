package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/gauge"
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/kernel"
)

// backendTUN is the backend of samewire's own link: packets go through TUN
// devices.
const backendTUN = string(kernel.TUN)

// instrument names a part of a check.
type instrument string

// The instruments.
const (
	packetsInstrument  instrument = "packets"  // all that datagrams tell
	streamsInstrument  instrument = "streams"  // TCP over the path
	capacityInstrument instrument = "capacity" // an unlimited path against a bare veth pair
)

// gaugeJob is what a gauge is asked to do: a line of JSON on its standard input.
type gaugeJob struct {
	Asked       lab.Path      `json:"asked"`
	Carry       lab.Path      `json:"carry"` // what the path really is made of
	Backend     string        `json:"backend"`
	Seed        uint64        `json:"seed"`
	Quick       bool          `json:"quick"`
	Span        time.Duration `json:"span_ns"` // of one instrument; 0: its own
	Instruments []instrument  `json:"instruments"`
	Parts       []gauge.Part  `json:"parts"` // of packets; none means all
	// Traces has what the traces of the two paths say: a path's JSON has their
	// names only.
	Traces [4]string `json:"traces"`
}

// traces are the traces of the job's paths.
func (j *gaugeJob) traces() [4]*lab.Trace {
	return [4]*lab.Trace{&j.Asked.Up.Trace, &j.Asked.Down.Trace, &j.Carry.Up.Trace, &j.Carry.Down.Trace}
}

// encode writes the job as decodeJob reads it.
func (j gaugeJob) encode() ([]byte, error) {
	for i, t := range j.traces() {
		j.Traces[i] = t.Data
	}
	return json.Marshal(j)
}

func decodeJob(in io.Reader) (j gaugeJob, err error) {
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return j, err
	}
	for i, t := range j.traces() {
		t.Data = j.Traces[i]
	}
	return j, nil
}

// gaugeAnswer is a line of JSON that a gauge answers: what it is doing, or the
// end.
type gaugeAnswer struct {
	Doing   string        `json:"doing,omitempty"`
	Problem string        `json:"problem,omitempty"` // this machine cannot do it: what is missing
	Error   string        `json:"error,omitempty"`   // samewire failed
	Checks  []gauge.Check `json:"checks,omitempty"`
	Done    bool          `json:"done,omitempty"`
}

// newGauge is the hidden command as which samewire measures a path.
func newGauge(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    "gauge",
		Short:  "Measure a path for another samewire (internal)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := gaugeOnce(cmd.Context(), s.in, os.NewFile(3, "answers")); err != nil {
				return exit(exitFailed, fmt.Errorf("gauge: %w", err))
			}
			return nil
		},
	}
}

// gaugeOnce reads one job, carries it out, and answers.
func gaugeOnce(ctx context.Context, in io.Reader, out io.Writer) error {
	job, err := decodeJob(in)
	if err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	answers := json.NewEncoder(out)
	last := gaugeAnswer{Done: true}
	if err := kernel.Backend(job.Backend).Check(); err != nil {
		last.Problem = oneLine(err)
		return answers.Encode(last)
	}
	checks, err := job.carryOut(ctx, func(what string) { _ = answers.Encode(gaugeAnswer{Doing: what}) })
	last.Checks = checks
	switch {
	case errors.Is(err, lab.ErrUnsupported):
		last.Problem = oneLine(err)
	case err != nil:
		last.Error = oneLine(err)
	}
	return answers.Encode(last)
}

// carryOut makes the labs and lets the instruments work on them.
func (j gaugeJob) carryOut(ctx context.Context, say func(string)) (checks []gauge.Check, err error) {
	job := gauge.Job{Path: j.Asked, Quick: j.Quick, Span: j.Span, Seed: j.Seed, Parts: j.Parts}
	gather := func(more []gauge.Check, err error) error {
		checks = append(checks, more...)
		return err
	}
	err = j.onPath(ctx, j.Carry,
		func(l gauge.Lab) error {
			if !j.has(packetsInstrument) {
				return nil
			}
			return gather(gauge.Packets(ctx, l, job, say))
		},
		func(l gauge.Lab) error {
			if !j.has(streamsInstrument) {
				return nil
			}
			return gather(gauge.Streams(ctx, l, job, say))
		})
	if err != nil || !j.has(capacityInstrument) {
		return checks, err
	}
	bare, err := gauge.NewPair()
	if err != nil {
		return checks, err
	}
	err = j.onPath(ctx, lab.Path{Name: "unlimited"}, nil, func(l gauge.Lab) error {
		return gather(gauge.Against(ctx, l, gauge.Lab{Client: bare.Client, Server: bare.Server}, max(job.Span, time.Second), say))
	})
	return checks, errors.Join(err, bare.Close())
}

func (j gaugeJob) has(i instrument) bool {
	for _, have := range j.Instruments {
		if have == i {
			return true
		}
	}
	return false
}

// onPath makes two hosts joined by a path, lets timed work on them under the
// conditions of a run, and then rest under those of any program, and takes them
// down. This is the one place that knows the backends.
func (j gaugeJob) onPath(ctx context.Context, p lab.Path, timed, rest func(gauge.Lab) error) error {
	if !slices.Contains(backends(), j.Backend) {
		return fmt.Errorf("unknown backend %q", j.Backend)
	}
	return onKernelSite(ctx, kernel.Backend(j.Backend), p, j.Seed, timed, rest)
}

// onKernelSite is onPath on the kernel site.
func onKernelSite(ctx context.Context, b kernel.Backend, p lab.Path, seed uint64, timed, rest func(gauge.Lab) error) (err error) {
	run := lab.Run{Cell: lab.Cell{Path: p, Stack: lab.DefaultStack, Site: lab.Kernel}, Seed: seed}
	at := &gaugeProgram{}
	site := kernel.Site{Server: at, Client: at, Backend: b}
	hosts, err := site.Open(ctx, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hosts.Close()) }()
	drops := func(d lab.Direction) map[string]int {
		wire := hosts.Facts().Wire
		if d == lab.Up {
			return wire.Up.Drops
		}
		return wire.Down.Drops
	}
	at.lost = func(d lab.Direction) int { return drops(d)[dropByLab] }
	if b == kernel.TUN { // the kernel's own link does not tell why it dropped
		at.drops = func(d lab.Direction) map[lab.Reason]int { return byReason(drops(d)) }
	}
	at.timed = timed
	if err := hosts.Serve(ctx); err != nil {
		return err
	}
	if _, err := hosts.Get(ctx); err != nil {
		return err
	}
	if rest == nil {
		return nil
	}
	return rest(at.lab())
}

// byReason has drops by the link's own reasons.
func byReason(drops map[string]int) map[lab.Reason]int {
	all := map[lab.Reason]int{}
	for _, r := range lab.Reasons() {
		all[r] = drops[string(r)]
	}
	return all
}

// dropByLab is the kernel site's reason for what the lab itself lost.
const dropByLab = "tun"

// gaugeProgram stands for both programs of a run: it takes the hosts, and the
// load is a measurement in this process.
type gaugeProgram struct {
	client, server *kernel.Host
	lost           func(lab.Direction) int
	drops          func(lab.Direction) map[lab.Reason]int
	timed          func(gauge.Lab) error
}

func (g *gaugeProgram) lab() gauge.Lab {
	return gauge.Lab{Client: g.client, Server: g.server, Lost: g.lost, Drops: g.drops}
}

// Start implements kernel.Server.
func (g *gaugeProgram) Start(_ context.Context, h *kernel.Host, _ lab.Run) (kernel.Running, error) {
	g.server = h
	return g, nil
}

// Prepare implements kernel.Client.
func (g *gaugeProgram) Prepare(_ context.Context, h *kernel.Host, _ lab.Run) (kernel.Prepared, error) {
	g.client = h
	return g, nil
}

// Go implements kernel.Prepared.
func (g *gaugeProgram) Go(context.Context) (lab.Report, error) {
	if g.timed == nil {
		return lab.Report{}, nil
	}
	return lab.Report{}, g.timed(g.lab())
}

// PID implements kernel.Running and kernel.Prepared.
func (g *gaugeProgram) PID() int { return os.Getpid() }

// Side implements kernel.Running.
func (g *gaugeProgram) Side() lab.Side { return lab.Side{} }

// Close implements kernel.Running and kernel.Prepared.
func (g *gaugeProgram) Close() error { return nil }
