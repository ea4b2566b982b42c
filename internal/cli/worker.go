package cli

import (
	"crypto/rand"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/site/kernel"
	"github.com/samewire/samewire/internal/site/worker"
)

// newWorker is the hidden command as which samewire starts its own workers.
func newWorker() *cobra.Command {
	var site string
	var options kernelOptions
	var qlog bool
	c := &cobra.Command{
		Use:    "worker",
		Short:  "Carry out runs for another samewire (internal)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := work(lab.SiteName(site), options, qlog); err != nil {
				return exit(exitFailed, fmt.Errorf("worker: %w", err))
			}
			return nil
		},
	}
	c.Flags().StringVar(&site, "site", "", "virtual, process or kernel")
	c.Flags().BoolVar(&qlog, "qlog", false, "have the programs write qlogs")
	c.Flags().BoolVar(&options.spin, "spin", false, "keep the cores awake")
	c.Flags().BoolVar(&options.noOffload, "no-offload", false, "kernel site: no offload on the devices")
	backendFlag(c, &options.backend)
	return c
}

// newSpin is the hidden command that keeps cores awake for a kernel site.
func newSpin() *cobra.Command {
	return &cobra.Command{
		Use:    kernel.SpinCommand,
		Short:  "Keep the cores awake at idle priority (internal)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := kernel.Spin(cmd.Context()); err != nil {
				return exit(exitFailed, err)
			}
			return nil
		},
	}
}

// work is a worker's life.
func work(site lab.SiteName, options kernelOptions, qlog bool) error {
	hello := worker.Hello{Samewire: lab.Version, Build: worker.Build, Site: site, Virtual: virtualClock, Variant: builtVariant(site)}
	var carrier worker.Carrier
	var prepare func(lab.Run)
	switch site {
	case lab.Virtual:
		if !virtualClock {
			return fmt.Errorf("site %s: this program's clock is real", site)
		}
		carrier = inprocCarrier(site, qlog)
		prepare = func(run lab.Run) {
			runtime.GC() // now, so that it is not in the middle of the run
			reseed(run)
		}
	case lab.Process:
		carrier = inprocCarrier(site, qlog)
	case lab.Kernel:
		if err := options.backend.Check(); err != nil {
			hello.Problem = err.Error()
		}
		kernelSite := newKernelSite(options)
		kernelSite.site.QLog = qlog
		carrier = runner.Direct{Site: kernelSite, Keeper: keeper{}}
	default:
		return fmt.Errorf("unknown site %q; want virtual, process or kernel", site)
	}
	return worker.Loop(os.Stdin, os.NewFile(3, "answers"), hello, prepare, carrier)
}

func inprocCarrier(name lab.SiteName, qlog bool) runner.Direct {
	site := newInprocSite(name)
	site.site.QLog = qlog
	return runner.Direct{Site: site, Keeper: keeper{}}
}

// reseed makes TLS's and QUIC's randomness follow from the run's seed. Only the
// worker with virtual time does so: nothing that it says leaves the process.
func reseed(run lab.Run) {
	var key [32]byte
	for i := range 4 {
		seed := lab.DeriveSeed(run.Seed, "randomness", fmt.Sprint(i))
		for j := range 8 {
			key[i*8+j] = byte(seed >> (8 * j))
		}
	}
	rand.Reader = io.Reader(mrand.NewChaCha8(key))
}
