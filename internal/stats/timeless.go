package stats

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// timeless says that nothing on the way takes time: virtual time, and a path with
// neither delay nor a limit of rate. What passes there is what programs wait for by
// themselves, such as the timer of a pacer, and computing takes none: that is no
// protocol's time.
func timeless(c lab.Cell) bool {
	still := func(w lab.Way) bool { return w.Delay == 0 && w.Jitter == (lab.Jitter{}) && !w.Limited() }
	return c.Site == lab.Virtual && still(c.Path.Up) && still(c.Path.Down)
}

// noRatio says why the times of a cell have no ratio to others; empty where they
// have.
func noRatio(c *Cell) string {
	if timeless(c.Cell) {
		return "no delay and no rate: virtual time shows only what waits for timers"
	}
	if best := c.Statistic(lab.Duration).Best; best != nil && *best < shortest {
		return fmt.Sprintf("%s took no time that could be measured, to which there is no ratio", c.Protocol)
	}
	return ""
}
