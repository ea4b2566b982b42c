package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"sync"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/link"
	"github.com/samewire/samewire/internal/wire"
)

// dropByLab is the reason for a drop that the link did not decide: the lab
// itself lost the packet.
const dropByLab = "tun"

// Hosts are the two hosts of one run, and what moves packets between them.
// Serve, Get and Close are called one after the other.
type Hosts struct {
	site           Site
	run            lab.Run
	client, server *Host
	observer       *observer
	pump           *pump // of backend TUN
	pair           *pair // of backend Netem
	spinner        *spinner
	tracings       *tracings
	qlogs          []lab.QLog // once closed

	running  Running
	prepared Prepared

	mu      sync.Mutex
	facts   *lab.Facts // cut when Get ended
	capture *wire.Capture
}

// Open makes two fresh hosts joined by the run's path. The error wraps
// lab.ErrUnsupported where this kernel can never carry out the run, and says
// what is missing where the machine does not allow it.
func (s *Site) Open(ctx context.Context, run lab.Run) (*Hosts, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open kernel site: %w", err)
	}
	if c := run.Cell; c.Protocol == lab.H3 && c.Stack.Pacing == lab.PacingOff {
		return nil, fmt.Errorf("open kernel site: pacing off: the programs here are as published, "+
			"and quic-go has no switch for its pacing (the site virtual can do it): %w", lab.ErrUnsupported)
	}
	promptProcess()
	h := &Hosts{site: *s, run: run}
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open kernel site: %w", err), h.Close())
	}
	return h, nil
}

func (h *Hosts) open(ctx context.Context) (err error) {
	if h.tracings, err = newTracings(h.site.QLog); err != nil {
		return err
	}
	if h.site.Spin {
		if h.spinner, err = startSpinner(); err != nil {
			return err
		}
	}
	if h.site.Backend == Netem {
		err = h.openNetem(ctx)
	} else {
		err = h.openTUN()
	}
	if err == nil {
		h.client.environ = func(env []string) []string { return h.tracings.environment(clientSide, env) }
		h.server.environ = func(env []string) []string { return h.tracings.environment(serverSide, env) }
	}
	return err
}

func (h *Hosts) openTUN() (err error) {
	client, server := networks(h.run)
	if h.client, err = newHost(client, !h.site.NoOffload); err != nil {
		return err
	}
	if h.server, err = newHost(server, !h.site.NoOffload); err != nil {
		return err
	}
	h.observer = newObserver(h.run)
	if h.site.blind {
		h.observer.close()
	}
	h.pump, err = newPump(h.observer, h.lane(lab.Up, h.client, h.server), h.lane(lab.Down, h.server, h.client))
	if err != nil {
		return err
	}
	h.pump.start()
	return nil
}

func (h *Hosts) openNetem(ctx context.Context) (err error) {
	path := h.run.Cell.Path
	if err := Netem.Fits(path); err != nil {
		return err
	}
	client, server := networks(h.run)
	if h.client, err = newBareHost(client); err != nil {
		return err
	}
	if h.server, err = newBareHost(server); err != nil {
		return err
	}
	super := (path.Up.Loss.Super || path.Down.Loss.Super) && !h.site.NoOffload
	h.observer = newNetemObserver()
	h.pair, err = join(ctx, h.client, h.server, path, super, h.observer)
	return err
}

func (h *Hosts) lane(d lab.Direction, from, to *Host) *lane {
	return newLane(d, h.run.Cell.Path, h.observer, from.device, to.device)
}

// Offload names what the hosts' kernels leave to their devices (Host.Offload).
func (h *Hosts) Offload() []string { return h.client.Offload() }

// Serve starts the run's server, and returns once it accepts connections.
func (h *Hosts) Serve(ctx context.Context) error {
	running, err := h.site.Server.Start(ctx, h.server, h.run)
	if err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	h.running = running
	return nil
}

// Get prepares the run's client and carries out the load, until it is done or
// ctx ends. The facts are cut when the client has reported.
func (h *Hosts) Get(ctx context.Context) (lab.Report, error) {
	prepared, err := h.site.Client.Prepare(ctx, h.client, h.run)
	if err != nil {
		now := h.observer.now()
		h.cut(h.usage(), now, now, lab.Report{})
		return lab.Report{}, errors.Join(fmt.Errorf("prepare client: %w", err), h.broken())
	}
	h.prepared = prepared
	before := h.usage()
	report, start, end, err := h.load(ctx)
	if err == nil {
		start, end = report.Start(start), report.End(start)
	}
	h.cut(before, start, end, report)
	if err != nil {
		err = fmt.Errorf("carry out load: %w", err)
	}
	return report, errors.Join(err, h.broken())
}

// load lets the client carry out its load, undisturbed. It returns the times of
// asking for it and of the answer.
func (h *Hosts) load(ctx context.Context) (report lab.Report, asked, end time.Duration, err error) {
	defer withoutCollector()()
	defer urgently()()
	asked = h.observer.now()
	report, err = h.prepared.Go(ctx)
	return report, asked, h.observer.now(), err
}

