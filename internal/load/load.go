package load

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Network is what a client speaks through.
type Network interface {
	// Dial opens a TCP connection. It gives up when ctx ends.
	Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
	// ListenPacket opens a UDP socket. It is asked for the unspecified address
	// of the server's family, and port 0.
	ListenPacket(addr netip.AddrPort) (net.PacketConn, error)
	// Sender reads back congestion control and initial window of a fresh TCP
	// connection; false where they cannot be known.
	Sender(net.Conn) (lab.Sender, bool)
}

// bufferTeller is a Network that can tell the receive buffer of a UDP socket.
type bufferTeller interface {
	UDPReceiveBuffer(net.PacketConn) (bytes int, ok bool)
}

// load is a load that is being carried out.
type load struct {
	*dialer
	start    time.Time
	requests []lab.Request // each is written by one goroutine only

	mu    sync.Mutex
	ended time.Duration // when the last request ended, since start
}

// Get carries out the load of cfg, until it is done, cfg.Timeout has passed
// since its start, or ctx ends. The warm-up has a time limit of its own, as
// long as the load's. Get leaves no connection open. cfg.Connections above the
// number of objects means one for each.
//
// Where the load could not start, because cfg is wrong (lab.Invalid) or the
// warm-up failed, the report's Error says why, and so do all of its requests.
func Get(ctx context.Context, n Network, cfg lab.ClientConfig) lab.Report {
	asked := time.Now()
	d, err := newDialer(n, cfg)
	if err != nil {
		return d.failed(lab.Request{Outcome: lab.Invalid, Error: err.Error()})
	}
	defer d.close()
	conns := make([]*connection, d.connections()) // nil is not open yet
	if cfg.Load.Warm {
		if r := d.warm(ctx, conns); r.Outcome != lab.OK {
			r.Error = "warm-up: " + r.Error
			report := d.failed(r)
			report.Lead = time.Since(asked).Seconds()
			return report
		}
		rest(ctx, cfg.Load.Idle)
	}
	l := &load{dialer: d, start: time.Now(), requests: make([]lab.Request, cfg.Load.Objects)}
	l.run(ctx, conns)
	return lab.Report{
		Requests: l.requests, Connections: len(d.attempts), Side: d.side(),
		Lead: l.start.Sub(asked).Seconds(), Duration: l.ended.Seconds(),
	}
}

func (l *load) run(ctx context.Context, conns []*connection) {
	ctx, cancel := limited(ctx, l.cfg.Timeout)
	defer cancel()
	if l.cfg.Protocol == lab.H1 {
		l.queued(ctx, conns)
		return
	}
	var all sync.WaitGroup
	for k, c := range conns {
		all.Go(func() { l.multiplexed(ctx, c, k, len(conns)) })
	}
	all.Wait()
}

// multiplexed carries out every step-th request from the first on, on
// connection c, which is opened if it is nil. Each request is sent when the one
// before has been.
func (l *load) multiplexed(ctx context.Context, c *connection, first, step int) {
	if c == nil {
		c = l.dial(ctx)
	}
	var all sync.WaitGroup
	for i := first; i < len(l.requests); i += step {
		c.claim(&l.requests[i], l.start)
		sent := make(chan struct{})
		all.Go(func() { l.carry(ctx, c, i, sync.OnceFunc(func() { close(sent) })) })
		<-sent
	}
	all.Wait()
}

// carry carries out request i on connection c, and calls sent when the request
// has been sent or never will be. It says whether c can carry another.
func (l *load) carry(ctx context.Context, c *connection, i int, sent func()) bool {
	defer sent()
	e := exchange{cfg: &l.cfg, object: object{l.cfg.Load.Upload, l.cfg.Load.Size}, start: l.start, sent: sent}
	again := e.do(ctx, c, &l.requests[i])
	end := time.Since(l.start)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = max(l.ended, end)
	return again
}

// warm opens all connections and carries out one tiny request on each. It
// returns the first of them that failed, or else one that is ok.
func (d *dialer) warm(ctx context.Context, conns []*connection) lab.Request {
	ctx, cancel := limited(ctx, d.cfg.Timeout)
	defer cancel()
	requests := make([]lab.Request, len(conns))
	var all sync.WaitGroup
	for k := range conns {
		all.Go(func() {
			c := d.dial(ctx)
			c.claimed, conns[k] = true, c
			e := exchange{cfg: &d.cfg, object: object{size: 1}, start: time.Now(), sent: func() {}}
			e.do(ctx, c, &requests[k])
		})
	}
	all.Wait()
	for _, r := range requests {
		if r.Outcome != lab.OK {
			return lab.Request{Outcome: r.Outcome, Error: r.Error, Protocol: r.Protocol}
		}
	}
	return lab.Request{Outcome: lab.OK}
}

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// failed reports a load that could not start: all requests ended as r did.
func (d *dialer) failed(r lab.Request) lab.Report {
	requests := make([]lab.Request, max(d.cfg.Load.Objects, 0))
	for i := range requests {
		requests[i] = r
	}
	return lab.Report{Requests: requests, Connections: len(d.attempts), Side: d.side(), Error: r.Error}
}

// limited is ctx with a time limit, unless it is zero.
func limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}
