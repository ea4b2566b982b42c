package story

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// The measures of the diagram, in pixels. Labels stand outside the lifelines, on
// the side of the packet's sender.
const (
	svgWidth   = 1300
	clientX    = 450
	serverX    = 850
	lineHeight = 13
	labelWidth = 56 // columns of text
	boxWidth   = 58
	maxRows    = 2000
)

// palette has a colour for each connection.
var palette = []string{"#1f5fa8", "#2c7a3f", "#8a4fa3", "#b5651d", "#0f7f8a", "#7a5c00"}

const (
	lostColor = "#c22020"
	grey      = "#666666"
)

// SVG writes the story as a sequence diagram: the lifelines of both hosts, and an
// arrow for each packet from when it was sent to when it arrived. Time runs
// downwards, not to scale: it is stretched where labels need the room, and
// shortened where nothing happens.
func SVG(w io.Writer, s Story, o Options) error {
	if s.Reading == nil {
		return fmt.Errorf("draw a sequence diagram: no capture was kept of the run")
	}
	t := tell(s, o.Packets)
	rows, more := t.rows, 0
	if len(rows) > maxRows {
		rows, more = rows[:maxRows], len(rows)-maxRows
	}
	d := drawing{t: t, places: place(t, rows)}
	top := d.head(s)
	d.body(rows, top)
	if more > 0 {
		d.text(svgWidth/2, d.bottom+18, "middle", grey, fmt.Sprintf("… and %s rows more, which are not drawn", exact(int64(more))))
		d.bottom += 24
	}
	if _, err := io.WriteString(w, d.document(s)); err != nil {
		return fmt.Errorf("write sequence diagram: %w", err)
	}
	return nil
}

// drawing is a diagram that is being drawn.
type drawing struct {
	strings.Builder
	t      *timeline
	places []spot
	bottom float64
}

// document wraps what was drawn.
func (d *drawing) document(s Story) string {
	height := d.bottom + 30
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %d %.0f" font-family="Helvetica, Arial, sans-serif" font-size="11">
<title>%s</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, svgWidth, height, svgWidth, height, escapeXML(svgTitle(s)), d.String())
}

func svgTitle(s Story) string {
	if s.Record == nil {
		return "Capture: " + orElse(clean(s.Reading.Capture.Name), "without a name")
	}
	c := s.Record.Run.Cell
	return fmt.Sprintf("%s, %s, on %s (%s), run %s", c.Protocol, clean(c.Load.Name), clean(c.Path.Name), c.Site, clean(s.Record.Run.ID))
}

// head draws the title and the hosts, and returns where the lifelines begin.
func (d *drawing) head(s Story) (top float64) {
	fmt.Fprintf(d, `<text x="20" y="26" font-size="16" font-weight="bold">%s</text>`+"\n", escapeXML(svgTitle(s)))
	y := 46.0
	var lines []string
	if s.Record != nil {
		lines = append(lines, "Outcome: "+outcome(s.Record)+".")
	}
	if s.Facts != nil && s.Facts.RoundTrips != nil {
		lines = append(lines, trips(*s.Facts.RoundTrips)+" to the first byte of the first response; thick arrows are its chain of causes.")
	}
	for _, text := range append(lines, s.blind()...) {
		for _, l := range wrap(text, 190) {
			d.text(20, y, "start", "#333333", l)
			y += lineHeight + 2
		}
	}
	d.text(20, y, "start", grey, "Times in ms since the load's start, at the packet's sender. Time is not to scale.")
	y += 26
	for _, h := range []struct {
		x    int
		name string
	}{{clientX, "client"}, {serverX, "server"}} {
		fmt.Fprintf(d, `<text x="%d" y="%.1f" text-anchor="middle" font-size="13" font-weight="bold">%s</text>`+"\n", h.x, y, h.name)
	}
	return y + 8
}

