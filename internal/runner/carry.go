package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// grace is what a client gets beyond the run's limit to say how far it came.
const grace = 5 * time.Second

// setUp is how long making hosts and starting the server may take.
const setUp = 30 * time.Second

// Direct carries out runs on a site whose hosts it can open itself.
type Direct struct {
	Site   Site
	Keeper Keeper // nil: nothing is ever kept
}

// Carry carries out one run on fresh hosts. Nothing but the record is kept.
func (d Direct) Carry(ctx context.Context, run lab.Run) lab.Record {
	return d.CarryOut(ctx, lab.Order{Run: run, Attempt: 1})
}

// CarryOut carries out one run on fresh hosts.
func (d Direct) CarryOut(ctx context.Context, order lab.Order) lab.Record {
	m, err := d.measure(ctx, order.Run)
	if cause := ctx.Err(); cause != nil {
		err = errors.Join(fmt.Errorf("given up in the middle: %w", cause), err)
	}
	record := describe(order.Run, m, err)
	if d.Keeper != nil && m.hosts != nil {
		record.Kept = d.Keeper.Keep(order, m.hosts, record)
	}
	return record
}

// measured is what one run left behind, as far as it got.
type measured struct {
	report  lab.Report
	facts   lab.Facts
	getErr  error
	loadRan bool
	hosts   Hosts // closed; nil: they could not be opened
}

// measure sets up, measures and tears down. Its error says why the load could
// not be tried at all.
func (d Direct) measure(ctx context.Context, run lab.Run) (m measured, err error) {
	open, cancel := context.WithTimeout(ctx, setUp)
	defer cancel()
	hosts, err := d.Site.Open(open, run)
	if err != nil {
		return m, fmt.Errorf("open hosts: %w", err)
	}
	m.hosts = hosts
	defer func() { err = errors.Join(err, wrap("close hosts", hosts.Close())) }()
	if err := hosts.Serve(open); err != nil {
		return m, fmt.Errorf("start server: %w", err)
	}
	limit := ctx
	if run.Timeout > 0 {
		var stop context.CancelFunc
		limit, stop = context.WithTimeout(ctx, run.Cell.Load.Idle+run.Timeout+grace)
		defer stop()
	}
	m.report, m.getErr = hosts.Get(limit)
	m.facts = hosts.Facts()
	m.loadRan = true
	return m, nil
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// describe makes the record of a run.
func describe(run lab.Run, m measured, err error) lab.Record {
	r := Blank(run)
	if err != nil {
		r.Outcome, r.Reason = lab.Invalid, err.Error()
		if errors.Is(err, lab.ErrUnsupported) {
			r.Outcome = lab.Unsupported
		}
	}
	if !m.loadRan {
		return r
	}
	r.Requests = m.report.Requests
	r.Wire, r.Lateness = m.facts.Wire, m.facts.Lateness
	r.Server = m.facts.Server
	r.Client = merge(m.report.Side, m.facts.Client)
	connections := m.report.Connections
	r.Connections = &connections
	if err == nil {
		r.Outcome, r.Reason = judge(run, m)
	}
	r.Samples = samples(r, m.report)
	if r.Requests == nil {
		r.Requests = []lab.Request{}
	}
	return r
}

// Blank returns the record of a run of which nothing is known: every field is
// there, and no metric has a value.
func Blank(run lab.Run) lab.Record {
	none := lab.WireWay{Drops: map[string]int{}}
	return lab.Record{
		Format: lab.FormatVersion, Run: run, Attempt: 1, Outcome: lab.Invalid,
		Samples: lab.Metrics(), Requests: []lab.Request{},
		Wire: lab.Wire{
			Up: none, Down: none, Causes: []lab.Cause{}, Conversations: []lab.Conversation{}, Stalls: []lab.Stall{},
		},
		Server: lab.Side{Senders: []lab.Sender{}}, Client: lab.Side{Senders: []lab.Sender{}},
	}
}

// merge adds to what a program said of itself what the lab saw of it.
func merge(said, seen lab.Side) lab.Side {
	if seen.CPU != nil {
		said.CPU = seen.CPU
	}
	if said.UDPReceiveBuffer == nil {
		said.UDPReceiveBuffer = seen.UDPReceiveBuffer
	}
	if seen.UDPReceiveErrors != nil {
		said.UDPReceiveErrors = seen.UDPReceiveErrors
	}
	if seen.Waited != nil {
		said.Waited = seen.Waited
	}
	if said.Program == "" {
		said.Program = seen.Program
	}
	if said.Senders == nil {
		said.Senders = []lab.Sender{}
	}
	if said.Window == nil {
		said.Window = seen.Window
	}
	return said
}

// samples reads the metrics off a report. A run that did not finish has no
// duration; its first byte counts if it came.
func samples(r lab.Record, report lab.Report) []lab.Sample {
	all := lab.Metrics()
	set := func(metric string, v *float64) {
		for i := range all {
			if all[i].Metric == metric {
				all[i].Value = v
			}
		}
	}
	set(lab.TTFB, firstByte(report.Requests))
	first, last := objects(report.Requests)
	set(lab.FirstObject, first)
	set(lab.LastObject, last)
	set(lab.CPUClient, r.Client.CPU)
	set(lab.CPUServer, r.Server.CPU)
	set(lab.RoundTrips, r.Wire.RoundTrips)
	if r.Outcome == lab.OK {
		duration := report.Duration
		set(lab.Duration, &duration)
		if duration > 0 {
			goodput := float64(r.Run.Cell.Load.Bytes()) * 8 / duration
			set(lab.Goodput, &goodput)
		}
	}
	return all
}

// firstByte is the time from the load's start to the first response byte of any
// request.
func firstByte(requests []lab.Request) *float64 {
	var first *float64
	for _, q := range requests {
		if q.StartTransfer == nil {
			continue
		}
		if t := q.Start + *q.StartTransfer; first == nil || t < *first {
			first = &t
		}
	}
	return first
}

// objects are the times from the load's start to the ends of the first and of the
// last response that ended well; no last one unless all did.
func objects(requests []lab.Request) (first, last *float64) {
	for _, q := range requests {
		if q.Outcome != lab.OK || q.Total == nil {
			continue
		}
		end := q.Start + *q.Total
		if first == nil || end < *first {
			first = &end
		}
		if last == nil || end > *last {
			last = &end
		}
	}
	if slices.ContainsFunc(requests, func(q lab.Request) bool { return q.Outcome != lab.OK || q.Total == nil }) {
		last = nil
	}
	return first, last
}
