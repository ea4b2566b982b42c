package pcapng

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// mark begins a comment that Read understands.
const mark = "samewire:"

// maxName is how many bytes of a capture's name are written: a comment has at
// most 65,535 in all.
const maxName = 4096

// sectionComment tells what was captured, for people and, in its last line, for
// Read.
//
// Properties that an edit must keep: the last line begins with the mark, has
// words of the form key=value, and ends with the quoted name.
func sectionComment(c *wire.Capture) string {
	name := c.Name[:min(len(c.Name), maxName)]
	var b strings.Builder
	if name != "" {
		fmt.Fprintf(&b, "%s\n", name)
	}
	fmt.Fprintf(&b, "Times count from the run's start, which stands as 1970-01-01 00:00:00 UTC. The load began at %s and ended at %s.\n",
		seconds(c.Start), seconds(c.End))
	b.WriteString("Each packet has the time at which it was offered to the link, dropped or not.\n")
	if c.Skipped > 0 {
		fmt.Fprintf(&b, "%d packets were not kept, after the first %d.\n", c.Skipped, c.Gap)
	}
	fmt.Fprintf(&b, "%s start=%d end=%d skipped=%d gap=%d name=%q", mark, c.Start, c.End, c.Skipped, c.Gap, name)
	return b.String()
}

// parseSection reads a section's comment into c. It is not ok for a file that is
// not of samewire.
func parseSection(comment string, c *wire.Capture) (ok bool) {
	line, ok := strings.CutPrefix(comment[strings.LastIndexByte(comment, '\n')+1:], mark)
	if !ok {
		return false
	}
	line, quoted, ok := strings.Cut(line, " name=")
	if !ok {
		return false
	}
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return false
	}
	var skipped, gap int64
	for key, value := range fields(line) {
		switch key {
		case "start":
			c.Start = time.Duration(number(value))
		case "end":
			c.End = time.Duration(number(value))
		case "skipped":
			skipped = number(value)
		case "gap":
			gap = number(value)
		}
	}
	c.Name, c.Skipped, c.Gap = name, int(max(skipped, 0)), int(max(gap, 0))
	return true
}

// packetComments tells what became of a packet, for people and, in the last
// comment, for Read.
//
// Properties that an edit must keep: a packet to which nothing happened but that
// it was delivered has the last comment only; no field of a packet is lost
// between there, the interface, the time and the length.
func packetComments(p *wire.Packet, before int) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if before > 0 {
		say("%d packets before this one were not kept", before)
	}
	f := p.Fate
	if f.Drop != lab.NotDropped {
		say("dropped by the link: %s", f.Drop)
	} else if !p.Delivered() {
		say("not delivered: still under way when the run ended")
	}
	for _, c := range changes(&f) {
		if *c.is {
			say("%s", c.says)
		}
	}
	if p.Cut() {
		say("the first %d of %d bytes were kept", len(p.Data), p.Size)
	}
	return append(all, machineComment(p))
}

func machineComment(p *wire.Packet) string {
	f := p.Fate
	b := fmt.Appendf(nil, "%s n=%d", mark, p.N)
	if p.Delivered() {
		b = fmt.Appendf(b, " left=%d", p.Left)
	}
	if p.Waited != 0 {
		b = fmt.Appendf(b, " waited=%d", p.Waited)
	}
	if p.Sending != 0 {
		b = fmt.Appendf(b, " sending=%d", p.Sending)
	}
	if f.Drop != lab.NotDropped {
		b = fmt.Appendf(b, " drop=%s", f.Drop)
	}
	for _, c := range changes(&f) {
		if *c.is {
			b = fmt.Appendf(b, " %s", c.key)
		}
	}
	return string(b)
}

// change is something that the link did to a packet besides dropping it.
type change struct {
	is        *bool
	key, says string
}

func changes(f *lab.Fate) [4]change {
	return [4]change{
		{&f.Duplicated, "duplicated", "duplicated by the link: it arrives twice"},
		{&f.Corrupted, "corrupted", "corrupted by the link: one bit arrives flipped (shown as it was sent)"},
		{&f.Reordered, "reordered", "reordered by the link: it was let pass without its delay"},
		{&f.Marked, "marked", "marked by the link: it arrives with congestion experienced"},
	}
}

// parsePacket reads a packet's comments into p. It is not ok where none of them
// is samewire's.
func parsePacket(comments []string, p *wire.Packet) (ok bool) {
	for _, comment := range comments {
		line, found := strings.CutPrefix(comment, mark)
		if !found {
			continue
		}
		ok = true
		p.Left = wire.Never
		for key, value := range fields(line) {
			set(p, key, value)
		}
	}
	return ok
}

func set(p *wire.Packet, key, value string) {
	switch key {
	case "n":
		p.N = int(number(value))
	case "left":
		p.Left = time.Duration(max(number(value), 0))
	case "waited":
		p.Waited = time.Duration(max(number(value), 0))
	case "sending":
		p.Sending = time.Duration(max(number(value), 0))
	case "drop":
		p.Fate.Drop = lab.Reason(strings.Clone(value)) // the comment may be long
	}
	for _, c := range changes(&p.Fate) {
		if key == c.key {
			*c.is = true
		}
	}
}

// fields yields the words of a line as key and value; without "=" it is all key.
func fields(line string) func(yield func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for word := range strings.FieldsSeq(line) {
			key, value, _ := strings.Cut(word, "=")
			if !yield(key, value) {
				return
			}
		}
	}
}

// number is a whole number, or 0 for what is none.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) + " s" }
