package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/load"
	"github.com/samewire/samewire/internal/origin"
	"github.com/samewire/samewire/internal/site/sockets"
)

// warmLimit is how long warming up may take.
const warmLimit = 10 * time.Second

// warmAddr is on the loopback device of the emulated host, where nobody else is.
var warmAddr = netip.MustParseAddrPort("127.0.0.1:9")

// warmSize is the largest object that is fetched to warm up.
const warmSize = 100_000

// warmUp carries out loads over the loopback device of the program's own host,
// with itself, so that what a program does only once (paging in its code and
// memory, preparing its cryptography) is not counted as the protocol's time.
// Both programs do so before they say that they are ready.
func warmUp(tls string, loads ...lab.ClientConfig) error {
	server, err := origin.Start(sockets.Net{}, lab.ServerConfig{Addr: warmAddr, TLS: tls})
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), warmLimit)
	defer cancel()
	var faults []error
	for _, cfg := range loads {
		cfg.Addr, cfg.ServerName, cfg.RootPEM = warmAddr, lab.ServerName, server.Certificate()
		cfg.TLS, cfg.Load.Size = tls, min(cfg.Load.Size, warmSize)
		cfg.Load.Warm, cfg.Load.Idle = false, 0
		cfg.Timeout = 0 // warmLimit is this one's
		for _, q := range load.Get(ctx, sockets.Net{}, cfg).Requests {
			if q.Outcome != lab.OK {
				faults = append(faults, fmt.Errorf("warm up %s: %s: %s", cfg.Protocol, q.Outcome, q.Error))
			}
		}
	}
	err = errors.Join(append(faults, server.Close())...)
	runtime.GC() // memory that has been used before costs no page faults
	return err
}

// warmLoads are loads that warm a server or client up, for each protocol.
func warmLoads(protocols ...lab.Protocol) (loads []lab.ClientConfig) {
	for _, p := range protocols {
		load := lab.Load{Name: "warm-up", Objects: 10, Size: warmSize}
		loads = append(loads, lab.ClientConfig{Protocol: p, Load: load, Connections: load.For(p)})
	}
	return loads
}
