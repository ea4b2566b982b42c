package stats

import (
	"cmp"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// bdp is what fills the way down, in bytes: the rate times the path's
// round-trip time, a trace's in the mean. It is 0 without a limit of rate.
func bdp(p lab.Path) int64 {
	return int64(float64(p.Down.MeanRate()) / 8 * p.RTT().Seconds())
}

// observe takes in what one run says of the conditions under which it ran.
func (c *Cell) observe(r lab.Record) {
	if n, ok := opened(r, c.Asked); ok && !slices.Contains(c.Opened, n) {
		c.Opened = append(c.Opened, n)
		slices.Sort(c.Opened)
	}
	sender := r.Server
	if c.Load.Upload {
		sender = r.Client
	}
	for _, s := range sender.Senders {
		if (s.Transport == "quic") == (c.Protocol == lab.H3) && !slices.Contains(c.Senders, s) {
			c.Senders = append(c.Senders, s)
		}
	}
	slices.SortFunc(c.Senders, compareSenders)
	least(&c.Window, r.Client.Window)
	if c.Protocol == lab.H3 {
		for _, side := range []lab.Side{r.Server, r.Client} {
			least(&c.UDPReceiveBuffer, side.UDPReceiveBuffer)
			if side.UDPReceiveErrors != nil {
				c.UDPReceiveErrors += *side.UDPReceiveErrors
			}
		}
	}
	if r.Outcome == lab.OK && len(r.Wire.Stalls) > 0 {
		c.Stalled++
	}
	c.Lost += lost(r.Wire.Up) + lost(r.Wire.Down)
	c.observeWaiting(r)
	c.Lateness.P50 = max(c.Lateness.P50, r.Lateness.P50)
	c.Lateness.P99 = max(c.Lateness.P99, r.Lateness.P99)
	c.Lateness.Max = max(c.Lateness.Max, r.Lateness.Max)
}

func lost(w lab.WireWay) (n int) {
	for _, drops := range w.Drops {
		n += drops
	}
	return n
}

// A program's wait for a processor is long when it is more than a quarter of the
// run's duration, and more than some turns of the scheduler may cost: the threads
// of a program wait side by side, and their waits are added up.
const (
	longWait      = 0.050
	longWaitShare = 0.25
)

func (c *Cell) observeWaiting(r lab.Record) {
	for _, side := range []lab.Side{r.Server, r.Client} {
		if side.Waited == nil {
			continue
		}
		c.Waited = max(c.Waited, *side.Waited)
		d := r.Value(lab.Duration)
		c.Waits = c.Waits || *side.Waited > longWait && d != nil && *side.Waited > longWaitShare**d
	}
}

// untrusted says whether the cell's TCP is a user-space one on a path where that
// was seen to be wrong (docs/sites.md): packets overtake each other, the MTU
// shrinks in mid-transfer, or all packets of a time are lost.
func untrusted(c lab.Cell) bool {
	shrinks := c.Path.Up.Shrink != lab.Shrink{} || c.Path.Down.Shrink != lab.Shrink{}
	return c.Site != lab.Kernel && c.Protocol != lab.H3 && (shrinks || c.Path.Outages() || !c.Path.InOrder())
}

func compareSenders(a, b lab.Sender) int {
	return cmp.Or(
		cmp.Compare(a.Transport, b.Transport), cmp.Compare(a.CC, b.CC),
		cmp.Compare(a.InitialWindow, b.InitialWindow), cmp.Compare(a.Source, b.Source),
	)
}

func least[T cmp.Ordered](to **T, v *T) {
	if v != nil && (*to == nil || *v < **to) {
		*to = v
	}
}

// opened returns how many connections a run opened: what the wire saw, or what
// the client said where the wire saw as many as asked for. A run that failed
// may have had no time to open all; only too many count there.
func opened(r lab.Record, asked int) (n int, ok bool) {
	n = r.Wire.Connections
	if n == asked && r.Connections != nil {
		n = *r.Connections
	}
	return n, r.Outcome == lab.OK || n > asked
}

// flag sets the flags that a cell has for itself.
func (c *Cell) flag() {
	set := func(f Flag, on bool) {
		if on {
			c.Flags = append(c.Flags, f)
		}
	}
	set(Connections, slices.ContainsFunc(c.Opened, func(n int) bool { return n != c.Asked }))
	set(ClientLimited, !c.Load.Upload && c.Window != nil && *c.Window < 2*c.BDP)
	set(SmallUDPBuffer, c.UDPReceiveErrors > 0 || c.UDPReceiveBuffer != nil && *c.UDPReceiveBuffer < SmallBuffer)
	set(Late, c.TooLate)
	set(Waiting, c.Waits)
	set(UntrustedTCP, untrusted(c.Cell))
	set(NotInternetMTU, max(c.Path.Up.MTU, c.Path.Down.MTU) > InternetMTU)
}

// flagUnequal compares how the protocols of a comparison send, and flags all
// of them where they differ. A cell whose senders are not known is left out.
func flagUnequal(cells []*Cell) {
	var known []*Cell
	for _, c := range cells {
		if len(c.Senders) > 0 {
			known = append(known, c)
		}
	}
	unequal(known, UnequalCC, func(s lab.Sender) string { return s.CC }, "")
	unequal(known, UnequalInitialWindow, func(s lab.Sender) int { return s.InitialWindow }, 0)
}

func unequal[T cmp.Ordered](cells []*Cell, f Flag, property func(lab.Sender) T, unknown T) {
	var first []T
	differ := false
	for _, c := range cells {
		var values []T
		for _, s := range c.Senders {
			if v := property(s); v != unknown {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		values = slices.Compact(values)
		if first == nil {
			first = values
		}
		differ = differ || !slices.Equal(first, values)
	}
	for _, c := range cells {
		if differ {
			c.set(f)
		}
	}
}
