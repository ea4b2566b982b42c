package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Method is a way in which papers sum up a series. None of them counts failed
// runs, and most leave runs out: they are here to compare with papers that use
// them, and never decide a verdict.
type Method string

// The methods.
const (
	// Tukey is the mean of the values within Tukey's inner fences: k = 1.5
	// inter-quartile ranges beyond quartiles that interpolate linearly (numpy's
	// default).
	Tukey Method = "tukey"
	// MeanSD is the mean, with the sample's standard deviation.
	MeanSD Method = "mean-sd"
	// Fastest20 is the mean of the fastest fifth of the values, at least one.
	Fastest20 Method = "fastest-20"
)

// Methods lists all methods.
func Methods() []Method { return []Method{Tukey, MeanSD, Fastest20} }

// ParseMethod reads a method's name.
func ParseMethod(s string) (Method, error) {
	if m := Method(s); slices.Contains(Methods(), m) {
		return m, nil
	}
	names := make([]string, len(Methods()))
	for i, m := range Methods() {
		names[i] = string(m)
	}
	return "", fmt.Errorf("no method %q: want one of %s", s, strings.Join(names, ", "))
}

// Describe says what a method does, for the head of a column.
func (m Method) Describe() string {
	switch m {
	case Tukey:
		return "mean of the runs within Tukey's fences (k = 1.5, linear quartiles)"
	case MeanSD:
		return "mean and standard deviation of the runs that ended ok"
	default:
		return "mean of the fastest 20 % of the runs that ended ok"
	}
}

// Summary is a series by a paper's method.
type Summary struct {
	Mean float64
	SD   *float64 // of the values that were used; nil for fewer than two
	Used int
	Left int // values that the method left out
}

// Summary sums up the values of the runs that ended ok; not ok without any.
func (m Method) Summary(values []float64) (s Summary, ok bool) {
	x := slices.Clone(values)
	slices.Sort(x)
	x = slices.DeleteFunc(x, func(v float64) bool { return !sound(v) })
	n := len(x)
	if n == 0 {
		return Summary{}, false
	}
	switch m {
	case Tukey:
		q1, q3 := linear(x, len(x), 0.25), linear(x, len(x), 0.75)
		reach := 1.5 * (q3 - q1)
		x = slices.DeleteFunc(x, func(v float64) bool { return v < q1-reach || v > q3+reach })
	case Fastest20:
		x = x[:max(1, (n+2)/5)]
	}
	s = Summary{Used: len(x), Left: n - len(x)}
	for _, v := range x {
		s.Mean += v / float64(len(x))
	}
	if len(x) > 1 {
		var squares float64
		for _, v := range x {
			squares += (v - s.Mean) * (v - s.Mean)
		}
		s.SD = finite(math.Sqrt(squares / float64(len(x)-1)))
	}
	return s, true
}
