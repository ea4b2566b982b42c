package gauge

import (
	"math"

	"github.com/samewire/samewire/internal/lab"
)

// State says what came of a check.
type State string

// The states. Only Holds and Fails are judgements.
const (
	Holds     State = "holds"     // measured is asked, within the tolerance
	Fails     State = "fails"     // it is not
	Unchecked State = "unchecked" // something is asked, and it could not be checked: the note says why
	Told      State = "told"      // nothing is asked: the measurement stands for itself
)

// Check is one property of the path, asked against measured.
type Check struct {
	Name      string   `json:"name"`
	Direction string   `json:"direction"` // up, down or both
	Asked     *float64 `json:"asked"`     // null: nothing is asked, or it cannot be said in a number
	Measured  *float64 `json:"measured"`  // null: it could not be measured
	Unit      string   `json:"unit"`      // s, bit/s, B, packets, changes, 1 (a share), bool (0 or 1)
	Tolerance *float64 `json:"tolerance"` // holds when measured is within asked ± tolerance; null: not judged
	N         int      `json:"n"`         // how many packets, runs or bytes the measurement rests on
	State     State    `json:"state"`
	OK        *bool    `json:"ok"` // true holds, false fails, null neither
	Note      string   `json:"note"`
}

// Both is the direction of what concerns the whole path.
const Both = "both"

// The names of checks.
const (
	RTT             = "rtt"               // round trip, without the turn at the server
	Delay           = "delay"             // one way, median
	JitterMean      = "jitter-mean"       // mean of the one-way delay, where the path varies it
	JitterSD        = "jitter-sd"         // its standard deviation
	JitterLow       = "jitter-p10"        // its quantiles
	JitterHigh      = "jitter-p90"        //
	JitterTail      = "jitter-p99"        //
	LossShare       = "loss"              // share of small datagrams sent one by one
	LossRun         = "loss-run"          // mean length of a run of lost ones
	LossShareFull   = "loss-full"         // the same with datagrams as large as TCP's segments
	LossRunFull     = "loss-run-full"     //
	LossShareJoined = "loss-offload"      // the same with segmentation offload: several datagrams in one super-packet
	LossRunJoined   = "loss-run-offload"  //
	Undelayed       = "undelayed"         // share that was let pass without its delay
	Reordered       = "reordered"         // share that arrived after a later one (RFC 4737, 3)
	Duplicated      = "duplicated"        // share that arrived twice
	Corrupted       = "corrupted"         // share that arrived altered, where no checksum forbids it
	CorruptAccepted = "corrupted-checked" // datagrams that arrived altered in spite of their checksum
	Marked          = "marked"            // share of datagrams that understand ECN and arrived marked, by chance
	QueueMarks      = "aqm-marks"         // whether active queue management marks such datagrams
	JitterNext      = "jitter-next"       // correlation of a datagram's delay with the next one's
	DuplicatedNext  = "duplicated-next"   // of whether it arrives twice
	CorruptedNext   = "corrupted-next"    // of whether it is altered
	UndelayedNext   = "undelayed-next"    // of whether it passes undelayed
	Rebound         = "rebind"            // how often the server saw the client's address or port change
	Rate            = "rate"              // of IP bytes, when more is offered
	QueueWait       = "queue-wait"        // the longest wait for the rate
	Queue           = "queue"             // what waits at most
	Passed          = "burst"             // what a policer lets pass at once
	MTU             = "mtu"               // the largest IP packet that arrives
	TooBig          = "too-big"           // whether a larger one is answered with ICMP
	Goodput         = "tcp-goodput"       // of one TCP connection
	Capacity        = "capacity"          // an unlimited path's TCP goodput over a bare veth pair's
)

// judge makes a check that holds when measured is asked, within the tolerance.
func judge(name, direction, unit string, asked, measured, tolerance float64, n int, note string) Check {
	c := Check{Name: name, Direction: direction, Unit: unit, N: n, Note: note, State: Fails}
	c.Asked, c.Measured, c.Tolerance = number(asked), number(measured), number(tolerance)
	ok := math.Abs(measured-asked) <= tolerance // false where one is not a number
	if ok {
		c.State = Holds
	}
	c.OK = &ok
	return c
}

// unchecked makes a check that could not be made. Asked and measured may be NaN.
func unchecked(name, direction, unit string, asked, measured float64, n int, why string) Check {
	return Check{
		Name: name, Direction: direction, Unit: unit, N: n, Note: why, State: Unchecked,
		Asked: number(asked), Measured: number(measured),
	}
}

// told makes a check of which nothing is asked.
func told(name, direction, unit string, measured float64, n int, note string) Check {
	return Check{Name: name, Direction: direction, Unit: unit, N: n, Note: note, State: Told, Measured: number(measured)}
}

// number is nil for what JSON cannot say.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Failed lists the checks that fail.
func Failed(checks []Check) (failed []Check) {
	for _, c := range checks {
		if c.State == Fails {
			failed = append(failed, c)
		}
	}
	return failed
}

// Count counts the checks in a state.
func Count(checks []Check, s State) (n int) {
	for _, c := range checks {
		if c.State == s {
			n++
		}
	}
	return n
}

// directions lists both, in the order of reports.
func directions() []lab.Direction { return []lab.Direction{lab.Up, lab.Down} }
