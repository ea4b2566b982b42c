package kernel

import (
	"context"

	"github.com/samewire/samewire/internal/lab"
)

// Site makes the network of a run out of two network namespaces. Open is in
// the file of the operating system.
type Site struct {
	Server Server
	Client Client
	// Spin keeps every core awake with a thread of idle priority, so that a
	// packet finds its processor running: round trips come closer to the path's.
	// It costs power, and processor time where that is rationed. The executable
	// must call the function Spin when its first argument is SpinCommand.
	Spin bool
	// NoOffload keeps the hosts' kernels from leaving to their devices what
	// network cards do: checksums, and cutting what TCP and UDP send into packets.
	// The packets on the wire are the same; moving them takes several times the
	// processor time.
	NoOffload bool
	// QLog asks the programs for qlogs (QLOGDIR), which costs processor time.
	QLog bool
	// Backend moves the packets between the hosts; empty means TUN.
	Backend Backend

	blind bool // no packet is shown to the witness: for tests of what it costs
}

// Backend is what moves the packets between the two hosts of a run.
type Backend string

// The backends.
const (
	// TUN is samewire's own link, on TUN devices.
	TUN Backend = "tun"
	// Netem is the kernel's: a veth pair, and on its devices the queueing
	// disciplines of plan.ExportNetem. It is there to compare with. A path that
	// those cannot make is lab.ErrUnsupported; what they make otherwise than the
	// link does is for the caller to say (see Netem's Missing there).
	Netem Backend = "netem"
)

// Backends lists all backends.
func Backends() []Backend { return []Backend{TUN, Netem} }

// SpinCommand is the first argument with which a site that spins starts its own
// executable again.
const SpinCommand = "spin"

// Server starts the server of a run.
type Server interface {
	// Start starts the server on its host and returns once it accepts
	// connections.
	Start(ctx context.Context, host *Host, run lab.Run) (Running, error)
}

// Running is a server that accepts connections.
type Running interface {
	PID() int       // of its main process, as this process sees it
	Side() lab.Side // what the server says of itself; CPU is filled in by the site
	Close() error   // ends the server and returns when it has gone
}

// Client prepares the client of a run.
type Client interface {
	// Prepare starts the client's process and returns when it has warmed up and
	// only waits for the word. What it did up to here is not part of the load.
	Prepare(ctx context.Context, host *Host, run lab.Run) (Prepared, error)
}

// Prepared is a client that waits for the word to start.
type Prepared interface {
	PID() int // of its main process, as this process sees it
	// Go carries out the load, and returns when it is done or ctx ends. The
	// process should outlive the call until Close, or its processor time cannot
	// be read.
	Go(ctx context.Context) (lab.Report, error)
	Close() error // ends the client and returns when it has gone
}
