package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/site/kernel"
	"github.com/samewire/samewire/internal/site/worker"
)

// realLimit is how much real time any run may take beyond its own limit, for
// hosts and programs to start and end.
const realLimit = 90 * time.Second

// siteOptions say how sites are started.
type siteOptions struct {
	jobs       int // runs at a time in virtual time; 0: one for each core
	kernelJobs int // runs at a time on the kernel site; 0: one
	kernel     kernelOptions
	qlog       bool // the programs write qlogs
}

// openSite is a site that can carry out runs on this machine.
type openSite struct {
	pool sitePool
	jobs int
}

// sitePool carries out a site's runs until it is closed.
type sitePool interface {
	runner.Carrier
	Close()
}

// openSiteNamed starts a site. The error says in one sentence what this
// machine lacks, and how to get it.
func openSiteNamed(ctx context.Context, name lab.SiteName, o siteOptions, say func(string)) (openSite, error) {
	if name == lab.Kernel {
		if err := o.kernel.backend.Check(); err != nil {
			return openSite{}, err
		}
	}
	command, err := siteCommand(ctx, name, o, say)
	if err != nil {
		return openSite{}, err
	}
	hello, err := worker.Ask(ctx, command)
	if err != nil {
		return openSite{}, err
	}
	if hello.Problem != "" {
		return openSite{}, errors.New(hello.Problem)
	}
	jobs := o.jobsOf(name)
	pool := newSitePool(command, jobs)
	if name != lab.Virtual {
		return openSite{pool, jobs}, nil
	}
	rebuilt := func(ctx context.Context, v worker.Variant) (sitePool, error) {
		command, err := worker.FindRebuilt(ctx, v)
		if err != nil {
			return nil, err
		}
		command.Args = append(command.Args, o.args()...)
		return newSitePool(command, jobs), nil
	}
	return openSite{newVirtualPools(pool, rebuilt), jobs}, nil
}

func newSitePool(c worker.Command, jobs int) sitePool {
	limit := func(r lab.Run) time.Duration { return r.Timeout + r.Cell.Load.Idle + realLimit }
	return worker.NewPool(c, jobs, limit, runner.Blank)
}

func (o siteOptions) jobsOf(name lab.SiteName) int {
	switch {
	case name == lab.Virtual && o.jobs > 0:
		return o.jobs
	case name == lab.Virtual:
		return runtime.NumCPU()
	case name == lab.Kernel:
		return max(o.kernelJobs, 1)
	default:
		return 1
	}
}

// siteCommand says how a site's worker is started.
func siteCommand(ctx context.Context, name lab.SiteName, o siteOptions, say func(string)) (worker.Command, error) {
	if name == lab.Virtual {
		path, err := worker.Find(ctx, say)
		if err != nil {
			return worker.Command{}, err
		}
		c := worker.VirtualCommand(path)
		c.Args = append(c.Args, o.args()...)
		return c, nil
	}
	self, err := os.Executable()
	if err != nil {
		return worker.Command{}, fmt.Errorf("find samewire itself: %w", err)
	}
	c := worker.Command{
		Path: self,
		Args: append([]string{"worker", "--site", string(name)}, o.args()...),
	}
	if name == lab.Kernel {
		c.Attr = kernel.WorkerAttr()
		c.Attr.Setpgid = true // Ctrl-C must not reach it
		c.Args = append(c.Args, o.kernel.args()...)
	}
	return c, nil
}

// args are the flags of any site's worker that say the same.
func (o siteOptions) args() []string {
	if o.qlog {
		return []string{"--qlog"}
	}
	return nil
}

// args are the worker's flags that say the same.
func (o kernelOptions) args() []string {
	var args []string
	if o.spin {
		args = append(args, "--spin")
	}
	if o.noOffload {
		args = append(args, "--no-offload")
	}
	if o.backend != "" {
		args = append(args, "--backend", string(o.backend))
	}
	return args
}
