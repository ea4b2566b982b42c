package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
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

// warmUp speaks each protocol once with itself, over the loopback device of
// its own host, so that what a program does only once (paging in its code,
// preparing its cryptography) is not counted as the protocol's time. Both
// programs do so before they say that they are ready.
func warmUp(authority lab.ServerConfig, protocols ...lab.Protocol) error {
	authority.Addr = warmAddr
	server, err := origin.Start(sockets.Net{}, authority)
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), warmLimit)
	defer cancel()
	var faults []error
	for _, p := range protocols {
		report := load.Get(ctx, sockets.Net{}, lab.ClientConfig{
			Addr: warmAddr, ServerName: lab.ServerName, RootPEM: server.Certificate(),
			Protocol: p, TLS: authority.TLS, Connections: 1,
			Load: lab.Load{Name: "warm-up", Objects: 2, Size: 100_000},
		})
		for _, q := range report.Requests {
			if q.Outcome != lab.OK {
				faults = append(faults, fmt.Errorf("warm up %s: %s: %s", p, q.Outcome, q.Error))
			}
		}
	}
	return errors.Join(append(faults, server.Close())...)
}
