package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// writeNotes writes what has to be known of the table: what failed, what was
// not equal, what else was noticed; each in sentences, wrapped to the width.
func writeNotes(b *strings.Builder, out stats.Output, o Options, p painter) {
	for _, part := range notes(out, o) {
		b.WriteString("\n")
		line(b, p.bold(part.head))
		for _, n := range part.notes {
			wrap(b, indent, n, o.Width)
		}
	}
}

// notePart is the notes of one kind.
type notePart struct {
	head  string
	notes []string
}

const warningsHead = "Warnings"

// notes are what has to be known of a table; parts without a note are left out.
func notes(out stats.Output, o Options) (parts []notePart) {
	for _, part := range []notePart{
		{"As papers do it: " + o.PaperMethod + "; no verdict rests on it", o.Papers},
		{"Failed", failures(out.Cells)},
		{"Not equal", unequal(out.Cells)},
		{"Resolution", resolutions(out.Resolutions)},
		{"Sites", agreements(out.Agreements)},
		{"Noted", slices.Concat(conditions(out.Cells), waiting(out.Cells), lateness(out.Cells), o.Notes)},
		{warningsHead, out.Warnings},
	} {
		if len(part.notes) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// wrap writes a sentence with a hanging indent.
func wrap(b *strings.Builder, indent, s string, most int) {
	current := indent
	for i, word := range strings.Fields(printable(s)) {
		switch {
		case i == 0:
			current += word
		case width(current)+1+width(word) > most:
			line(b, current)
			current = indent + "  " + word
		default:
			current += " " + word
		}
	}
	line(b, current)
}

// printable replaces what a terminal would obey: an error's text comes from
// elsewhere.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return '?'
		}
		return r
	}, s)
}

// failures names the outcomes of every cell that has runs not ended ok.
func failures(cells []stats.Cell) (out []string) {
	for _, c := range cells {
		if len(c.Failures) == 0 {
			continue
		}
		var counts []string
		for _, o := range lab.Outcomes()[1:] {
			if n := c.Outcomes[o]; n > 0 {
				counts = append(counts, fmt.Sprintf("%d %s%s", n, o, examples(c.Failures, o)))
			}
		}
		out = append(out, fmt.Sprintf("%s, %s, %s, %s: %s", c.Path.Name, c.Load.Name, c.Protocol, c.Site, strings.Join(counts, ", ")))
	}
	return out
}

// examples names up to three runs of an outcome, and why the first ended so.
func examples(failures []stats.Failure, o lab.Outcome) string {
	var ids []string
	why := ""
	for _, f := range failures {
		if f.Outcome != o {
			continue
		}
		ids = append(ids, f.Run)
		if why == "" && f.Reason != "" {
			why = ": " + f.Reason
		}
	}
	return " (" + some(ids, 3) + why + ")"
}

// said gathers the places for which a sentence holds, in order of appearance.
type said struct {
	stacks    bool // there are several, so that a place needs more than path and load
	sentences []string
	places    map[string]map[lab.SiteName]*once
	all       map[lab.SiteName]*once // every place of a site
}

func newSaid(cells []stats.Cell) *said {
	s := &said{places: map[string]map[lab.SiteName]*once{}, all: map[lab.SiteName]*once{}}
	for _, c := range cells {
		s.stacks = s.stacks || c.Stack.CC != cells[0].Stack.CC
	}
	for _, c := range cells {
		if s.all[c.Site] == nil {
			s.all[c.Site] = &once{}
		}
		s.all[c.Site].add(s.place(c))
	}
	return s
}

func (s *said) place(c stats.Cell) string {
	p := c.Path.Name + "/" + c.Load.Name
	if s.stacks {
		p += "/" + c.Stack.CC
	}
	return p
}

// once holds words in the order in which they came, each once; there may be many.
type once struct {
	words []string
	has   map[string]bool
}

func (o *once) add(s string) {
	if o.has[s] {
		return
	}
	if o.has == nil {
		o.has = map[string]bool{}
	}
	o.has[s] = true
	o.words = append(o.words, s)
}

