package stats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// incomparable says why two cells are not to be compared; empty where they are.
// The words name no values of the pair, so that reports can say them once.
func incomparable(a, b *Cell) string {
	for _, c := range []*Cell{a, b} {
		if why := noRatio(c); why != "" {
			return why
		}
	}
	for _, c := range []*Cell{a, b} {
		switch {
		case c.Has(UntrustedTCP):
			return "packets overtake each other on this path, its MTU shrinks, or it has an outage, and this site's TCP is not to be trusted there"
		case c.never(lab.WrongProtocol):
			return fmt.Sprintf("%s was asked for, and another protocol was spoken", c.Protocol)
		case c.never(lab.Unsupported):
			return fmt.Sprintf("%s is not supported here%s", c.Protocol, because(c, lab.Unsupported))
		}
	}
	for _, c := range []*Cell{a, b} {
		switch {
		case c.Has(ClientLimited) && c.Load.Size > *c.Window:
			return fmt.Sprintf("%s is limited by its client: its flow-control window is smaller than two bandwidth-delay products, and than an object", c.Protocol)
		case c.Has(ImplementationBound):
			return fmt.Sprintf("%s is implementation-bound here: processor time accounts for most of what its time exceeds protocol time by, so that this measured the library, not the protocol", c.Protocol)
		}
	}
	if x, y := controls(a), controls(b); differ(x, y) && idle(a, b) == "" {
		return fmt.Sprintf("packets were lost, and congestion control differs: %s sends with %s, %s with %s (cc of the stack, or equalise, makes TCP's the same)",
			a.Protocol, strings.Join(x, " or "), b.Protocol, strings.Join(y, " or "))
	}
	return ""
}

// never says that no run of the cell ended ok, and all ended so but for those that
// the lab spoilt.
func (c *Cell) never(o lab.Outcome) bool {
	return c.Outcomes[o] > 0 && c.Outcomes[o]+c.Outcomes[lab.Invalid] == c.Runs
}

func because(c *Cell, o lab.Outcome) string {
	for _, f := range c.Failures {
		if f.Outcome == o && f.Reason != "" {
			return ": " + f.Reason
		}
	}
	return ""
}

// controls are the congestion controls with which a cell's bodies were sent.
func controls(c *Cell) (out []string) {
	for _, s := range c.Senders {
		if s.CC != "" && !slices.Contains(out, s.CC) {
			out = append(out, s.CC)
		}
	}
	return out
}

// windows are the initial windows with which they were sent, in packets.
func windows(c *Cell) (out []string) {
	for _, s := range c.Senders {
		if w := fmt.Sprint(s.InitialWindow); s.InitialWindow > 0 && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// fullPacket is about what a packet carries of a body, in bytes: less than any does.
const fullPacket = 1200

// idle says why congestion control cannot have mattered between two cells;
// empty where it can.
func idle(a, b *Cell) string {
	least := 0
	for _, s := range slices.Concat(a.Senders, b.Senders) {
		if least == 0 || s.InitialWindow < least {
			least = s.InitialWindow
		}
	}
	switch {
	case a.Lost == 0 && b.Lost == 0:
		return "no packet was lost"
	case a.Load.Bytes() <= int64(least)*fullPacket:
		return "all bodies fit into the initial window"
	}
	return ""
}

// differ is false where one of the two is not known.
func differ(x, y []string) bool { return len(x) > 0 && len(y) > 0 && !slices.Equal(x, y) }

// inequalities says what else is not the same, though it does not forbid a
// comparison.
func inequalities(a, b *Cell) string {
	var words []string
	if x, y := windows(a), windows(b); differ(x, y) {
		words = append(words, fmt.Sprintf("initial window (%s, %s)", strings.Join(x, " or "), strings.Join(y, " or ")))
	}
	if x, y := controls(a), controls(b); differ(x, y) {
		words = append(words, fmt.Sprintf("congestion control (%s, %s; %s)", strings.Join(x, " or "), strings.Join(y, " or "), idle(a, b)))
	}
	for _, c := range []*Cell{a, b} {
		if c.UDPReceiveErrors > 0 {
			words = append(words, fmt.Sprintf("%s lost datagrams for want of receive buffer", c.Protocol))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return fmt.Sprintf("not equal between %s and %s: %s", a.Protocol, b.Protocol, strings.Join(words, ", "))
}
