package cli

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/load"
	"github.com/samewire/samewire/internal/peer"
	"github.com/samewire/samewire/internal/site/sockets"
)

// getOptions are the flags of `samewire get`.
type getOptions struct {
	lab         bool
	protocol    string
	objects     int
	size        string
	connections int
	warm        bool
	upload      bool
	tls         string
	ca          string
	timeout     time.Duration
	json        bool
}

func newGet(s streams) *cobra.Command {
	var o getOptions
	c := &cobra.Command{
		Use:   "get HOST:PORT",
		Short: "Run the embedded client against a samewire server",
		Long: `Carry out a load against a server of samewire (samewire serve), and print what
each request went through. All objects are asked for at once. The times are
curl's: connect, appconnect, starttransfer and total count from the request's
start, in seconds.

Exit status: 0 all requests ok, 1 some failed, 2 wrong usage.
` + tracingHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.lab {
				return cobra.NoArgs(cmd, args)
			}
			if len(args) != 1 {
				return fmt.Errorf("get: %s: want one HOST:PORT, such as localhost:4433, of a server (samewire serve)", howMany(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.lab {
				return getLab(cmd.Context(), s)
			}
			return get(cmd.Context(), s, o, args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&o.protocol, "protocol", "h3", "h1, h2 or h3; nothing else is spoken instead")
	f.IntVarP(&o.objects, "objects", "n", 1, "number of objects, asked for at once")
	f.StringVar(&o.size, "size", "8kB", "size of each object")
	f.IntVar(&o.connections, "connections", 0, "connections to open (0: 6 for h1, 1 for h2 and h3)")
	f.BoolVar(&o.warm, "warm", false, "open the connections before the clock starts")
	f.BoolVar(&o.upload, "upload", false, "send the objects instead of fetching them")
	f.StringVar(&o.tls, "tls", "1.3", "TLS version on TCP: 1.3 or 1.2")
	f.StringVar(&o.ca, "ca", "", "trust the certificates in PEM `FILE` (default: the machine's roots)")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "time limit of the whole load")
	f.BoolVar(&o.json, "json", false, "print the whole report as JSON")
	f.BoolVar(&o.lab, "lab", false, "be the client of a lab: configuration on standard input, only inside a lab's host")
	_ = f.MarkHidden("lab")
	return c
}

func get(ctx context.Context, s streams, o getOptions, target string) error {
	cfg, err := o.config(ctx, target)
	if err != nil {
		return exit(exitUsage, err)
	}
	tracing, tracings := tracingFromEnvironment(s.err)
	defer func() { _ = tracings.Close() }()
	cfg.Tracing = tracing
	report := load.Get(ctx, sockets.Net{}, cfg)
	if o.json {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		if err := e.Encode(report); err != nil {
			return exit(exitFailed, err)
		}
	} else {
		printRequests(s.out, report)
	}
	if ctx.Err() != nil {
		return exit(exitInterrupted, errors.New("interrupted"))
	}
	for _, q := range report.Requests {
		if q.Outcome != lab.OK {
			return exit(exitFailed, fmt.Errorf("request failed: %s: %s", q.Outcome, q.Error))
		}
	}
	if report.Error != "" {
		return exit(exitFailed, errors.New(report.Error))
	}
	return nil
}

func (o getOptions) config(ctx context.Context, target string) (lab.ClientConfig, error) {
	cfg := lab.ClientConfig{Protocol: lab.Protocol(o.protocol), TLS: o.tls, Timeout: o.timeout}
	cfg.Load = lab.Load{Name: "get", Objects: o.objects, Warm: o.warm, Upload: o.upload}
	var faults []error
	fault := func(err error) { faults = append(faults, err) }
	switch cfg.Protocol {
	case lab.H1, lab.H2, lab.H3:
	default:
		fault(fmt.Errorf("--protocol %q: want h1, h2 or h3", o.protocol))
	}
	if o.objects < 1 || o.objects > 100000 {
		fault(fmt.Errorf("--objects %d: must be from 1 to 100000", o.objects))
	}
	size, err := lab.ParseSize(o.size)
	if err != nil {
		fault(fmt.Errorf("--size: %w", err))
	}
	cfg.Load.Size = size
	if o.connections < 0 || o.connections > 1000 {
		fault(fmt.Errorf("--connections %d: must be from 1 to 1000, or 0 for the default", o.connections))
	}
	n := o.connections
	cfg.Load.Connections = lab.Connections{H1: n, H2: n, H3: n}
	cfg.Connections = max(cfg.Load.For(cfg.Protocol), 1)
	if o.tls != "1.3" && o.tls != "1.2" {
		fault(fmt.Errorf("--tls %q: want 1.3 or 1.2", o.tls))
	}
	if o.timeout < 0 {
		fault(fmt.Errorf("--timeout %s: must not be negative", o.timeout))
	}
	if o.ca != "" {
		cfg.RootPEM, err = os.ReadFile(o.ca)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(cfg.RootPEM) {
			err = fmt.Errorf("--ca %s: no certificate in it; want PEM", o.ca)
		}
		faults = append(faults, err)
	}
	if errors.Join(faults...) == nil {
		cfg.Addr, cfg.ServerName, err = resolve(ctx, target)
		faults = append(faults, err)
	}
	return cfg, errors.Join(faults...)
}

// resolve finds the address of HOST:PORT, or of an https URL.
func resolve(ctx context.Context, target string) (netip.AddrPort, string, error) {
	target = strings.TrimSuffix(strings.TrimPrefix(target, "https://"), "/")
	if !strings.Contains(target, ":") {
		target += ":443"
	}
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return netip.AddrPort{}, "", fmt.Errorf("%q: want HOST:PORT: %w", target, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return netip.AddrPort{}, "", fmt.Errorf("%q: port must be from 1 to 65535", target)
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, "", fmt.Errorf("find the address of %s: %w", host, err)
	}
	return netip.AddrPortFrom(addrs[0].Unmap(), uint16(n)), host, nil
}

func printRequests(w io.Writer, r lab.Report) {
	fmt.Fprintf(w, "%-4s %-8s %6s %10s  %9s %10s %13s %9s  %s\n",
		"#", "protocol", "status", "bytes", "connect", "appconnect", "starttransfer", "total", "outcome")
	for i, q := range r.Requests {
		fmt.Fprintf(w, "%-4d %-8s %6d %10d  %9s %10s %13s %9s  %s %s\n", i+1, q.Protocol, q.Status, q.Bytes,
			seconds(q.Connect), seconds(q.AppConnect), seconds(q.StartTransfer), seconds(q.Total), q.Outcome, q.Error)
	}
	fmt.Fprintf(w, "%s, %.6f s in all\n", plural(r.Connections, "connection", "connections"), r.Duration)
}

func seconds(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', 6, 64)
}

// getLab is the client of a lab's host.
func getLab(ctx context.Context, s streams) error {
	if err := insideLab(); err != nil {
		return exit(exitFailed, err)
	}
	warm := func(cfg lab.ClientConfig) error { return warmUp(cfg.TLS, append(warmLoads(cfg.Protocol), cfg)...) }
	tracing, tracings := tracingFromEnvironment(s.err)
	defer func() { _ = tracings.Close() }()
	err := peer.GetLab(s.in, s.out, warm, func(cfg lab.ClientConfig) lab.Report {
		cfg.Tracing = tracing // not of the warm-up
		return load.Get(ctx, sockets.Net{}, cfg)
	})
	if err != nil {
		return exit(exitFailed, err)
	}
	return nil
}
