package stats

import "github.com/samewire/samewire/internal/lab"

// Changes is what a comparison of two folders found: what `samewire compare
// --format json` prints. Its fields are a contract (docs/compare.md): what can't be
// had is null, never absent, and lists are never null.
type Changes struct {
	Old Origin `json:"old"`
	New Origin `json:"new"`
	// Strict: thresholds look at the estimates, whatever chance could have done.
	Strict bool `json:"strict"`
	// Crossed says that some cell crossed some threshold.
	Crossed    bool             `json:"crossed"`
	Thresholds []ThresholdCount `json:"thresholds"`
	Cells      []Change         `json:"cells"` // that both folders have
	OnlyOld    []CellName       `json:"only_old"`
	OnlyNew    []CellName       `json:"only_new"`
	// Unmeasured are cells that OLD has and NEW planned, but has no observation of.
	Unmeasured []CellName `json:"unmeasured"`
	Warnings   []string   `json:"warnings"`
}

// Origin is where one side of a comparison comes from.
type Origin struct {
	Name     string `json:"name"` // as the caller calls the folder
	Samewire string `json:"samewire"`
	Revision string `json:"revision"` // of samewire's source; empty when not known
	Study    string `json:"study"`
	Seed     uint64 `json:"seed"`
	Cells    int    `json:"cells"`
	Runs     int    `json:"runs"`
}

// CellName is what a result says of its cell.
type CellName struct {
	Path     string       `json:"path"`
	Load     string       `json:"load"`
	Protocol lab.Protocol `json:"protocol"`
	Site     lab.SiteName `json:"site"`
	Server   string       `json:"server"`
	Client   string       `json:"client"`
	CC       string       `json:"cc"`
	TLS      string       `json:"tls"`
	InitCwnd int          `json:"initcwnd"`
	Pacing   string       `json:"pacing"`
}

// String names the cell in words; what is as usual is left out.
func (n CellName) String() string {
	return name(lab.Cell{
		Path: lab.Path{Name: n.Path}, Load: lab.Load{Name: n.Load}, Protocol: n.Protocol, Site: n.Site,
		Stack: lab.Stack{Server: n.Server, Client: n.Client, CC: n.CC, TLS: n.TLS, InitCwnd: n.InitCwnd, Pacing: n.Pacing},
	})
}

// Change is what became of one cell.
type Change struct {
	CellName
	Change      string              `json:"change"` // of the cell as a whole: the worst of what is claimed
	Why         string              `json:"why"`    // it is not comparable; empty where it is
	Exact       bool                `json:"exact"`  // there is no chance in it: a difference is a difference
	OldRuns     int                 `json:"old_runs"`
	OldOK       int                 `json:"old_ok"`
	OldOutcomes map[lab.Outcome]int `json:"old_outcomes"`
	NewRuns     int                 `json:"new_runs"`
	NewOK       int                 `json:"new_ok"`
	NewOutcomes map[lab.Outcome]int `json:"new_outcomes"`
	// Differs says in what the cell, or what was used in it, is not the same in
	// both folders.
	Differs   []string       `json:"differs"`
	Metrics   []MetricChange `json:"metrics"`
	Crossings []Crossing     `json:"crossings"`
}

// MetricChange is what became of one metric of a cell. Of Success the values are
// the shares of runs that ended ok.
type MetricChange struct {
	Metric   string   `json:"metric"`
	Unit     string   `json:"unit"`
	Old      *float64 `json:"old"` // median; null when censored or not measured
	New      *float64 `json:"new"`
	OldWorst *float64 `json:"old_worst"` // of the runs that finished
	NewWorst *float64 `json:"new_worst"`
	// Ratio is new over old: the estimate, and its interval of at least 95 %.
	Ratio *float64 `json:"ratio"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	// P is after Holm's correction over the comparison; null where nothing was
	// tested.
	P *float64 `json:"p"`
	// Resolution is the smallest ratio above 1 that can be told from noise at all:
	// what two series of one cell, in one folder, differ by; null when not known.
	Resolution *float64 `json:"resolution"`
	// Needed is how many runs on either side a claim would take; null where there
	// are enough.
	Needed *int   `json:"needed"`
	Change string `json:"change"`
	Why    string `json:"why"`
}

// What became of a metric. Of goodput more is better, of all others less is.
// NoDifference, NotComparable and NoVerdict are as in verdicts.
const (
	Better = "better"
	Worse  = "worse"
	// Untested: there is an estimate with its interval, but no claim, since nobody
	// asked about this metric: every test more weakens all.
	Untested = "untested"
)

// Crossing is a threshold that a cell crossed, or may have crossed.
type Crossing struct {
	Threshold string `json:"threshold"`
	Metric    string `json:"metric"` // empty for failures
	State     string `json:"state"`
	Why       string `json:"why"`
}

// The states of crossings.
const (
	Crossed    = "crossed"
	MayHave    = "may-have-crossed" // beyond it, but chance could have done that
	NotCrossed = "not-crossed"
)

// ThresholdCount is how many cells a threshold was looked at in, and what came
// of it.
type ThresholdCount struct {
	Threshold string `json:"threshold"`
	Looked    int    `json:"looked"`
	Crossed   int    `json:"crossed"`
	MayHave   int    `json:"may_have_crossed"`
}

func nameOf(c lab.Cell) CellName {
	return CellName{
		Path: c.Path.Name, Load: c.Load.Name, Protocol: c.Protocol, Site: c.Site,
		Server: c.Stack.Server, Client: c.Stack.Client, CC: c.Stack.CC,
		TLS: c.Stack.TLS, InitCwnd: c.Stack.InitCwnd, Pacing: c.Stack.Pacing,
	}
}
