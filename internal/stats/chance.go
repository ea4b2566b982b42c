package stats

import "github.com/samewire/samewire/internal/lab"

// Exact says that a cell has no chance in it: virtual time, and a path whose link
// draws no random number. What differs there is a difference.
func Exact(c lab.Cell) bool { return c.Site == lab.Virtual && !c.Path.Random() }
