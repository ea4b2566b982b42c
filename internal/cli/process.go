package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/peer"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/site/kernel"
)

// stopGrace is what a process of a host gets to end by itself.
const stopGrace = 2 * time.Second

// kernelSite is the site of network namespaces, with samewire's own server and
// client as processes in them, as the runner wants it.
type kernelSite struct{ site kernel.Site }

// kernelOptions say how the kernel site moves packets.
type kernelOptions struct {
	spin      bool // keep the cores awake
	noOffload bool // each packet on its own between the hosts and samewire
	backend   kernel.Backend
}

func newKernelSite(o kernelOptions) kernelSite {
	return kernelSite{kernel.Site{
		Server: serverProcess{o.backend}, Client: clientProcess{o.backend}, Spin: o.spin, NoOffload: o.noOffload, Backend: o.backend,
	}}
}

// Open implements runner.Site.
func (s kernelSite) Open(ctx context.Context, run lab.Run) (runner.Hosts, error) {
	hosts, err := s.site.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	return hosts, nil
}

// process is `samewire serve --lab` or `get --lab` in a host.
type process struct {
	cmd  *kernel.Cmd
	in   io.WriteCloser
	talk *peer.Talk
	said *strings.Builder // standard error
}

// startProcess starts samewire itself in a host. The process lives until close,
// whatever becomes of the context that it was started under.
func startProcess(host *kernel.Host, b kernel.Backend, run lab.Run, command string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find samewire itself: %w", err)
	}
	p := &process{cmd: host.Command(context.Background(), self, command, "--lab"), said: &strings.Builder{}}
	p.cmd.Stderr = p.said
	p.cmd.Env = environmentFor(b, run.Cell.Path)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start samewire %s: %w", command, err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start samewire %s: %w", command, err)
	}
	p.talk = peer.NewTalk(p.in, out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start samewire %s: %w", command, err)
	}
	return p, nil
}

// environmentFor is the environment of the run's programs; nil: this process's
// own. With netem QUIC must not leave it to the kernel to cut its datagrams, or
// chance falls on all of them at once, unless that is asked for: the device's
// switches forbid it before Linux 6.11 only.
func environmentFor(b kernel.Backend, p lab.Path) []string {
	if b != kernel.Netem || p.Up.Loss.Super || p.Down.Loss.Super {
		return nil
	}
	return append(os.Environ(), "QUIC_GO_DISABLE_GSO=1")
}

// PID is the process's number.
func (p *process) PID() int { return p.cmd.PID() }

// Close ends the process. It returns when the process has gone.
func (p *process) Close() error {
	_ = p.in.Close()
	return p.cmd.Stop(stopGrace)
}

// failed ends the process, and adds its last words to the error.
func (p *process) failed(err error) error {
	err = errors.Join(err, p.Close())
	if said := strings.Join(strings.Fields(p.said.String()), " "); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// serverProcess starts the embedded server as a process.
type serverProcess struct{ backend kernel.Backend }

// Start implements kernel.Server.
func (s serverProcess) Start(ctx context.Context, host *kernel.Host, run lab.Run) (kernel.Running, error) {
	cfg, err := run.ServerConfig()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(host, s.backend, run, "serve")
	if err != nil {
		return nil, err
	}
	if err := p.talk.Server(ctx, cfg); err != nil {
		return nil, p.failed(err)
	}
	return runningServer{p}, nil
}

type runningServer struct{ *process }

// sideLimit is how long a server may take to say what it knows of its side.
const sideLimit = 2 * time.Second

// Side implements kernel.Running. A server that cannot say any more is known
// by its name only.
func (s runningServer) Side() lab.Side {
	ctx, cancel := context.WithTimeout(context.Background(), sideLimit)
	defer cancel()
	side, err := s.talk.Side(ctx)
	if err != nil {
		return lab.Side{Program: "samewire " + lab.Version + " (did not answer: " + err.Error() + ")"}
	}
	return side
}

// clientProcess prepares the embedded client as a process.
type clientProcess struct{ backend kernel.Backend }

// Prepare implements kernel.Client.
func (c clientProcess) Prepare(ctx context.Context, host *kernel.Host, run lab.Run) (kernel.Prepared, error) {
	cfg, err := run.ClientConfig()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(host, c.backend, run, "get")
	if err != nil {
		return nil, err
	}
	if err := p.talk.Client(ctx, cfg); err != nil {
		return nil, p.failed(err)
	}
	return preparedClient{p}, nil
}

type preparedClient struct{ *process }

// Go implements kernel.Prepared.
func (c preparedClient) Go(ctx context.Context) (lab.Report, error) {
	report, err := c.talk.Go(ctx)
	if err != nil && ctx.Err() == nil {
		err = c.failed(err)
	}
	return report, err
}
