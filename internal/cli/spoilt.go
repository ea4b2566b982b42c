package cli

import "github.com/samewire/samewire/internal/lab"

// spoiltBlocks are the blocks of a plan that the machine spoilt: none, until the
// rules' Drifted is there.
func spoiltBlocks(lab.Plan, []lab.Record) []spoilt { return nil }