// Facts returns what the lab saw until Get ended, or so far.
func (h *Hosts) Facts() lab.Facts {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.facts == nil {
		return h.observe(h.observer.facts(h.observer.now()))
	}
	f := *h.facts
	f.Wire.Up.Drops, f.Wire.Down.Drops = maps.Clone(f.Wire.Up.Drops), maps.Clone(f.Wire.Down.Drops)
	return f
}

// Capture returns the packets that the witness kept until Get ended; nil before.
// It must not be changed.
func (h *Hosts) Capture() *wire.Capture {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.capture
}

// takeTracings takes over what the programs left to their end: some write their
// secrets no sooner.
func (h *Hosts) takeTracings() {
	h.qlogs = h.tracings.readQLogs()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.capture != nil {
		h.capture.Secrets = h.tracings.secrets()
	}
}

// QLogs returns the qlogs that the programs left, once the hosts are closed.
func (h *Hosts) QLogs() []lab.QLog { return h.qlogs }

// cut keeps the facts and packets of this instant, for a load from time start to
// time end. The wire comes first: what the sides are asked takes time. Its packets
// are read last, which takes time as well.
func (h *Hosts) cut(before usage, start, end time.Duration, report lab.Report) {
	seen, capture := h.observer.cut(start, end)
	f := h.observe(seen)
	after := h.usage()
	if capture != nil {
		capture.Secrets = h.tracings.secrets()
	}
	if h.running != nil {
		f.Server = h.running.Side()
	}
	after.server.since(before.server, &f.Server)
	after.client.since(before.client, &f.Client)
	wire.Digest(capture, wire.AboutRun(h.run, report), &f.Wire)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.facts, h.capture = &f, capture
}

// endMargin is by how much the instant of a load's end may be wrong: the word
// to start and the client's report go through pipes.
const endMargin = 30 * time.Millisecond

// observe adds what the lab itself shows of the run so far to what was seen of
// the wire.
func (h *Hosts) observe(seen lab.Wire) lab.Facts {
	f := lab.Facts{Wire: seen}
	if h.pair != nil {
		h.pair.addDrops(&f.Wire)
		return f
	}
	f.Lateness = link.Summary(&h.pump.lanes[lab.Up].late, &h.pump.lanes[lab.Down].late)
	h.addLost(&f.Wire.Up, lab.Up, h.client, h.server)
	h.addLost(&f.Wire.Down, lab.Down, h.server, h.client)
	return f
}

// addLost counts the packets that the lab lost: those that the sender's device
// had no room for, which the link never saw, and those that the receiver's
// device did not take. The device counts a refused write itself, as a rule.
func (h *Hosts) addLost(way *lab.WireWay, d lab.Direction, from, to *Host) {
	refused := int(h.pump.lanes[d].lost.Load())
	sent, _, _ := from.lost()
	_, received, _ := to.lost()
	if n := sent + max(received, refused); n > 0 {
		way.Drops[dropByLab] += n
	}
}

// broken returns why the pump ended before its time, if it did, or what else
// keeps the facts from being whole.
func (h *Hosts) broken() error {
	if h.pair != nil {
		return h.pair.broken()
	}
	select {
	case <-h.pump.done:
		return h.pump.err
	default:
		return nil
	}
}

// Close ends both programs and the network. It returns when nothing of them is
// left.
func (h *Hosts) Close() error {
	var errs []error
	if h.prepared != nil {
		errs = append(errs, ended("client", h.prepared.Close()))
	}
	if h.running != nil {
		errs = append(errs, ended("server", h.running.Close()))
	}
	if h.spinner != nil {
		errs = append(errs, h.spinner.close())
	}
	if h.pair != nil {
		errs = append(errs, h.pair.close())
	}
	errs = append(errs, h.stopPump(), closeHosts(h.client, h.server))
	if h.tracings != nil {
		h.takeTracings()
		errs = append(errs, h.tracings.close())
	}
	if h.observer != nil {
		h.observer.close()
	}
	reapOrphans()
	return errors.Join(errs...)
}

// closeHosts closes the hosts at the same time: the kernel takes a while over
// each device, waiting more than working.
func closeHosts(hosts ...*Host) error {
	errs := make([]error, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		if host != nil {
			all.Go(func() { errs[i] = host.Close() })
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

// stopPump comes before the hosts are closed: the pump must not use a device's
// number when it may be another file's.
func (h *Hosts) stopPump() error {
	if h.pump == nil {
		return nil
	}
	return h.pump.close()
}

// ended names what could not be closed. That a program of the run did not exit
// as it should is told by its own report, and is no fault of the lab.
func ended(what string, err error) error {
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) {
		return nil
	}
	return fmt.Errorf("end %s: %w", what, err)
}
