package stats

import "github.com/samewire/samewire/internal/lab"

// Output is what `samewire run --json` prints. Its fields, and those of the
// types in it, are a contract (docs/format.md): what can't be had is null,
// never absent, and lists are never null.
type Output struct {
	Samewire string    `json:"samewire"` // version that measured
	Study    string    `json:"study"`
	Seed     uint64    `json:"seed"`
	Results  []Result  `json:"results"`
	Verdicts []Verdict `json:"verdicts"`
	// Resolutions are what the A/A arms showed: what two series of the same cell
	// differ by.
	Resolutions []Resolution `json:"resolutions"`
	// Agreements say how well the time of each site here agrees with protocol time.
	Agreements []Agreement `json:"agreements"`
	Warnings   []string    `json:"warnings"`

	// Cells is what the results were made from, in the same order.
	Cells []Cell `json:"-"`
}

// Result is the statistic of one metric of one cell. Times are in seconds.
type Result struct {
	Path     string       `json:"path"`
	Load     string       `json:"load"`
	Protocol lab.Protocol `json:"protocol"`
	Site     lab.SiteName `json:"site"`
	Server   string       `json:"server"`
	Client   string       `json:"client"`
	CC       string       `json:"cc"` // that the lab set for TCP
	TLS      string       `json:"tls"`
	InitCwnd int          `json:"initcwnd"` // that the lab set for TCP
	Pacing   string       `json:"pacing"`   // of QUIC; empty is as the program has it

	Metric   string              `json:"metric"`
	Unit     string              `json:"unit"`
	Runs     int                 `json:"runs"`
	OK       int                 `json:"ok"`
	Outcomes map[lab.Outcome]int `json:"outcomes"`

	Median *float64 `json:"median"` // null when censored or not measured
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Best   *float64 `json:"best"`  // of the runs that finished
	Worst  *float64 `json:"worst"` // of the runs that finished
	Q1     *float64 `json:"q1"`    // lower quartile, by Kaplan and Meier
	Q3     *float64 `json:"q3"`    // upper quartile
	// RestrictedMean is the mean with every run cut off at the time limit; of
	// metrics in seconds only.
	RestrictedMean *float64 `json:"restricted_mean"`
	Predicted      *float64 `json:"predicted"`
	Flags          []Flag   `json:"flags"`
}

// Verdict compares two protocols of one comparison.
type Verdict struct {
	Path     string       `json:"path"`
	Load     string       `json:"load"`
	Site     lab.SiteName `json:"site"`
	Server   string       `json:"server"`
	Client   string       `json:"client"`
	CC       string       `json:"cc"`
	TLS      string       `json:"tls"`
	InitCwnd int          `json:"initcwnd"`
	Pacing   string       `json:"pacing"`
	A        lab.Protocol `json:"a"`
	B        lab.Protocol `json:"b"`
	Metric   string       `json:"metric"`
	Ratio    *float64     `json:"ratio"` // a over b
	Low      *float64     `json:"low"`
	High     *float64     `json:"high"`
	Verdict  string       `json:"verdict"`
	Why      string       `json:"why"`

	Blocks int      `json:"blocks"` // that were compared
	P      *float64 `json:"p"`      // after Holm's correction over the study; null where nothing was tested
	Exact  bool     `json:"exact"`  // there is no chance in it: the difference is a difference
	// Needed is how many blocks a claim would take; null where there are enough.
	Needed *int `json:"needed"`
	// Smallest is the smallest ratio above 1 that would have been shown.
	Smallest *float64 `json:"smallest"`
	// Difference is the median time of a minus that of b, in s. ProtocolPart is
	// what of it protocol time has, and MachinePart the rest; null where the
	// comparison was not made in virtual time too.
	Difference   *float64 `json:"difference"`
	ProtocolPart *float64 `json:"protocol_part"`
	MachinePart  *float64 `json:"machine_part"`
	// Terms are what the difference is made of.
	Terms []Term `json:"terms"`
}

// Term is one signed part of a difference of times.
type Term struct {
	What    string  `json:"what"`    // such as "handshake" or "initial window 10 against 32"
	Seconds float64 `json:"seconds"` // a minus b
	Source  string  `json:"source"`  // "theory", or "measured": by an arm in which only this changed
}

// The sources of terms.
const (
	FromTheory      = "theory"
	FromMeasurement = "measured"
)

// Theory says what is to be expected of cells.
type Theory interface {
	// Predict returns what theory says of a cell, by metric. A metric that is not
	// in it is one of which nothing is said.
	Predict(c lab.Cell) map[string]float64
	// Explain returns the terms that make the predicted duration of a differ from
	// that of b, largest first.
	Explain(a, b lab.Cell) []Term
}

// Resolution is the A/A arm of a comparison: the ratio of two series of one cell.
type Resolution struct {
	Path     string       `json:"path"`
	Load     string       `json:"load"`
	Site     lab.SiteName `json:"site"`
	Server   string       `json:"server"`
	Client   string       `json:"client"`
	CC       string       `json:"cc"`
	TLS      string       `json:"tls"`
	InitCwnd int          `json:"initcwnd"`
	Pacing   string       `json:"pacing"`
	Protocol lab.Protocol `json:"protocol"`
	Metric   string       `json:"metric"`
	Blocks   int          `json:"blocks"`
	Ratio    *float64     `json:"ratio"`
	Low      *float64     `json:"low"`
	High     *float64     `json:"high"`
}

