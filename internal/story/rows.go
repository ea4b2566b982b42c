package story

import (
	"fmt"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// rowKind says what a row of the timeline is.
type rowKind int

const (
	packetRow  rowKind = iota
	foldRow            // similar packets in a row
	silenceRow         // nothing was sent, and nothing was under way
	markRow            // the load's start or end, or what the log did not keep
)

// row is one line of the timeline. Times count from the load's start.
type row struct {
	kind     rowKind
	event    int // of a packet: its index in Reading.Events
	at, till time.Duration
	title    string
	parts    []string
	link     int // its place in the chain of causes, from 1; 0: not in it
}

// text is all of the row's words.
func (r row) text() string {
	if len(r.parts) == 0 {
		return r.title
	}
	return r.title + ": " + strings.Join(r.parts, ", ")
}

// Of the parts of one packet so many are shown, folded and not.
const (
	fewParts = 6
	allParts = 40
)

// timeline is the reading of a capture on its way to rows.
type timeline struct {
	r      *wire.Reading
	start  time.Duration
	facts  *lab.Wire
	chain  map[int]int // of the packets in the chain of causes: number → place, from 1
	own    []bool      // which events have a row of their own
	parts  int         // most of one packet
	rows   []row
	silent []silence
	flight *flight
	told   map[*lab.Stall]bool
	rtt    time.Duration // the shortest that the packets show
}

// tell makes the timeline's rows.
func tell(s Story, p Packets) *timeline {
	t := &timeline{r: s.Reading, start: s.Reading.Capture.Start, facts: s.Facts, chain: map[int]int{}, parts: fewParts, told: map[*lab.Stall]bool{}}
	if t.facts != nil {
		for i, c := range t.facts.Causes {
			t.chain[c.Packet] = i + 1
		}
	}
	t.rtt = roundTrip(t.r)
	t.silent = silences(t.r, t.rtt)
	t.flight = newFlight(t.r)
	t.own = make([]bool, len(t.r.Events))
	if p == All {
		t.parts = allParts
		for i := range t.own {
			t.own[i] = true
		}
	} else {
		t.choose()
	}
	t.lay()
	return t
}

// lay puts packets, folds, silences and marks in their order.
func (t *timeline) lay() {
	silent, from := t.silent, 0
	started, ended := t.first(t.start), -1
	if t.r.Capture.End > 0 {
		ended = t.first(t.r.Capture.End)
	}
	for i := range t.r.Events {
		before := t.before(i, started, ended, &silent)
		if len(before) > 0 || t.own[i] {
			t.fold(from, i)
			from = i
		}
		t.rows = append(t.rows, before...)
		if t.own[i] {
			t.rows = append(t.rows, t.packet(i))
			from = i + 1
		}
	}
	t.fold(from, len(t.r.Events))
	t.rows = append(t.rows, t.before(len(t.r.Events), started, ended, &silent)...)
}

// first is the index of the first event at or after a time of the run.
func (t *timeline) first(at time.Duration) int {
	for i := range t.r.Events {
		if t.r.Events[i].At >= at {
			return i
		}
	}
	return len(t.r.Events)
}

// before has the rows that stand before event i.
func (t *timeline) before(i, started, ended int, silent *[]silence) (rows []row) {
	c := t.r.Capture
	for len(*silent) > 0 && (*silent)[0].before == i {
		rows = append(rows, t.silence((*silent)[0]))
		*silent = (*silent)[1:]
	}
	mark := func(at time.Duration, text string) {
		rows = append(rows, row{kind: markRow, at: at - t.start, till: at - t.start, title: text})
	}
	if c.Skipped > 0 && c.Gap == i {
		at := c.Start
		if i > 0 {
			at = c.Packets[i-1].At
		}
		mark(at, plural(c.Skipped, "packet was seen here and not kept", "packets were seen here and not kept"))
	}
	if i == started && i > 0 {
		mark(c.Start, "the load starts")
	}
	if i == ended {
		mark(c.End, "the load ends")
	}
	return rows
}

// packet is the row of one packet.
func (t *timeline) packet(i int) row {
	e := &t.r.Events[i]
	r := row{kind: packetRow, event: i, at: e.At - t.start, till: e.At - t.start, link: t.chain[e.N]}
	if e.Delivered() {
		r.till = e.Left - t.start
	}
	r.title, r.parts = what(e, t.parts)
	if len(t.r.Connections) > 1 && e.Conn >= 0 {
		r.title = label(e.Conn) + " " + r.title
	}
	if r.link > 0 {
		r.parts = append(r.parts, fmt.Sprintf("cause %d of %d", r.link, len(t.facts.Causes)))
	}
	return r
}
