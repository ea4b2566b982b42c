package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/site/kernel"
	"github.com/samewire/samewire/internal/site/worker"
)

// The tests of this package run the real programs. They are built once, from
// the sources under test.
var programs struct {
	once             sync.Once
	dir              string
	samewire, worker string
	err              error
}

// build returns samewire and its worker with virtual time, side by side.
func build(t testing.TB) (samewire, virtual string) {
	t.Helper()
	programs.once.Do(func() {
		programs.dir, programs.err = os.MkdirTemp("", "samewire-test")
		if programs.err != nil {
			return
		}
		// An ordinary user must be able to run them.
		programs.err = os.Chmod(programs.dir, 0o755)
		programs.samewire = filepath.Join(programs.dir, "samewire")
		programs.worker = filepath.Join(programs.dir, worker.VirtualName)
		for out, tags := range map[string]string{programs.samewire: "", programs.worker: "faketime"} {
			c := exec.Command("go", "build", "-trimpath", "-tags", tags, "-ldflags", "-s -w", "-o", out, "../../cmd/samewire")
			c.Env = append(os.Environ(), "CGO_ENABLED=0")
			if said, err := c.CombinedOutput(); err != nil {
				programs.err = errors.Join(programs.err, err, errors.New(string(said)))
			}
		}
	})
	if programs.err != nil {
		t.Fatal(programs.err)
	}
	return programs.samewire, programs.worker
}

func TestMain(m *testing.M) {
	// The user-space UDP socket has no system buffer to be raised.
	_ = os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "1")
	status := m.Run()
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
	os.Exit(status)
}

// carrierOf returns a carrier of workers of a site, as samewire itself starts them.
func carrierOf(t testing.TB, site lab.SiteName, jobs int) *worker.Pool {
	t.Helper()
	samewire, virtual := build(t)
	command := worker.VirtualCommand(virtual)
	if site != lab.Virtual {
		command = worker.Command{Path: samewire, Args: []string{"worker", "--site", string(site)}}
	}
	if site == lab.Kernel {
		if err := kernel.Check(); err != nil {
			needKernel(t, err.Error())
		}
		command.Attr = kernel.WorkerAttr()
	}
	p := worker.NewPool(command, jobs, func(r lab.Run) time.Duration { return r.Timeout + realLimit }, runner.Blank)
	t.Cleanup(p.Close)
	return p
}

// needKernel skips a test where the kernel site cannot run, and fails it where
// it is promised.
func needKernel(t testing.TB, problem string) {
	t.Helper()
	if os.Getenv("SAMEWIRE_REQUIRE_KERNEL") == "1" {
		t.Fatalf("the kernel site is required here: %s", problem)
	}
	t.Skipf("the kernel site cannot run here: %s", problem)
}

// cellRun makes repetition rep of a preset path and load.
func cellRun(t testing.TB, site lab.SiteName, path, load string, p lab.Protocol, rep int) lab.Run {
	t.Helper()
	cell := lab.Cell{Path: presetPath(t, path), Load: presetLoad(t, load), Stack: lab.DefaultStack, Site: site, Protocol: p}
	return runOf(cell, rep)
}

func runOf(cell lab.Cell, rep int) lab.Run {
	return lab.Run{
		ID: lab.RunID(cell, rep), Cell: cell, Rep: rep, Order: rep,
		Seed:    lab.DeriveSeed(uint64(rep), "test"),
		Timeout: 2 * time.Minute, Lateness: lab.DefaultLateness, Authority: 1,
	}
}

func presetPath(t testing.TB, name string) lab.Path {
	t.Helper()
	s, err := plan.Narrow{Paths: []string{name}}.Apply(lab.Study{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Paths[0]
}

func presetLoad(t testing.TB, name string) lab.Load {
	t.Helper()
	s, err := plan.Narrow{Loads: []string{name}}.Apply(lab.Study{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Loads[0]
}

// carryAll carries out runs, jobs at a time, and returns their records in order.
func carryAll(t testing.TB, c *worker.Pool, jobs int, runs []lab.Run) []lab.Record {
	t.Helper()
	records := make([]lab.Record, len(runs))
	next := make(chan int)
	var wait sync.WaitGroup
	for range jobs {
		wait.Go(func() {
			for i := range next {
				records[i] = c.Carry(t.Context(), runs[i])
			}
		})
	}
	for i := range runs {
		next <- i
	}
	close(next)
	wait.Wait()
	return records
}

func mustOK(t testing.TB, r lab.Record) lab.Record {
	t.Helper()
	if r.Outcome != lab.OK {
		t.Fatalf("%s: %s: %s", describeRun(r.Run), r.Outcome, r.Reason)
	}
	return r
}

func ms(v *float64) float64 { return *v * 1e3 }
