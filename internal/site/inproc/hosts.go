package inproc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// Hosts are the two hosts of one run. Their methods are called one after the
// other, except that Facts and Close are safe at any time.
type Hosts struct {
	site           *Site
	run            lab.Run
	pump           *pump
	client, server *Host

	mu      sync.Mutex
	running Running    // nil until Serve, and after Close
	cut     *lab.Facts // as of the end of Get
	capture *wire.Capture
	closed  bool
}

var errClosed = errors.New("hosts are closed")

// Serve starts the run's server, and returns once it accepts connections.
func (h *Hosts) Serve(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fmt.Errorf("serve: %w", errClosed)
	}
	running, err := h.site.Server.Start(h.server, h.run)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	h.running = running
	return nil
}

// Get carries out the run's load with the run's client, until it is done or
// ctx ends. The client runs in this process and cannot fail but by its report.
func (h *Hosts) Get(ctx context.Context) (lab.Report, error) {
	asked := h.pump.now()
	report := h.site.Client.Get(ctx, h.client, h.run)
	report.Side.Program = programName(report.Side.Program)
	end := report.End(asked)
	seen, late, capture := h.pump.cut(report.Start(asked), end)
	facts := h.describe(seen, late)
	capture.Secrets = h.secrets()
	wire.Digest(capture, wire.AboutRun(h.run, report), &facts.Wire)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut, h.capture = &facts, capture
	return report, nil
}

// Capture returns the packets that the witness kept until Get ended; nil before.
// It must not be changed.
func (h *Hosts) Capture() *wire.Capture {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.capture
}

// Facts returns what the lab saw until Get ended, or until now when it has not.
func (h *Hosts) Facts() lab.Facts {
	h.mu.Lock()
	cut := h.cut
	h.mu.Unlock()
	if cut != nil {
		return *cut
	}
	return h.describe(h.pump.facts(h.pump.now()))
}

// QLogs returns the qlogs that the programs left, once the hosts are closed.
func (h *Hosts) QLogs() []lab.QLog {
	return append(h.client.tracings.read("client"), h.server.tracings.read("server")...)
}

// secrets are the TLS secrets of the run's connections so far, as lines of NSS's
// key log.
func (h *Hosts) secrets() []byte {
	return keylog.Merge(h.client.tracings.secrets(), h.server.tracings.secrets())
}

// describe adds what is known of both sides now to what was seen of the wire.
func (h *Hosts) describe(seen lab.Wire, late lab.Lateness) lab.Facts {
	f := lab.Facts{Wire: seen, Lateness: late}
	h.mu.Lock()
	if h.running != nil {
		f.Server = h.running.Side()
		f.Server.Program = programName(f.Server.Program)
	}
	h.mu.Unlock()
	h.server.describe(&f.Server)
	h.client.describe(&f.Client)
	return f
}

// Close ends both programs and the network. It returns when nothing of them is
// left. Only the first call does something.
func (h *Hosts) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	var err error
	if h.running != nil {
		err = h.running.Close()
		h.running = nil
	}
	// The pump goes before the stacks: a stack that is being destroyed must
	// not be handed packets, and its resets are no part of the run.
	h.pump.stop()
	h.client.destroy()
	h.server.destroy()
	if err != nil {
		return fmt.Errorf("close server: %w", err)
	}
	return nil
}
