package runner

import (
	"context"

	"github.com/samewire/samewire/internal/lab"
)

// Site makes the network of a run, with the run's two programs on it.
type Site interface {
	// Open makes two fresh hosts joined by the run's path. Nothing is inherited
	// from an earlier run. The error wraps lab.ErrUnsupported where the site can
	// never carry out such a run.
	Open(ctx context.Context, run lab.Run) (Hosts, error)
}

// Hosts are the two hosts of one run.
type Hosts interface {
	// Serve starts the run's server, and returns once it accepts connections.
	Serve(ctx context.Context) error
	// Get carries out the run's load with the run's client, until it is done or
	// ctx ends. A report comes back whatever happened, as far as it got; the
	// error says that the client itself failed.
	Get(ctx context.Context) (lab.Report, error)
	// Facts returns what the lab saw until Get ended.
	Facts() lab.Facts
	// Close ends both programs and the network. It returns when nothing of
	// them is left.
	Close() error
}

// Carrier carries out runs. It never fails: what went wrong is in the record.
// It must be safe for concurrent use.
type Carrier interface {
	CarryOut(ctx context.Context, order lab.Order) lab.Record
}

// Keeper keeps of a run what its order wants besides the record. What could not
// be kept is told in the result, and is no fault of the run.
type Keeper interface {
	// Keep is called once the hosts are closed. Nil: nothing was to be kept.
	Keep(order lab.Order, hosts Hosts, record lab.Record) *lab.Kept
}

// Sink keeps records. Put returns when the record cannot be lost any more.
type Sink interface {
	Put(lab.Record) error
}
