package kernel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// roleEnv makes the test binary play a part in a test instead of testing;
// insideEnv says that it already runs in a worker's namespaces.
const (
	roleEnv   = "SAMEWIRE_KERNEL_ROLE"
	insideEnv = "SAMEWIRE_KERNEL_INSIDE"
)

// self is the test binary, as every process made of it can start it again.
const self = "/proc/self/exe"

// TestMain runs the tests as a worker would run: in namespaces of its own, so
// that they work for ordinary users, and that nothing outlives them.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == SpinCommand:
		exit(Spin(context.Background()))
	case os.Getenv(roleEnv) != "":
		exit(play(os.Getenv(roleEnv), os.Args[1:]))
	case os.Getenv(insideEnv) != "":
		// A /proc of our own, for what the tests start: Go writes the ID maps of
		// a user namespace by way of it. Where it is refused the outer one stays.
		_ = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		_ = unix.Mount("proc", "/proc", "proc", 0, "")
		os.Exit(m.Run())
	case Check() != nil:
		os.Exit(m.Run())
	default:
		os.Exit(inWorker())
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func inWorker() int {
	runtime.LockOSThread() // the worker dies with this thread
	// As samewire does: what a killed site leaves goes with its worker.
	temp, err := os.MkdirTemp("", "samewire-worker-")
	if err == nil {
		err = os.Chmod(temp, 0o777|os.ModeSticky) // some tests are other users
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(temp) }()
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), insideEnv+"=1", "TMPDIR="+temp)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = WorkerAttr()
	cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWNS
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	if err != nil { // also when a signal ended it: say which
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// requireKernel skips the test where the machine cannot carry out kernel runs,
// unless it must be able to.
func requireKernel(t testing.TB) {
	t.Helper()
	if err := Check(); err != nil {
		cannot(t, err.Error())
	}
}

func cannot(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("SAMEWIRE_REQUIRE_KERNEL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// role starts the test binary in a part, as exec.Command would.
func role(cmd *exec.Cmd, name string) *exec.Cmd {
	cmd.Env = append(os.Environ(), roleEnv+"="+name)
	return cmd
}

// program is a process of a host that plays a part: it says "ready", and
// answers each line with a line.
type program struct {
	cmd *Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startProgram(ctx context.Context, host *Host, part string, args ...string) (*program, error) {
	cmd := host.Command(ctx, self, args...)
	role(cmd.Cmd, part)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &program{cmd, in, bufio.NewReader(out)}
	if line, err := p.out.ReadString('\n'); err != nil || line != "ready\n" {
		return nil, errors.Join(fmt.Errorf("%s said %q", part, line), err, p.Close())
	}
	return p, nil
}

// ask sends the word and reads the answer into v.
func (p *program) ask(word string, v any) error {
	if _, err := io.WriteString(p.in, word+"\n"); err != nil {
		return err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(line), v)
}

func (p *program) PID() int       { return p.cmd.PID() }
func (p *program) Side() lab.Side { return lab.Side{Program: "test"} }
func (p *program) Close() error   { return p.cmd.Stop(time.Second) }

// part is a Server or Client that is played by the test binary.
type part struct {
	name   string
	args   []string
	answer any // what a client answers is read into it

	program *program // once started
}

func (s *part) Start(ctx context.Context, host *Host, run lab.Run) (Running, error) {
	_, server := run.Cell.Path.Family.Hosts()
	return s.run(ctx, host, server.String())
}

func (s *part) Prepare(ctx context.Context, host *Host, run lab.Run) (Prepared, error) {
	_, server := run.Cell.Path.Family.Hosts()
	p, err := s.run(ctx, host, server.String())
	return asked{p, s.answer}, err
}

func (s *part) run(ctx context.Context, host *Host, server string) (*program, error) {
	p, err := startProgram(ctx, host, s.name, append([]string{server}, s.args...)...)
	s.program = p
	return p, err
}

// asked is a client that waits to be asked.
type asked struct {
	*program
	answer any
}

func (a asked) Go(ctx context.Context) (lab.Report, error) {
	start := time.Now()
	err := a.ask("go", a.answer)
	return lab.Report{Duration: time.Since(start).Seconds()}, err
}

// open opens the site for the run, and closes it with the test.
func open(t testing.TB, site *Site, run lab.Run) *Hosts {
	t.Helper()
	requireKernel(t)
	hosts, err := site.Open(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hosts.Close(); err != nil {
			t.Error(err)
		}
	})
	return hosts
}

// carry carries out the run with the two parts and returns the facts.
func carry(t testing.TB, site *Site, run lab.Run) lab.Facts {
	t.Helper()
	hosts := open(t, site, run)
	if err := hosts.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := hosts.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	return hosts.Facts()
}

// runOn is a run over a path like "rtt 40ms" would make it.
func runOn(delay time.Duration, rate lab.Rate) lab.Run {
	way := lab.Way{Delay: delay, Rate: rate}
	return lab.Run{Seed: 1, Cell: lab.Cell{
		Path: lab.Path{Up: way, Down: way}, Stack: lab.DefaultStack, Site: lab.Kernel,
	}}
}

func words(s string) []string { return strings.Fields(s) }
