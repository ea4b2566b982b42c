package stats

import (
	"fmt"
	"math"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// why says in sentences what was found, of what it is made, and what was not equal.
func (t *trial) why(within bool) string {
	parts := []string{t.found(within)}
	if t.v.Verdict == Faster || t.v.Verdict == Slower {
		parts = append(parts, t.split(), explain(t.v))
	}
	parts = append(parts, t.undefined(), inequalities(t.a, t.b))
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}

func (t *trial) found(within bool) string {
	a, b := t.v.A, t.v.B
	switch {
	case within:
		return fmt.Sprintf("the difference (%s) is within what two series of the same cell differ by (%s to %s)",
			t.figures(), bound(t.floor.low), bound(t.floor.high))
	case t.v.Verdict == NoDifference && t.v.Exact:
		return fmt.Sprintf("%s and %s take the same time", a, b)
	case t.v.Verdict == NoDifference:
		s := fmt.Sprintf("no difference shown between %s and %s (%s)", a, b, t.figures())
		if t.v.Smallest != nil {
			s += fmt.Sprintf("; a ratio of %s or more would have been", number(*t.v.Smallest))
		}
		return s
	case t.v.Ratio == nil:
		return t.alone()
	case t.v.Exact:
		return fmt.Sprintf("%s; there is no chance in it", t.takes(""))
	}
	return t.takes(" (" + t.interval() + ")")
}

// takes says the ratio as part or multiple.
func (t *trial) takes(interval string) string {
	if *t.v.Ratio < 1 {
		return fmt.Sprintf("%s takes %s of %s's time%s", t.v.A, number(*t.v.Ratio), t.v.B, interval)
	}
	return fmt.Sprintf("%s takes %s times %s's time%s", t.v.A, number(*t.v.Ratio), t.v.B, interval)
}

// alone is the verdict where the ratio has no finite value: one finished, and the
// other did not.
func (t *trial) alone() string {
	bad := t.a
	if t.v.Verdict == Faster {
		bad = t.b
	}
	how := "did not finish often enough to have a time"
	if bad.OK == 0 {
		how = "never finished"
	}
	return fmt.Sprintf("%s %s: %s", bad.Protocol, how, t.counts())
}

// figures is a ratio with its interval.
func (t *trial) figures() string {
	if t.v.Ratio == nil {
		return t.interval()
	}
	return number(*t.v.Ratio) + ", " + t.interval()
}

func (t *trial) interval() string {
	n := blocks(len(t.pair.logs))
	if !t.span.known {
		return n
	}
	return fmt.Sprintf("%s to %s, %s", bound(t.span.low), bound(t.span.high), n)
}

// bound writes the logarithm of a ratio as the ratio.
func bound(log float64) string {
	switch {
	case math.IsInf(log, -1):
		return "0"
	case math.IsInf(log, 1):
		return "without bound"
	}
	return number(math.Exp(log))
}

// split says which part of a difference is the protocols'.
func (t *trial) split() string {
	v := t.v
	if v.ProtocolPart == nil || v.MachinePart == nil {
		return ""
	}
	return fmt.Sprintf("of %s − %s = %s here, protocol time has %s; %s is the implementations' and the machine's",
		v.A, v.B, minus(*v.Difference), minus(*v.ProtocolPart), minus(*v.MachinePart))
}

func minus(v float64) string { return strings.TrimPrefix(signed(v), "+") }

// undefined gives the mean at least where there is no median.
func (t *trial) undefined() string {
	var words []string
	for _, c := range []*Cell{t.a, t.b} {
		s := c.Statistic(lab.Duration)
		if s.Median == nil && s.RestrictedMean != nil {
			words = append(words, fmt.Sprintf("%s has no median (%d of %d ended ok); with the limit of %s for the others its mean is %s",
				c.Protocol, c.OK, c.Runs, seconds(c.Limit), seconds(*s.RestrictedMean)))
		}
	}
	return strings.Join(words, "; ")
}

// whySuccess compares the counts.
func (t *trial) whySuccess() string {
	if t.v.Verdict == NoDifference {
		return "no difference shown: " + t.counts()
	}
	return t.counts()
}

func (t *trial) counts() string {
	return fmt.Sprintf("%s ended ok in %d of %s, %s in %d", t.v.A, t.pair.okA, blocks(len(t.pair.logs)), t.v.B, t.pair.okB)
}

func blocks(n int) string {
	if n == 1 {
		return "1 block"
	}
	return fmt.Sprintf("%d blocks", n)
}

// number writes a ratio: near 1 with a digit more.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v > 0.9 && v < 1.1 || v < 0.1:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
