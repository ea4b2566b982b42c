//go:build !faketime

package inproc

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// VirtualTime says whether this program was built to run in virtual time.
const VirtualTime = false

// margin is by how much the instant of a load's end may be wrong.
const margin = 30 * time.Millisecond

// built is the site that this program was built for.
const built = lab.Process
