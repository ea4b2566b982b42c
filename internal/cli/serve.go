package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"

	"github.com/spf13/cobra"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/origin"
	"github.com/samewire/samewire/internal/peer"
	"github.com/samewire/samewire/internal/site/sockets"
)

// serveOptions are the flags of `samewire serve`.
type serveOptions struct {
	lab       bool
	addr      string
	tls       string
	cert, key string
	certOut   string
}

func newServe(s streams) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the embedded HTTP/1.1, HTTP/2 and HTTP/3 server",
		Long: `Run the embedded server: HTTP/1.1 and HTTP/2 on TCP, HTTP/3 on UDP, on the same
port with the same content. It answers /bytes/N with N bytes that can be
verified, takes POST on /upload, and waits first where ?delay=100ms asks so.
Without --cert it makes a certificate of its own.
` + tracingHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.lab {
				return serveLab(s)
			}
			return serve(cmd.Context(), s, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.addr, "addr", "127.0.0.1:8443", "address and port to listen on, TCP and UDP")
	f.StringVar(&o.tls, "tls", "1.3", "TLS version on TCP: 1.3 or 1.2 (QUIC always has 1.3)")
	f.StringVar(&o.cert, "cert", "", "certificate chain, PEM `FILE`")
	f.StringVar(&o.key, "key", "", "private key, PEM `FILE`")
	f.StringVar(&o.certOut, "cert-out", "", "write the certificate to `FILE`, for get --ca")
	f.BoolVar(&o.lab, "lab", false, "be the server of a lab: configuration on standard input, only inside a lab's host")
	_ = f.MarkHidden("lab")
	return c
}

func serve(ctx context.Context, s streams, o serveOptions) error {
	cfg, err := o.config()
	if err != nil {
		return exit(exitUsage, err)
	}
	tracing, tracings := tracingFromEnvironment(s.err)
	defer func() { _ = tracings.Close() }()
	cfg.Tracing = tracing
	server, err := origin.Start(sockets.Net{}, cfg)
	if err != nil {
		return exit(exitFailed, err)
	}
	if o.certOut != "" {
		if err := os.WriteFile(o.certOut, server.Certificate(), 0o644); err != nil {
			return exit(exitFailed, errors.Join(err, server.Close()))
		}
	}
	fmt.Fprintf(s.out, "serving h1, h2 and h3 on https://%s\n", cfg.Addr)
	<-ctx.Done()
	if err := server.Close(); err != nil {
		return exit(exitFailed, err)
	}
	return nil
}

func (o serveOptions) config() (lab.ServerConfig, error) {
	cfg := lab.ServerConfig{TLS: o.tls}
	var faults []error
	addr, err := netip.ParseAddrPort(o.addr)
	if err != nil {
		faults = append(faults, fmt.Errorf("--addr %q: want an IP address and a port, such as 127.0.0.1:8443", o.addr))
	}
	cfg.Addr = addr
	if o.tls != "1.3" && o.tls != "1.2" {
		faults = append(faults, fmt.Errorf("--tls %q: want 1.3 or 1.2", o.tls))
	}
	if (o.cert == "") != (o.key == "") {
		faults = append(faults, errors.New("--cert and --key go together"))
	}
	for _, f := range []struct {
		name string
		to   *[]byte
	}{{o.cert, &cfg.CertPEM}, {o.key, &cfg.KeyPEM}} {
		if f.name == "" {
			continue
		}
		if *f.to, err = os.ReadFile(f.name); err != nil {
			faults = append(faults, err)
		}
	}
	return cfg, errors.Join(faults...)
}

// serveLab is the server of a lab's host.
func serveLab(s streams) error {
	if err := insideLab(); err != nil {
		return exit(exitFailed, err)
	}
	tracing, tracings := tracingFromEnvironment(s.err)
	defer func() { _ = tracings.Close() }()
	err := peer.ServeLab(s.in, s.out, func(cfg lab.ServerConfig) (peer.Server, error) {
		if err := warmUp(cfg.TLS, warmLoads(lab.Protocols()...)...); err != nil {
			return nil, err
		}
		cfg.Tracing = tracing // not of the warm-up
		return origin.Start(sockets.Net{}, cfg)
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return exit(exitFailed, err)
	}
	return nil
}