// body draws the lifelines and the rows below top.
func (d *drawing) body(rows []row, top float64) {
	d.bottom = top + 20
	for i := range d.places {
		d.places[i].move(top + 16)
		d.bottom = max(d.bottom, d.places[i].end+10)
	}
	for _, x := range []int{clientX, serverX} {
		fmt.Fprintf(d, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#999999"/>`+"\n", x, top, x, d.bottom)
	}
	for i, r := range rows {
		if r.kind == packetRow {
			d.packet(r, d.places[i])
		}
	}
	for i, r := range rows {
		if r.kind != packetRow {
			d.block(r, d.places[i])
		}
	}
}

// packet draws an arrow and its label.
func (d *drawing) packet(r row, at spot) {
	e := &d.t.r.Events[r.event]
	from, to, side, anchor := float64(clientX), float64(serverX), clientX-8.0, "end"
	if e.Way == lab.Down {
		from, to, side, anchor = to, from, serverX+8, "start"
	}
	color := grey
	if e.Conn >= 0 {
		color = palette[e.Conn%len(palette)]
	}
	if e.Fate.Drop != lab.NotDropped {
		color = lostColor
	}
	if !e.Delivered() {
		to = from + (to-from)*0.55
	}
	stroke := 1.1
	if r.link > 0 {
		stroke = 2.4
	}
	fmt.Fprintf(d, "<g><title>%s</title>", escapeXML(tooltip(e, r)))
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%.1f"/>`, from, at.start, to, at.end, color, stroke)
	if e.Delivered() {
		d.tip(from, at.start, to, at.end, color)
	} else {
		d.cross(e, to, at.end, color)
	}
	for i, l := range at.lines {
		if i == 0 {
			l = besideTime(l, millis(r.at), e.Way)
		}
		d.text(side, at.start+4+float64(i*lineHeight), anchor, color, l)
	}
	d.WriteString("</g>\n")
}

// besideTime puts the time next to the lifeline.
func besideTime(label, time string, way lab.Direction) string {
	if way == lab.Up {
		return label + "   " + time
	}
	return time + "   " + label
}

func tooltip(e *wire.Event, r row) string {
	text := fmt.Sprintf("packet %d, %s B, sent at %s ms", e.N, exact(int64(e.Size)), millis(r.at))
	if e.Delivered() {
		text += ", received at " + millis(r.till) + " ms"
	} else {
		text += ", not delivered: " + lost(e)
	}
	return text + "; " + r.text()
}

// block draws a fold, a silence or a mark across the lifelines.
func (d *drawing) block(r row, at spot) {
	switch r.kind {
	case markRow:
		fmt.Fprintf(d, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="%s" stroke-dasharray="2 3"/>`+"\n",
			clientX, at.start, serverX+40, at.start, grey)
		d.text(serverX+46, at.start+4, "start", grey, millis(r.at)+"   "+at.lines[0])
		return
	case silenceRow:
		d.rect(at, "#fff6e0", "#c08a00", ` stroke-dasharray="5 4"`)
	default:
		d.rect(at, "#f1f3f5", "#b5bcc4", "")
	}
	d.text(clientX-8, (at.start+at.end)/2+4, "end", grey, millis(r.at)+" – "+millis(r.till))
	y := (at.start+at.end)/2 - float64(len(at.lines)-1)*lineHeight/2 + 4
	for i, l := range at.lines {
		d.text((clientX+serverX)/2, y+float64(i*lineHeight), "middle", "#333333", l)
	}
}

func (d *drawing) rect(at spot, fill, stroke, more string) {
	fmt.Fprintf(d, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="%s" fill-opacity="0.8" stroke="%s"%s/>`+"\n",
		clientX, at.start, serverX-clientX, at.end-at.start, fill, stroke, more)
}

func (d *drawing) text(x, y float64, anchor, color, s string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s" xml:space="preserve">%s</text>`+"\n", x, y, anchor, color, escapeXML(s))
}

// escapeXML escapes text for XML; what XML cannot hold becomes U+FFFD.
func escapeXML(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
