package lab

import "testing"

func TestKeepWants(t *testing.T) {
	seen := WireWay{Packets: 1}
	fine := Record{Outcome: OK, Wire: Wire{Up: seen}}
	stalled := fine
	stalled.Wire.Stalls = []Stall{{}}
	failed := Record{Outcome: Timeout, Wire: Wire{Down: seen}}
	late := Record{Outcome: Invalid, Wire: Wire{Down: seen}}
	broken := Record{Outcome: Invalid}
	for rule, want := range map[KeepRule][5]bool{
		KeepAll:    {true, true, true, true, false},
		KeepFailed: {false, true, true, true, false},
		KeepNone:   {},
		"":         {},
	} {
		for i, r := range []Record{fine, stalled, failed, late, broken} {
			if got := (Keep{Rule: rule, Dir: "x"}).Wants(r); got != want[i] {
				t.Errorf("%q, record %d: %v", rule, i, got)
			}
			if (Keep{Rule: rule}).Wants(r) {
				t.Errorf("%q, record %d: kept nowhere", rule, i)
			}
		}
	}
}
