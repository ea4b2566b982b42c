package story

import (
	"fmt"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// ladder is how wide the columns of the timeline are: a time for each host, and
// the arrow between them.
type ladder struct {
	time, arrow, size int
	start             int // column at which the words start
}

func newLadder(rows []row, columns int) ladder {
	l := ladder{time: len("client"), arrow: 9, size: len("bytes")}
	for _, r := range rows {
		l.time = max(l.time, len("under way"), len(millis(r.at)), len(millis(r.till)))
	}
	if columns < 90 {
		l.arrow = 5
	}
	l.start = 2 + l.time + 1 + l.arrow + 1 + l.time + 2 + l.size + 2
	return l
}

// write writes the timeline: a line for each row, the client's time on the left
// and the server's on the right, as in a diagram of two lifelines.
func (t *timeline) write(p *page) {
	p.section("Timeline: ms since the load's start, at each host")
	if len(t.rows) == 0 {
		p.line("  no packets")
		return
	}
	l := newLadder(t.rows, p.width)
	p.line(p.painter.faint(fmt.Sprintf("  %s %s %s  %s", padLeft("client", l.time), strings.Repeat(" ", l.arrow),
		padLeft("server", l.time), padLeft("bytes", l.size))))
	for _, r := range t.rows {
		t.writeRow(p, l, r)
	}
}

func (t *timeline) writeRow(p *page, l ladder, r row) {
	paint := func(s string) string { return s }
	left, middle, right, bytes := "", "", "", ""
	switch r.kind {
	case packetRow:
		e := &t.r.Events[r.event]
		left, middle, right = rung(e, l, r)
		bytes = exact(int64(e.Size))
		switch {
		case e.Fate.Drop != lab.NotDropped:
			paint = p.painter.bad
		case !e.Delivered():
			paint = p.painter.faint
		case r.link > 0:
			paint = p.painter.bold
		}
	case foldRow:
		left, middle, right = millis(r.at), strings.Repeat("·", l.arrow), millis(r.till)
		paint = p.painter.faint
	case silenceRow:
		left, middle, right = millis(r.at), strings.Repeat("┄", l.arrow), millis(r.till)
		paint = p.painter.warn
	case markRow:
		left, middle = millis(r.at), strings.Repeat("─", l.arrow)
		paint = p.painter.faint
	}
	head := fmt.Sprintf("  %s %s %s  %s  ", padLeft(left, l.time), padLeft(middle, l.arrow), padLeft(right, l.time), padLeft(bytes, l.size))
	for i, s := range wrap(r.text(), p.width-l.start) {
		if i > 0 {
			head = strings.Repeat(" ", l.start)
		}
		p.line(paint(head + s))
	}
}

// rung draws one packet between the hosts' times. What did not arrive has the
// reason in place of the time.
func rung(e *wire.Event, l ladder, r row) (left, middle, right string) {
	dashes := strings.Repeat("─", l.arrow-1)
	sent, arrived, tip := millis(r.at), millis(r.till), true
	if !e.Delivered() {
		arrived, tip = lost(e), false
	}
	switch {
	case e.Way == lab.Up && tip:
		return sent, dashes + "▶", arrived
	case e.Way == lab.Up:
		return sent, dashes[:len("─")*(l.arrow-3)] + end(e) + "  ", arrived
	case tip:
		return arrived, "◀" + dashes, sent
	}
	return arrived, "  " + end(e) + dashes[:len("─")*(l.arrow-3)], sent
}

// end is how the arrow of a packet ends that did not arrive.
func end(e *wire.Event) string {
	if e.Fate.Drop == lab.NotDropped {
		return "┄"
	}
	return "✕"
}

// lost says why a packet did not arrive.
func lost(e *wire.Event) string {
	if e.Fate.Drop == lab.NotDropped {
		return "under way" // at the end of the run
	}
	return clean(string(e.Fate.Drop))
}
