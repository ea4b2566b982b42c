package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/site/inproc"
	"github.com/samewire/samewire/internal/site/worker"
)

// virtualPools are the workers of the site virtual: those that are as published,
// and beside them, started when first needed, rebuilt ones for each variant of the
// stacks. It is safe for concurrent use.
//
// Properties that an edit must keep:
//   - a cell of a stock stack never goes to a rebuilt worker, nor the other way
//     round: a record says what its programs were;
//   - a rebuilt worker that cannot be had costs the runs that need it, each of which
//     says why, and no other.
type virtualPools struct {
	stock sitePool
	open  func(context.Context, worker.Variant) (sitePool, error)

	mu      sync.Mutex
	rebuilt map[worker.Variant]sitePool
}

func newVirtualPools(stock sitePool, open func(context.Context, worker.Variant) (sitePool, error)) *virtualPools {
	return &virtualPools{stock: stock, open: open, rebuilt: map[worker.Variant]sitePool{}}
}

// CarryOut implements runner.Carrier.
func (p *virtualPools) CarryOut(ctx context.Context, order lab.Order) lab.Record {
	v := worker.VariantOf(order.Run.Cell.Stack)
	if v == worker.Stock {
		return p.stock.CarryOut(ctx, order)
	}
	began := time.Now()
	pool, err := p.variant(ctx, v)
	if err == nil {
		return pool.CarryOut(ctx, order)
	}
	r := runner.Blank(order.Run)
	r.Outcome, r.Reason = lab.Unsupported, fmt.Sprintf("site %s: %s needs the rebuilt worker: %s", lab.Virtual, v, oneLine(err))
	if ctx.Err() != nil { // it may well be there
		r.Outcome, r.Reason = lab.Invalid, ctx.Err().Error()
	}
	r.Started, r.Took = began.UTC().Format(time.RFC3339Nano), time.Since(began).Seconds()
	return r
}

// variant returns the workers of a variant. A failure is not remembered: looking
// again costs little.
func (p *virtualPools) variant(ctx context.Context, v worker.Variant) (sitePool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pool := p.rebuilt[v]; pool != nil {
		return pool, nil
	}
	pool, err := p.open(ctx, v)
	if err == nil {
		p.rebuilt[v] = pool
	}
	return pool, err
}

// Close ends all workers.
func (p *virtualPools) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stock.Close()
	for _, pool := range p.rebuilt {
		pool.Close()
	}
}

// builtVariant is what this program's own stacks do, as a worker of a site. On the
// kernel site the hosts' TCP is the kernel's.
func builtVariant(site lab.SiteName) worker.Variant {
	if site == lab.Kernel {
		return worker.Variant{}
	}
	return worker.Variant{InitCwnd: inproc.InitCwnd(), Pacing: inproc.Pacing()}
}
