package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Pool is a number of workers that are alike. Runs are given to whichever is
// free; a worker that failed is replaced. It is safe for concurrent use.
type Pool struct {
	command Command
	blank   func(lab.Run) lab.Record
	limit   func(lab.Run) time.Duration

	free chan *process // nil stands for a worker yet to be started
	size int
	once sync.Once
}

// NewPool makes a pool of size workers, started when they are first needed.
// limit is how much real time a run may take before its worker is killed, and
// blank makes the record of a run of which nothing came back. What samewires that
// were killed have left of their workers is swept away first.
func NewPool(c Command, size int, limit func(lab.Run) time.Duration, blank func(lab.Run) lab.Record) *Pool {
	Sweep()
	p := &Pool{command: c, blank: blank, limit: limit, free: make(chan *process, size), size: size}
	for range size {
		p.free <- nil
	}
	return p
}

// Carry has a worker carry out the run. Nothing but the record is kept.
func (p *Pool) Carry(ctx context.Context, run lab.Run) lab.Record {
	return p.CarryOut(ctx, lab.Order{Run: run, Attempt: 1})
}

// CarryOut has a worker carry out the run. Where the worker failed the record is
// invalid and says why.
func (p *Pool) CarryOut(ctx context.Context, order lab.Order) lab.Record {
	began := time.Now()
	record, err := p.carry(ctx, order)
	if err != nil {
		record = p.blank(order.Run)
		record.Outcome, record.Reason = lab.Invalid, err.Error()
	}
	record.Started = began.UTC().Format(time.RFC3339Nano)
	record.Took = time.Since(began).Seconds()
	return record
}

func (p *Pool) carry(ctx context.Context, order lab.Order) (lab.Record, error) {
	var w *process
	select {
	case w = <-p.free:
	case <-ctx.Done():
		return lab.Record{}, ctx.Err()
	}
	defer func() { p.free <- w }()
	if w == nil {
		var err error
		if w, err = start(ctx, p.command); err != nil {
			return lab.Record{}, err
		}
		if problem := w.Hello.Problem; problem != "" {
			w.kill()
			w = nil
			return lab.Record{}, fmt.Errorf("the worker cannot work: %s", problem)
		}
	}
	record, err := w.ask(ctx, order, p.limit(order.Run))
	if err != nil {
		w.kill()
		w = nil
	}
	return record, err
}

// Close ends all workers. Runs must have ended before.
func (p *Pool) Close() {
	p.once.Do(func() {
		for range p.size {
			if w := <-p.free; w != nil {
				w.close()
			}
		}
	})
}

// Ask starts one worker, hears its hello, and lets it end.
func Ask(ctx context.Context, c Command) (Hello, error) {
	w, err := start(ctx, c)
	if err != nil {
		return Hello{}, err
	}
	w.close()
	return w.Hello, nil
}
