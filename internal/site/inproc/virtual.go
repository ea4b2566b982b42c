//go:build faketime

package inproc

import "github.com/samewire/samewire/internal/lab"

// VirtualTime says whether this program was built to run in virtual time.
const VirtualTime = true

// margin is by how much the instant of a load's end may be wrong: not at all.
const margin = 0

// built is the site that this program was built for.
const built = lab.Virtual