// Agreement compares a site's time here with protocol time over a study.
type Agreement struct {
	Site   lab.SiteName `json:"site"`
	Cells  int          `json:"cells"`  // that both have
	Within int          `json:"within"` // of them within Limit
	Limit  float64      `json:"limit"`  // relative
	Median *float64     `json:"median"` // of here over protocol time, minus 1
	Worst  *float64     `json:"worst"`  // the largest excess
	Where  string       `json:"where"`  // the cell of Worst
}

// The verdicts.
const (
	Faster        = "faster"
	Slower        = "slower"
	NoDifference  = "no-difference"
	NotComparable = "not-comparable"
	NoVerdict     = "no-verdict"
)

// Flag says what has to be known of a result before it is compared.
type Flag string

// The flags. The list is closed.
const (
	// Censored: the median is undefined, because too many runs did not finish.
	Censored Flag = "censored"
	// Connections: more or fewer were opened than asked for.
	Connections Flag = "connections"
	// UnequalCC: the senders of the comparison's protocols use different
	// congestion controls.
	UnequalCC Flag = "unequal-cc"
	// UnequalInitialWindow: they start with different windows.
	UnequalInitialWindow Flag = "unequal-initial-window"
	// ClientLimited: the client's flow-control window is below two
	// bandwidth-delay products.
	ClientLimited Flag = "client-limited"
	// ImplementationBound: the time here exceeds protocol time by more than 25 % and
	// 20 ms, and CPU time of both sides is at least half of the excess.
	ImplementationBound Flag = "implementation-bound"
	// SmallUDPBuffer: a UDP receive buffer below SmallBuffer, or one that
	// overflowed.
	SmallUDPBuffer Flag = "small-udp-buffer"
	// Late: the lab was too late in a run, which was repeated or stayed invalid.
	Late Flag = "late"
	// Waiting: a program waited for a processor for more than a quarter of
	// the duration of a run, and more than 50 ms.
	Waiting Flag = "waiting"
	// UntrustedTCP: packets overtake on the path, its MTU shrinks, or it has outages, and the
	// user-space TCP of the sites virtual and process is not to be trusted there.
	UntrustedTCP Flag = "untrusted-tcp"
	// NotInternetMTU: packets larger than InternetMTU may pass.
	NotInternetMTU Flag = "not-internet-mtu"
	// Drift is reserved: the machine changed while the study ran.
	Drift Flag = "drift"
)

// Flags lists all flags in the order in which results have them.
func Flags() []Flag {
	return []Flag{
		Censored, Connections, UnequalCC, UnequalInitialWindow, ClientLimited,
		ImplementationBound, SmallUDPBuffer, Late, Waiting, UntrustedTCP, NotInternetMTU, Drift,
	}
}

const (
	// SmallBuffer is the UDP receive buffer, in bytes as Linux reports it, below
	// which bursts of a QUIC sender are lost: twice the default of 208 KiB.
	SmallBuffer = 425984
	// InternetMTU is the largest MTU, in bytes, of which results say anything
	// about the internet: jumbo frames.
	InternetMTU = 9000
)

// Cell is all that reports need to know of one cell.
type Cell struct {
	lab.Cell
	Runs     int
	OK       int
	Outcomes map[lab.Outcome]int
	TooLate  bool    // an attempt was invalid because the lab was too late
	Repeated int     // attempts that were invalid and carried out again
	Limit    float64 // s: the longest time limit of its runs; 0 is none

	Statistics []Statistic // one a metric, in the order of lab.Metrics
	Flags      []Flag      // all but Censored, which is a statistic's
	Failures   []Failure   // the runs that did not end ok, by repetition

	Asked  int   // connections
	Opened []int // the distinct numbers of connections that were opened

	// Senders are the distinct ways in which the side that sends the bodies
	// sent: the server, or the client in an upload.
	Senders []lab.Sender
	// Window is the client's smallest flow-control window in bytes; nil when
	// not known. BDP is that of the way down, in bytes; 0 without a rate.
	Window *int64
	BDP    int64
	// UDPReceiveBuffer is the smallest of both sides; nil when not known.
	UDPReceiveBuffer *int
	UDPReceiveErrors int
	Lost             int          // packets that the link did not deliver
	Stalled          int          // runs that ended ok in spite of a stall
	Waited           float64      // s: the longest wait of a side's program for a processor
	Waits            bool         // in some run the wait was long beside its duration
	Lateness         lab.Lateness // the worst of each
}

// Failure is a run that did not end ok.
type Failure struct {
	Run     string
	Outcome lab.Outcome
	Reason  string
}

// Statistic is one metric over the runs of a cell.
type Statistic struct {
	Metric string
	Unit   string
	Median *float64 // nil when censored or not measured
	// Low and High are the 95 % interval of the median. High is nil where so many
	// runs did not finish that the interval has no upper end.
	Low, High *float64
	// Q1 and Q3 are the quartiles, by Kaplan and Meier.
	Q1, Q3         *float64
	RestrictedMean *float64 // s; of metrics in seconds
	Predicted      *float64 // what theory says; nil where it says nothing
	Best           *float64
	Worst          *float64
	Censored       bool
}

// Statistic returns the statistic of a metric; the zero Statistic for names
// that are no metric's.
func (c Cell) Statistic(metric string) Statistic {
	for _, s := range c.Statistics {
		if s.Metric == metric {
			return s
		}
	}
	return Statistic{}
}

// Has says whether the cell has a flag.
func (c Cell) Has(f Flag) bool {
	for _, have := range c.Flags {
		if have == f {
			return true
		}
	}
	return false
}
