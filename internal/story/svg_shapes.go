package story

import (
	"fmt"
	"math"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// tip draws the arrow's head at its end.
func (d *drawing) tip(x1, y1, x2, y2 float64, color string) {
	const length, half = 9, 3.2
	l := math.Hypot(x2-x1, y2-y1)
	ux, uy := (x2-x1)/l, (y2-y1)/l
	bx, by := x2-ux*length, y2-uy*length
	fmt.Fprintf(d, `<path d="M%.1f %.1f L%.1f %.1f L%.1f %.1f Z" fill="%s"/>`, x2, y2, bx-uy*half, by+ux*half, bx+uy*half, by-ux*half, color)
}

// cross ends the arrow of a packet that did not arrive, and says why. A packet
// that was still under way when the run ended has none.
func (d *drawing) cross(e *wire.Event, x, y float64, color string) {
	if e.Fate.Drop != lab.NotDropped {
		const r = 4.5
		fmt.Fprintf(d, `<path d="M%.1f %.1f L%.1f %.1f M%.1f %.1f L%.1f %.1f" stroke="%s" stroke-width="1.8"/>`,
			x-r, y-r, x+r, y+r, x-r, y+r, x+r, y-r, color)
	}
	if e.Way == lab.Up {
		d.text(x+9, y+4, "start", color, lost(e))
		return
	}
	d.text(x-9, y+4, "end", color, lost(e))
}
