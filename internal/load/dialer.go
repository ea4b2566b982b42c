package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"

	"github.com/samewire/samewire/internal/lab"
)

// dialer opens the connections of a load, and remembers them.
type dialer struct {
	net Network
	cfg lab.ClientConfig
	tls *tls.Config

	mu       sync.Mutex
	attempts []*connection // in the order in which they were begun
}

// newDialer checks cfg and reports all its faults. The dialer is never nil.
func newDialer(n Network, cfg lab.ClientConfig) (*dialer, error) {
	conf, err := clientTLS(cfg)
	return &dialer{net: n, cfg: cfg, tls: conf}, errors.Join(validate(cfg), err)
}

func validate(cfg lab.ClientConfig) error {
	var faults []error
	if !cfg.Addr.IsValid() || cfg.Addr.Port() == 0 {
		faults = append(faults, fmt.Errorf("server address %s: want an IP address and a port", cfg.Addr))
	}
	if cfg.Load.Objects < 1 {
		faults = append(faults, fmt.Errorf("%d objects: want at least 1", cfg.Load.Objects))
	}
	if cfg.Load.Size < 0 || cfg.Load.Size > lab.MaxSize {
		faults = append(faults, fmt.Errorf("objects of %d bytes: want from 0 to %d", cfg.Load.Size, lab.MaxSize))
	}
	if cfg.Connections < 1 {
		faults = append(faults, fmt.Errorf("%d connections: want at least 1", cfg.Connections))
	}
	if cfg.Timeout < 0 {
		faults = append(faults, fmt.Errorf("time limit %s: must not be negative", cfg.Timeout))
	}
	return errors.Join(faults...)
}

// clientTLS makes the configuration of TLS, on TCP or in QUIC. Without a
// session cache nothing is ever resumed, and no ticket asked for.
func clientTLS(cfg lab.ClientConfig) (*tls.Config, error) {
	conf := &tls.Config{ServerName: cfg.ServerName, MinVersion: tls.VersionTLS13, KeyLogWriter: cfg.Tracing.Keys}
	if conf.ServerName == "" {
		conf.ServerName = cfg.Addr.Addr().String()
	}
	var faults []error
	switch cfg.TLS {
	case "1.3":
	case "1.2":
		if cfg.Protocol != lab.H3 { // QUIC has TLS 1.3 only (RFC 9001)
			conf.MinVersion, conf.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		}
	default:
		faults = append(faults, fmt.Errorf("TLS version %q: want 1.3 or 1.2", cfg.TLS))
	}
	switch cfg.Protocol {
	case lab.H1:
		conf.NextProtos = []string{"http/1.1"}
	case lab.H2:
		// As browsers do, so that a server without HTTP/2 shows itself by what
		// it chooses.
		conf.NextProtos = []string{"h2", "http/1.1"}
	case lab.H3:
		conf.NextProtos = []string{"h3"}
	default:
		faults = append(faults, fmt.Errorf("protocol %q: want h1, h2 or h3", cfg.Protocol))
	}
	if len(cfg.RootPEM) > 0 {
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(cfg.RootPEM) {
			faults = append(faults, errors.New("root certificate: there is no certificate in PEM"))
		}
	}
	return conf, errors.Join(faults...)
}

// connections is the number of connections to open.
func (d *dialer) connections() int { return min(d.cfg.Connections, d.cfg.Load.Objects) }

// dial opens a connection. Nothing is attempted when ctx has ended.
func (d *dialer) dial(ctx context.Context) *connection {
	c := new(connection)
	if c.err = ctx.Err(); c.err != nil {
		return c
	}
	d.mu.Lock()
	d.attempts = append(d.attempts, c)
	d.mu.Unlock()
	if d.cfg.Protocol == lab.H3 {
		c.err = d.dialQUIC(ctx, c)
	} else {
		c.err = d.dialTCP(ctx, c)
	}
	if c.err != nil {
		c.close()
	}
	return c
}

// close closes all connections.
func (d *dialer) close() {
	for _, c := range d.attempts {
		c.close()
	}
}
