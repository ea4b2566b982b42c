package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// narrow measures text as terminals outside East Asia show it, whatever the
// locale says.
var narrow = &runewidth.Condition{StrictEmojiNeutral: true}

func width(s string) int { return narrow.StringWidth(s) }

func padLeft(s string, n int) string  { return strings.Repeat(" ", max(n-width(s), 0)) + s }
func padRight(s string, n int) string { return s + strings.Repeat(" ", max(n-width(s), 0)) }

// seconds writes a time with three digits or so: 5.1 ms, 301 ms, 1.59 s,
// 19.4 s, 120 s.
func seconds(v float64) string {
	ms := v * 1000
	switch {
	case ms < 9.95:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 999.5:
		return fmt.Sprintf("%.0f ms", ms)
	case v < 9.995:
		return fmt.Sprintf("%.2f s", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f s", v)
	}
	return fmt.Sprintf("%.0f s", v)
}

// micros writes a small time, such as a lateness.
func micros(v float64) string {
	if us := v * 1e6; us < 999.5 {
		return fmt.Sprintf("%.0f µs", us)
	}
	return seconds(v)
}

// percent writes how much the time here exceeds protocol time. It is empty
// where that says nothing: a time is missing, or protocol time is almost none.
func percent(protocol, here *float64) string {
	const least = 0.0005 // s
	if protocol == nil || here == nil || *protocol < least {
		return ""
	}
	p := (*here / *protocol - 1) * 100
	switch {
	case p > 999.5:
		return "> +999 %"
	case math.Abs(p) < 9.95:
		return fmt.Sprintf("%+.1f %%", p)
	}
	return fmt.Sprintf("%+.0f %%", p)
}

// value is what a cell shows: its median, and the share of runs that ended ok
// where that is not all of them.
func value(c *stats.Cell) (median, count string) {
	if c == nil {
		return "–", ""
	}
	if c.OK < c.Runs {
		count = fmt.Sprintf("⚠ %d/%d", c.OK, c.Runs)
	}
	d := c.Statistic(lab.Duration)
	switch {
	case d.Median != nil:
		return seconds(*d.Median), count
	case c.Outcomes[lab.Unsupported] == c.Runs:
		return string(lab.Unsupported), count
	case c.Outcomes[lab.Invalid] == c.Runs:
		return string(lab.Invalid), count
	case c.Limit > 0:
		return "> " + seconds(c.Limit), count
	}
	return "undefined", count
}

// describe says in a few words what a load is.
func describe(l lab.Load) string {
	what := "1 object of " + lab.FormatSize(l.Size)
	if l.Objects != 1 {
		what = fmt.Sprintf("%d objects of %s", l.Objects, lab.FormatSize(l.Size))
	}
	if l.Upload {
		what += ", sent to the server"
	}
	if l.Idle > 0 {
		return what + ", warm connections after a rest of " + l.Idle.String()
	}
	if l.Warm {
		return what + ", warm connections"
	}
	return what + ", new connections"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
