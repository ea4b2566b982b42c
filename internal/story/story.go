package story

import (
	"fmt"
	"io"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// Story is what is known of a run.
type Story struct {
	// Record is what the run left behind; nil for a capture alone.
	Record *lab.Record
	// Facts are the wire's: the record's, or what a capture alone shows. Nil: none.
	Facts *lab.Wire
	// Reading is of the capture that was kept; nil: none was.
	Reading *wire.Reading
	// Path is the path in the notation of studies; empty: not known.
	Path string
	// Notes are sentences of the caller, such as why there is no capture.
	Notes []string
}

// Packets says how much of the timeline is shown.
type Packets string

// The ways to show packets. The empty Packets is Folded.
const (
	Folded Packets = "folded" // similar packets in a row are one line
	All    Packets = "all"
	None   Packets = "none"
)

// Options of Text and SVG. The zero value is 100 columns without colours,
// folded.
type Options struct {
	Width   int  // columns; 0 is DefaultWidth, and none is below 60
	Color   bool // ANSI colours
	Packets Packets
}

// DefaultWidth is the number of columns when the options name none.
const DefaultWidth = 100

const leastWidth = 60

func (o Options) width() int {
	if o.Width <= 0 {
		return DefaultWidth
	}
	return max(o.Width, leastWidth)
}

// Text writes the story for a person: who ran where and how it ended, the
// timeline of packets, the facts, and an autopsy of every stall.
func Text(w io.Writer, s Story, o Options) error {
	p := &page{width: o.width(), painter: painter{o.Color}}
	s.head(p)
	if s.Reading != nil && o.Packets != None {
		tell(s, o.Packets).write(p)
	}
	if s.Facts != nil {
		waysTable(p, s.Facts)
		conversations(p, s.Facts)
		stalls(p, s)
	}
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write story: %w", err)
	}
	return nil
}

// page is text that keeps to a width.
type page struct {
	strings.Builder
	width   int
	painter painter
}

// section begins a part of the story.
func (p *page) section(title string) {
	if p.Len() > 0 {
		p.WriteString("\n")
	}
	p.line(p.painter.bold(title))
}

func (p *page) line(s string) {
	p.WriteString(strings.TrimRight(s, " "))
	p.WriteString("\n")
}

// para writes text behind a head; what does not fit goes on below its start.
func (p *page) para(head, text string) { p.painted(head, text, func(s string) string { return s }) }

func (p *page) painted(head, text string, paint func(string) string) {
	indent := strings.Repeat(" ", width(head))
	for i, l := range wrap(text, p.width-width(head)) {
		if i > 0 {
			head = indent
		}
		p.line(head + paint(l))
	}
}