func with[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

func (s *said) add(sentence string, c stats.Cell) {
	if s.places[sentence] == nil {
		s.sentences = append(s.sentences, sentence)
		s.places[sentence] = map[lab.SiteName]*once{}
	}
	if s.places[sentence][c.Site] == nil {
		s.places[sentence][c.Site] = &once{}
	}
	s.places[sentence][c.Site].add(s.place(c))
}

// lines writes each sentence after the sites for which it holds, and before the
// places, where these are not all of the site.
func (s *said) lines() (out []string) {
	for _, sentence := range s.sentences {
		var tails []string
		sites := map[string][]string{}
		for _, site := range lab.SiteNames() {
			places := s.places[sentence][site]
			if places == nil {
				continue
			}
			tail := ""
			if len(places.words) < len(s.all[site].words) {
				tail = " (" + some(places.words, 6) + ")"
			}
			tails = with(tails, tail)
			sites[tail] = append(sites[tail], string(site))
		}
		for _, tail := range tails {
			out = append(out, strings.Join(sites[tail], ", ")+": "+sentence+tail)
		}
	}
	return out
}

// some lists the first few words, and how many more there are.
func some(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

// unequal says how the protocols of a comparison send where that differs.
func unequal(cells []stats.Cell) []string {
	s := newSaid(cells)
	for _, group := range stats.Comparisons(cells) {
		first := *group[0]
		switch {
		case slices.ContainsFunc(group, func(c *stats.Cell) bool {
			return c.Has(stats.UnequalCC) || c.Has(stats.UnequalInitialWindow)
		}):
			s.add(senders(group), first)
		case len(group) > 1 && !first.Path.Lossless() && slices.ContainsFunc(group, quicReno):
			s.add("Reno is not the same everywhere: after a loss quic-go goes on with 0.7 of its window, TCP with 0.5", first)
		}
	}
	return s.lines()
}

func quicReno(c *stats.Cell) bool {
	return slices.ContainsFunc(c.Senders, func(s lab.Sender) bool { return s.Transport == "quic" && s.CC == "reno" })
}

// senders describes the sending side of each protocol, those that are alike
// together.
func senders(group []*stats.Cell) string {
	var order []string
	by := map[string][]string{}
	for _, c := range group {
		d := describeSenders(c.Senders)
		if by[d] == nil {
			order = append(order, d)
		}
		by[d] = append(by[d], string(c.Protocol))
	}
	words := make([]string, len(order))
	for i, d := range order {
		words[i] = strings.Join(by[d], ", ") + " with " + d
	}
	return "bodies are sent by " + strings.Join(words, "; by ")
}

func describeSenders(senders []lab.Sender) string {
	if len(senders) == 0 {
		return "not known"
	}
	words := make([]string, len(senders))
	for i, s := range senders {
		cc, window, source := s.CC, "initial window not known", s.Source
		if cc == "" {
			cc = "congestion control not known"
		}
		if s.InitialWindow > 0 {
			window = "initial window " + strconv.Itoa(s.InitialWindow) + " packets"
		}
		if source == "socket" {
			source = "read back"
		}
		words[i] = strings.TrimSuffix(cc+", "+window+" ("+source+")", " ()")
	}
	return strings.Join(words, " or ")
}

// conditions spells the cells' other flags out, with the values.
func conditions(cells []stats.Cell) []string {
	s := newSaid(cells)
	for _, c := range cells {
		for _, f := range c.Flags {
			if sentence := condition(c, f); sentence != "" {
				s.add(sentence, c)
			}
		}
	}
	return s.lines()
}

func condition(c stats.Cell, f stats.Flag) string {
	switch f {
	case stats.Connections:
		opened := make([]string, len(c.Opened))
		for i, n := range c.Opened {
			opened[i] = strconv.Itoa(n)
		}
		return fmt.Sprintf("%s opened %s connections, asked for %d", c.Protocol, strings.Join(opened, " or "), c.Asked)
	case stats.ClientLimited:
		return fmt.Sprintf("%s is limited by its client: a flow-control window of %d B is less than two bandwidth-delay products (2 × %d B)",
			c.Protocol, *c.Window, c.BDP)
	case stats.SmallUDPBuffer:
		return smallBuffer(c)
	case stats.UntrustedTCP:
		return "packets overtake each other or the MTU shrinks, and the TCP of this site is not to be trusted there: " + string(c.Protocol) + " is not comparable"
	case stats.NotInternetMTU:
		return fmt.Sprintf("packets of up to %d B may pass, as nowhere on the internet", max(c.Path.Up.MTU, c.Path.Down.MTU))
	default: // unequal, late and waiting are said elsewhere
		return ""
	}
}

func smallBuffer(c stats.Cell) string {
	const raise = "; to raise it: sysctl -w net.core.rmem_max=7500000 net.core.wmem_max=7500000"
	var words []string
	if b := c.UDPReceiveBuffer; b != nil && *b < stats.SmallBuffer {
		words = append(words, fmt.Sprintf("%s's UDP receive buffer is %d B, below %d B", c.Protocol, *b, stats.SmallBuffer))
	}
	if c.UDPReceiveErrors > 0 {
		words = append(words, fmt.Sprintf("%s lost %s for want of receive buffer", c.Protocol, plural(c.UDPReceiveErrors, "datagram", "datagrams")))
	}
	return strings.Join(words, "; ") + raise
}

// waiting says of each site where programs waited for a processor.
func waiting(cells []stats.Cell) (out []string) {
	for _, site := range sitesOf(cells) {
		var worst stats.Cell
		n, of := 0, 0
		for _, c := range cells {
			if c.Site != site {
				continue
			}
			of++
			if c.Has(stats.Waiting) {
				n++
				if c.Waited > worst.Waited {
					worst = c
				}
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%s: in %d of %s a run's programs waited for a processor, up to %.2f s (%s, %s, %s): the machine was busy, and such times are too long",
				site, n, plural(of, "cell", "cells"), worst.Waited, worst.Path.Name, worst.Load.Name, worst.Protocol))
		}
	}
	return out
}

// lateness says how late the lab was on the sites in real time.
func lateness(cells []stats.Cell) (out []string) {
	for _, site := range sitesOf(cells) {
		var most lab.Lateness
		for _, c := range cells {
			if c.Site == site {
				most.P50 = max(most.P50, c.Lateness.P50)
				most.P99 = max(most.P99, c.Lateness.P99)
				most.Max = max(most.Max, c.Lateness.Max)
			}
		}
		if most != (lab.Lateness{}) {
			out = append(out, fmt.Sprintf("%s: in the worst run packets were late by %s (median), %s (99th percentile), %s (largest)",
				site, micros(most.P50), micros(most.P99), micros(most.Max)))
		}
	}
	return out
}
