package lab

import "time"

// Study is a question: the factors to cross, how often, and within which limits.
type Study struct {
	Name      string
	Question  string
	Paths     []Path
	Loads     []Load
	Protocols []Protocol
	Sites     []SiteName
	Stacks    []Stack
	Reps      int
	Auto      *Auto         // nil: Reps repetitions of each comparison
	Timeout   time.Duration // limit of one run, in the run's own time
	Seed      uint64
	// Equalise has each stack measured a second time, with TCP matching the QUIC
	// side: Reno, and quic-go's initial window.
	Equalise bool
	// FixedWindow are sites on which TCP's initial window cannot be set here.
	// Equalise changes nothing there.
	FixedWindow []SiteName
	// Lateness is the 99th percentile of a packet's lateness beyond which a
	// run in real time is invalid; so is one with any packet ten times later.
	Lateness time.Duration
}

// Defaults of a study that does not say.
const (
	DefaultReps     = 5
	DefaultTimeout  = 2 * time.Minute
	DefaultSeed     = 1
	DefaultLateness = 5 * time.Millisecond
)

// Cell is one point of a study.
type Cell struct {
	Path     Path     `json:"path"`
	Load     Load     `json:"load"`
	Stack    Stack    `json:"stack"`
	Site     SiteName `json:"site"`
	Protocol Protocol `json:"protocol"`
	// Arm tells a cell that is measured again from itself: empty, or ArmAA.
	Arm string `json:"arm"`
}

// ArmAA is the arm of a comparison's first protocol that is measured twice, with
// fates of its own: what differs between the two is noise, and no claim may be
// smaller than it.
const ArmAA = "aa"

// Auto is the rule by which repetitions end: for each comparison by itself, once
// Min blocks are there and the interval of every pair of protocols is narrower
// than Width; at Max blocks, or when Budget is spent, whatever was reached. It is
// fixed before the first run.
type Auto struct {
	Width  float64       `json:"width"`     // of the 95 % interval of a ratio: high/low − 1
	Min    int           `json:"min"`       // blocks
	Max    int           `json:"max"`       // blocks
	Budget time.Duration `json:"budget_ns"` // real time for all runs of a site; 0 is no limit
}

// Run is one execution of a cell.
type Run struct {
	ID       string        `json:"id"` // stable: made from cell and repetition
	Cell     Cell          `json:"cell"`
	Rep      int           `json:"rep"`   // repetition, from 1; also the block's number
	Order    int           `json:"order"` // place in the study's order, from 1
	Seed     uint64        `json:"seed"`  // of the link's fates; the same for every protocol and site of a block
	Timeout  time.Duration `json:"timeout_ns"`
	Lateness time.Duration `json:"lateness_ns"`
	// Repeats is the repetition that this one repeats, since the machine had
	// changed while that was carried out; 0: none.
	Repeats int `json:"repeats"`
	// Authority is the seed of the study's certificate authority.
	Authority uint64 `json:"authority"`
}

// Plan is a study resolved into runs, in the order in which they are to be
// carried out.
type Plan struct {
	Format   int    `json:"format"`
	Samewire string `json:"samewire"`
	Study    string `json:"study"`
	Question string `json:"question"`
	Seed     uint64 `json:"seed"`
	Reps     int    `json:"reps"`
	// Auto is the rule by which repetitions end before Reps; null: all are
	// carried out.
	Auto *Auto `json:"auto"`
	// Backend is what moves the packets on the site kernel: "tun" (samewire's own
	// link) or "netem" (the kernel's). Empty where the plan has no runs there, and
	// in plans of before it was told: those had "tun".
	Backend string `json:"backend"`
	// LeftOut are the sites that the study asks for and that could not be had
	// on the machine.
	LeftOut []LeftOut `json:"left_out"`
	Runs    []Run     `json:"runs"`
}

// LeftOut is a site that a study had to do without.
type LeftOut struct {
	Site SiteName `json:"site"`
	Why  string   `json:"why"` // what is missing and how to get it, in one sentence
}
