package cli

import (
	"context"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/load"
	"github.com/samewire/samewire/internal/origin"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/site/inproc"
)

// inprocSite is the site whose hosts are in this process, with the embedded
// server and client on them, as the runner wants it.
type inprocSite struct{ site inproc.Site }

func newInprocSite(name lab.SiteName) inprocSite {
	return inprocSite{inproc.Site{Name: name, Server: inprocServer{}, Client: inprocClient{}}}
}

// Open implements runner.Site.
func (s inprocSite) Open(ctx context.Context, run lab.Run) (runner.Hosts, error) {
	hosts, err := s.site.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	return hosts, nil
}

type inprocServer struct{}

// Start implements inproc.Server.
func (inprocServer) Start(host *inproc.Host, run lab.Run) (inproc.Running, error) {
	cfg, err := run.ServerConfig()
	if err != nil {
		return nil, err
	}
	cfg.Tracing = host.Tracing()
	return origin.Start(host, cfg)
}

type inprocClient struct{}

// Get implements inproc.Client.
func (inprocClient) Get(ctx context.Context, host *inproc.Host, run lab.Run) lab.Report {
	cfg, err := run.ClientConfig()
	if err != nil {
		return lab.Report{Error: err.Error()}
	}
	cfg.Tracing = host.Tracing()
	return load.Get(ctx, host, cfg)
}
