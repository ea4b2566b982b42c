package inproc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Site makes the hosts of runs. It is safe for concurrent use if its server
// and client are.
type Site struct {
	// Name is lab.Virtual or lab.Process. Empty means the one that this program
	// was built for; the other one fails to open.
	Name   lab.SiteName
	Server Server
	Client Client
	// QLog has the programs leave qlogs, which costs processor time.
	QLog bool
}

// Server starts a run's server on a host.
type Server interface {
	// Start returns as soon as the server listens.
	Start(host *Host, run lab.Run) (Running, error)
}

// Running is a server that has been started.
type Running interface {
	// Side returns what is known of the server so far.
	Side() lab.Side
	// Close ends the server. It returns when nothing of it is left.
	Close() error
}

// Client carries out a run's load from a host.
type Client interface {
	// Get returns when the load is done or ctx has ended. It leaves no
	// connection open.
	Get(ctx context.Context, host *Host, run lab.Run) lab.Report
}

// Validate says whether the site can carry out runs such as this one, with all
// that it cannot do. The error wraps lab.ErrUnsupported where it never can.
func (s *Site) Validate(run lab.Run) error {
	var faults []error
	unsupported := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("site %s: "+format+": %w", append(append([]any{s.name()}, args...), lab.ErrUnsupported)...))
	}
	if s.name() != built {
		faults = append(faults, fmt.Errorf("site %s: this program was built for the site %s", s.name(), built))
	}
	family, stack := run.Cell.Path.Family, run.Cell.Stack
	if family != "" && family != lab.IPv4 && family != lab.IPv6 {
		unsupported("family %q: this site has ipv4 and ipv6", family)
	}
	if stack.CC != "cubic" && stack.CC != "reno" {
		unsupported("congestion control %q: this site has cubic and reno", stack.CC)
	}
	if stack.InitCwnd != 0 && stack.InitCwnd != initCwnd {
		unsupported("initial window of %d segments: this program's TCP has %d, a constant of gVisor's", stack.InitCwnd, initCwnd)
	}
	if run.Cell.Protocol == lab.H3 && stack.Pacing != Pacing() {
		unsupported("pacing %q: this program's QUIC has %q, and quic-go has no switch for it", stack.Pacing, Pacing())
	}
	return errors.Join(faults...)
}

func (s *Site) name() lab.SiteName {
	if s.Name == "" {
		return built
	}
	return s.Name
}

// Open makes two fresh hosts joined by the run's path. Nothing is inherited
// from an earlier run.
func (s *Site) Open(ctx context.Context, run lab.Run) (*Hosts, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open hosts: %w", err)
	}
	if err := s.Validate(run); err != nil {
		return nil, fmt.Errorf("open hosts: %w", err)
	}
	clientAddr, serverAddr := run.Cell.Path.Family.Hosts()
	p := newPump(time.Now(), run)
	clientNIC, serverNIC := newNICs(p, run.Cell.Path)
	client, err := newHost("client", clientNIC, clientAddr, run.Cell.Stack.CC, run.Seed)
	if err != nil {
		return nil, fmt.Errorf("open hosts: %w", err)
	}
	server, err := newHost("server", serverNIC, serverAddr, run.Cell.Stack.CC, run.Seed)
	if err != nil {
		client.destroy()
		return nil, fmt.Errorf("open hosts: %w", err)
	}
	client.qlog, server.qlog = s.QLog, s.QLog
	p.start()
	return &Hosts{site: s, run: run, pump: p, client: client, server: server}, nil
}
