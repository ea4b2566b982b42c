package lab

// Order is a run to be carried out.
type Order struct {
	Run     Run  `json:"run"`
	Attempt int  `json:"attempt"` // from 1
	Keep    Keep `json:"keep"`
}

// Keep says of which runs the packets are kept, and where. The zero value is of
// none.
type Keep struct {
	Rule KeepRule `json:"rule"`
	Dir  string   `json:"dir"` // the record folder
}

// KeepRule says of which runs the packets are kept.
type KeepRule string

// The rules.
const (
	KeepAll    KeepRule = "all"
	KeepFailed KeepRule = "failed" // not ok, or with a stall
	KeepNone   KeepRule = "none"
)

// KeepRules lists all rules.
func KeepRules() []KeepRule { return []KeepRule{KeepAll, KeepFailed, KeepNone} }

// Wants says whether the packets of a run with this record are kept. Where none
// was seen there is nothing to keep.
func (k Keep) Wants(r Record) bool {
	if k.Dir == "" || r.Wire.Up.Packets+r.Wire.Down.Packets == 0 {
		return false
	}
	switch k.Rule {
	case KeepAll:
		return true
	case KeepFailed:
		return r.Outcome != OK || len(r.Wire.Stalls) > 0
	default:
		return false
	}
}

// Kept is what of a run is kept besides its record: files in the record folder,
// named from there.
type Kept struct {
	Capture string   `json:"capture"` // empty: it could not be kept
	QLogs   []string `json:"qlogs"`
	Error   string   `json:"error"` // why something could not be kept; empty: all was
}
