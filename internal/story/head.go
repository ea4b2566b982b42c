package story

import (
	"fmt"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// head says who ran where, how it ended, and how many round trips it took.
func (s Story) head(p *page) {
	if s.Record != nil {
		s.recordHead(p)
	} else if s.Reading != nil {
		c := s.Reading.Capture
		p.line(p.painter.bold("A capture alone: " + orElse(clean(c.Name), "without a name")))
		p.para("  kept     ", plural(len(c.Packets), "packet", "packets")+" of "+
			plural(len(s.Reading.Connections), "connection", "connections"))
	}
	if s.Facts != nil {
		s.roundTrips(p)
	}
	for _, n := range append(s.blind(), sentences(s.Notes)...) {
		p.para("  note     ", n)
	}
}

func (s Story) recordHead(p *page) {
	r := s.Record
	c := r.Run.Cell
	p.line(p.painter.bold(fmt.Sprintf("%s, %s, on %s (%s)", series(c), clean(c.Load.Name), clean(c.Path.Name), c.Site)))
	attempt := ""
	if r.Attempt > 1 {
		attempt = fmt.Sprintf(", attempt %d", r.Attempt)
	}
	repeats := ""
	if r.Run.Repeats > 0 {
		repeats = fmt.Sprintf(" (%d carried out again)", r.Run.Repeats)
	}
	p.para("  run      ", fmt.Sprintf("%s, number %d of its study, repetition %d%s%s, seed %d",
		clean(r.Run.ID), r.Run.Order, r.Run.Rep, repeats, attempt, r.Run.Seed))
	p.para("  load     ", load(c.Load))
	if s.Path != "" {
		p.para("  path     ", sentence(s.Path))
	}
	p.para("  client   ", side(r.Client, c.Stack.Client))
	p.para("  server   ", side(r.Server, c.Stack.Server))
	p.para("  outcome  ", outcome(r))
	if r.Kept != nil {
		if kept := strings.Join(append(cleanAll(r.Kept.QLogs), clean(r.Kept.Capture)), " "); strings.TrimSpace(kept) != "" {
			p.para("  kept     ", kept)
		}
	}
}

func side(s lab.Side, adapter string) string {
	text := orElse(clean(s.Program), clean(adapter))
	for _, sender := range s.Senders {
		return fmt.Sprintf("%s; sends by %s with %s, initial window %s (%s)", text, clean(sender.Transport),
			orElse(clean(sender.CC), "an unknown congestion control"), plural(sender.InitialWindow, "packet", "packets"), clean(sender.Source))
	}
	return text
}

func outcome(r *lab.Record) string {
	text := string(r.Outcome)
	if d := r.Value(lab.Duration); d != nil {
		text += " after " + seconds(*d)
	}
	if t := r.Value(lab.TTFB); t != nil {
		text += "; first byte of the first response after " + seconds(*t)
	}
	if r.Reason != "" {
		text += "; " + sentence(r.Reason)
	}
	return text
}

// load says in a few words what the load is.
func load(l lab.Load) string {
	what := "1 object of " + lab.FormatSize(l.Size)
	if l.Objects != 1 {
		what = fmt.Sprintf("%d objects of %s", l.Objects, lab.FormatSize(l.Size))
	}
	if l.Upload {
		what += ", sent to the server"
	}
	switch {
	case l.Idle > 0:
		return what + ", warm connections after a rest of " + lab.FormatDuration(l.Idle)
	case l.Warm:
		return what + ", warm connections"
	}
	return what + ", new connections"
}

// roundTrips says how many there were, and writes the chain of causes in words.
func (s Story) roundTrips(p *page) {
	f := s.Facts
	if f.RoundTrips == nil {
		p.para("  trips    ", "the round trips to the first byte cannot be read off the packets")
		return
	}
	text := trips(*f.RoundTrips) + " to the first byte of the first response"
	if f.HandshakeRoundTrips != nil {
		text += ", " + number(*f.HandshakeRoundTrips) + " of them to the end of the handshake"
	}
	if len(f.Causes) > 0 {
		text += ". Each packet was released by the one before it:"
	}
	p.para("  trips    ", text)
	for i, c := range f.Causes {
		after := ""
		if i > 0 {
			after = fmt.Sprintf("; %s after the first", seconds(c.At-f.Causes[0].At))
		}
		why := ""
		if c.Why != "" {
			why = " – " + sentence(c.Why)
		}
		p.para(fmt.Sprintf("  %9s", fmt.Sprintf("%d. ", i+1))+padRight(sender(c.Direction), 8),
			fmt.Sprintf("%s%s (packet %d%s)", strings.TrimPrefix(clean(c.What), sender(c.Direction)+"'s "), why, c.Packet, after))
	}
}

func trips(n float64) string {
	if n == 1 {
		return "1 round trip"
	}
	return number(n) + " round trips"
}

// blind says what of the capture could not be read, and why.
func (s Story) blind() (notes []string) {
	r := s.Reading
	if r == nil {
		return nil
	}
	if s.Facts != nil && s.Facts.NotKept > 0 {
		notes = append(notes, plural(s.Facts.NotKept, "packet was", "packets were")+
			" seen, but not kept whole enough to be read (the log has a limit): facts that need their content leave them out.")
	}
	if r.Capture.Skipped > 0 {
		notes = append(notes, plural(r.Capture.Skipped, "packet was", "packets were")+" seen and not kept at all.")
	}
	var closed []string
	for i, c := range r.Connections {
		if !c.Decrypted {
			closed = append(closed, label(i))
		}
	}
	if len(closed) > 0 {
		why := "not all could be opened with the secrets that were kept"
		if len(r.Capture.Secrets) == 0 {
			why = "no secrets were kept"
		}
		notes = append(notes, fmt.Sprintf("What the encrypted packets of %s carried cannot be read: %s.", several(closed), why))
	}
	if n := problems(s); n > 0 {
		notes = append(notes, "Not decodable: "+plural(n, "packet", "packets")+".")
	}
	return notes
}

func problems(s Story) (n int) {
	for i := range s.Reading.Events {
		if s.Reading.Events[i].Problem != "" {
			n++
		}
	}
	return n
}

// several joins names, and leaves out those beyond the sixth.
func several(names []string) string {
	const most = 6
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

func label(conn int) string { return fmt.Sprintf("c%d", conn+1) }

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// sender names the host that sends in a direction.
func sender(direction string) string {
	if direction == lab.Up.String() {
		return "client"
	}
	return "server"
}
