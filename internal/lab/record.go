package lab

import (
	"math"
	"time"
)

// Record is all that one run left behind. Failed runs have records too.
// All times are in seconds; a value that could not be had is null, never absent.
type Record struct {
	Format  int     `json:"format"`
	Run     Run     `json:"run"`
	Attempt int     `json:"attempt"` // from 1; an invalid run is repeated once
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason"` // empty when ok: what happened, in one sentence

	Samples  []Sample  `json:"samples"`
	Requests []Request `json:"requests"`
	Wire     Wire      `json:"wire"`
	Server   Side      `json:"server"`
	Client   Side      `json:"client"`
	Lateness Lateness  `json:"lateness"`
	Kept     *Kept     `json:"kept"` // null: nothing was to be kept

	// Connections the client opened for the load, by its own account.
	Connections *int `json:"connections"`
	// Started is the wall-clock time of the run's start (RFC 3339), and Took
	// the real seconds that it cost, set-up included.
	Started string  `json:"started"`
	Took    float64 `json:"took"`
}

// Sample is one measured value.
type Sample struct {
	Metric string   `json:"metric"`
	Unit   string   `json:"unit"`
	Value  *float64 `json:"value"`
}

// The metrics.
const (
	Duration    = "duration"     // s: from the load's start to its last byte
	TTFB        = "ttfb"         // s: from the load's start to the first byte of the first response
	FirstObject = "first_object" // s: from the load's start to the end of the first response
	LastObject  = "last_object"  // s: from the load's start to the end of the last response
	Goodput     = "goodput"      // bit/s: body bytes over duration
	RoundTrips  = "round_trips"  // 1: to the first byte, read off the wire
	CPUClient   = "cpu_client"   // s
	CPUServer   = "cpu_server"   // s
)

// Metrics lists all metrics, each with its unit, in the order of reports.
func Metrics() []Sample {
	return []Sample{
		{Metric: Duration, Unit: "s"}, {Metric: TTFB, Unit: "s"},
		{Metric: FirstObject, Unit: "s"}, {Metric: LastObject, Unit: "s"}, {Metric: Goodput, Unit: "bit/s"},
		{Metric: RoundTrips, Unit: "1"}, {Metric: CPUClient, Unit: "s"}, {Metric: CPUServer, Unit: "s"},
	}
}

// Value returns the record's value of a metric, or nil.
func (r Record) Value(metric string) *float64 {
	for _, s := range r.Samples {
		if s.Metric == metric {
			return s.Value
		}
	}
	return nil
}

// Request is what one request went through. As with curl, the times connect,
// appconnect, starttransfer and total count from the request's own start.
type Request struct {
	Start         float64  `json:"start"`         // since the load's start
	Connect       *float64 `json:"connect"`       // TCP established; null on a used connection, and for QUIC
	AppConnect    *float64 `json:"appconnect"`    // TLS or QUIC handshake done; null on a used connection
	StartTransfer *float64 `json:"starttransfer"` // first byte of the response
	Total         *float64 `json:"total"`         // last byte of the response
	Bytes         int64    `json:"bytes"`         // body bytes received, or sent in an upload
	Status        int      `json:"status"`        // HTTP status; 0 when none came
	Protocol      string   `json:"protocol"`      // negotiated: "h1", "h2", "h3", or as the peer named it
	Outcome       Outcome  `json:"outcome"`
	Error         string   `json:"error"`
}

// Report is what a client says about one load.
type Report struct {
	Requests    []Request `json:"requests"`
	Connections int       `json:"connections"` // opened for the load
	Lead        float64   `json:"lead"`        // s: from being asked to the load's start: the warm-up
	Duration    float64   `json:"duration"`    // s: from the load's start to the end of the last request
	Side        Side      `json:"side"`
	Error       string    `json:"error"` // the load could not even start
}

// Start is when the load started, for a client that was asked at time asked.
func (r Report) Start(asked time.Duration) time.Duration {
	return asked + time.Duration(math.Round(r.Lead*1e9))
}

// End is when the load ended, for a client that was asked at time asked.
func (r Report) End(asked time.Duration) time.Duration {
	return asked + time.Duration(math.Round((r.Lead+r.Duration)*1e9))
}

// Side is what is known of one host's program.
type Side struct {
	Program string   `json:"program"` // name and version
	CPU     *float64 `json:"cpu"`     // s of CPU time while the load ran; null where it cannot be told apart
	// Waited is how long the program's threads, all together, were ready to run
	// but waited for a processor while the load ran, in s; null where it cannot
	// be told.
	Waited *float64 `json:"waited"`
	// Senders has what each connection's sending half really used.
	Senders []Sender `json:"senders"`
	// UDPReceiveBuffer is the UDP socket's receive buffer in bytes.
	UDPReceiveBuffer *int `json:"udp_receive_buffer"`
	// UDPReceiveErrors counts datagrams dropped for want of socket buffer.
	UDPReceiveErrors *int `json:"udp_receive_errors"`
	// Window is the largest flow-control window of one stream that this side
	// offers as a receiver, in bytes; null when not known.
	Window *int64 `json:"window"`
}

// Sender is the sending half of one connection.
type Sender struct {
	Transport     string `json:"transport"`      // "tcp" or "quic"
	CC            string `json:"cc"`             // congestion control, such as cubic
	InitialWindow int    `json:"initial_window"` // in packets of full size
	Source        string `json:"source"`         // "socket": read back; "declared": from the library's source
}

// Lateness is how much later than due the lab delivered packets, in seconds.
// It is all zero in virtual time.
type Lateness struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// longStall is how many times the limit of the 99th percentile no packet at
// all may be late.
const longStall = 10

// Beyond says whether packets were so late that the run cannot be believed: one
// in 100 by more than limit, or any by more than ten times as much. A limit of
// zero is none.
func (l Lateness) Beyond(limit time.Duration) bool {
	s := limit.Seconds()
	return s > 0 && (l.P99 > s || l.Max > longStall*s)
}

// Starved says whether a side's program waited for a processor for more than
// half of the load's duration, and more than a second: the machine was busy with
// other things, and the run says nothing about the protocol.
func (r Report) Starved(sides ...Side) (waited float64, starved bool) {
	for _, s := range sides {
		if s.Waited != nil {
			waited = max(waited, *s.Waited)
		}
	}
	return waited, waited > 1 && waited > r.Duration/2
}

// Late says whether the run is invalid because the lab was too late: it says
// nothing about the protocol.
func (r Record) Late() bool { return r.Outcome == Invalid && r.Lateness.Beyond(r.Run.Lateness) }

// Facts are what the lab itself saw of a run.
type Facts struct {
	Wire     Wire
	Server   Side
	Client   Side // what the client did not say of itself, such as socket counters
	Lateness Lateness
}
