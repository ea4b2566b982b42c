package runner

import (
	"context"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// orders remembers what it was asked to do.
type orders struct{ seen []lab.Order }

func (o *orders) CarryOut(_ context.Context, order lab.Order) lab.Record {
	o.seen = append(o.seen, order)
	return Blank(order.Run) // invalid: it is tried again
}

func TestOrdersSayWhatToKeepAndWhichAttempt(t *testing.T) {
	o, keep := &orders{}, lab.Keep{Rule: lab.KeepAll, Dir: "/x"}
	err := Run(t.Context(), planOf(1, lab.Kernel), Options{
		Carriers: map[lab.SiteName]Carrier{lab.Kernel: o}, Sink: &memory{}, Keep: keep,
	})
	if err != nil || len(o.seen) != 2 {
		t.Fatalf("%d orders, %v", len(o.seen), err)
	}
	for i, order := range o.seen {
		if order.Attempt != i+1 || order.Keep != keep || order.Run.ID != "kernel0" {
			t.Errorf("order %d: %+v", i, order)
		}
	}
}

// calm are hosts on which nothing happens.
type calm struct{ closed bool }

func (q *calm) Open(context.Context, lab.Run) (Hosts, error) { return q, nil }
func (q *calm) Serve(context.Context) error                  { return nil }
func (q *calm) Get(context.Context) (lab.Report, error)      { return lab.Report{}, nil }
func (q *calm) Facts() lab.Facts                             { return lab.Facts{Server: lab.Side{Program: "seen"}} }
func (q *calm) Close() error                                 { q.closed = true; return nil }

type keeperFunc func(lab.Order, Hosts, lab.Record) *lab.Kept

func (f keeperFunc) Keep(o lab.Order, h Hosts, r lab.Record) *lab.Kept { return f(o, h, r) }

func TestTheKeeperComesLastAndCannotSpoilTheRun(t *testing.T) {
	kept := &lab.Kept{Error: "disk full"}
	site := &calm{}
	d := Direct{Site: site, Keeper: keeperFunc(func(o lab.Order, h Hosts, r lab.Record) *lab.Kept {
		if h != Hosts(site) || !site.closed || o.Attempt != 2 || r.Server.Program != "seen" {
			t.Errorf("asked to keep of %+v, closed %v", o, site.closed)
		}
		return kept
	})}
	run := lab.Run{ID: "x"}
	r := d.CarryOut(t.Context(), lab.Order{Run: run, Attempt: 2})
	if r.Kept != kept {
		t.Errorf("%+v", r.Kept)
	}
	without := Direct{Site: &calm{}}.Carry(t.Context(), run)
	if without.Kept != nil || without.Outcome != r.Outcome || without.Reason != r.Reason {
		t.Errorf("with a keeper %s (%s), without %s (%s)", r.Outcome, r.Reason, without.Outcome, without.Reason)
	}
}
