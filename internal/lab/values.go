package lab

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ValueError is what is wrong with the value of a word of the notation.
type ValueError struct {
	At      int    // where in the value, in characters from 0
	Message string // what is wrong, and what is allowed
}

func (e *ValueError) Error() string { return e.Message }

// values reads the value of a word, part by part. The first fault stays; what
// is read after it is zero.
type values struct {
	parts []part
	last  int      // where the part that was taken last stands
	tried []string // what could have stood where the next part stands
	err   *ValueError
}

// part is what stands between blanks.
type part struct {
	text string
	at   int // in characters from 0
}

func newValues(s string) *values {
	v := &values{}
	runes := []rune(s)
	for i := 0; i < len(runes); {
		start := i
		for i < len(runes) && !unicode.IsSpace(runes[i]) {
			i++
		}
		if i > start {
			v.parts = append(v.parts, part{string(runes[start:i]), start})
		}
		for i < len(runes) && unicode.IsSpace(runes[i]) {
			i++
		}
	}
	return v
}

func (v *values) peek() string {
	if v.err != nil || len(v.parts) == 0 {
		return ""
	}
	return v.parts[0].text
}

// fail says what is wrong with the next part; at the value's end it is the last
// part after which something is missing.
func (v *values) fail(format string, args ...any) {
	if v.err != nil {
		return
	}
	at := v.last
	if len(v.parts) > 0 {
		at = v.parts[0].at
	}
	v.err = &ValueError{at, fmt.Sprintf(format, args...)}
}

func (v *values) take() {
	v.last = v.parts[0].at
	v.parts, v.tried = v.parts[1:], nil
}

// word takes the next part if it is the given word.
func (v *values) word(w string) bool {
	if v.peek() != w {
		v.tried = append(v.tried, w)
		return false
	}
	v.take()
	return true
}

// number says whether the next part begins as numbers do; what, if it is not
// empty, names it in a list of what is allowed.
func (v *values) number(what string) bool {
	p := v.peek()
	if p != "" && beginsNumber(p) {
		return true
	}
	if what != "" {
		v.tried = append(v.tried, what)
	}
	return false
}

// beginsNumber says whether a part of a value begins as numbers do. No word of
// the notation does, so that such a part belongs to the value before it.
func beginsNumber(s string) bool { return s != "" && strings.ContainsAny(s[:1], "0123456789+-.") }

// next reads the next part, which must be there.
func next[T any](v *values, what string, parse func(string) (T, error)) (out T) {
	if v.err != nil {
		return out
	}
	if len(v.parts) == 0 {
		v.fail("%s is missing", what)
		return out
	}
	out, err := parse(v.parts[0].text)
	if err != nil {
		v.fail("%s", err)
		return out
	}
	v.take()
	return out
}

// end returns the first fault. A part that is left over is one.
func (v *values) end() error {
	if v.err == nil && len(v.parts) > 0 {
		more := "nothing more is allowed"
		if len(v.tried) > 0 {
			more = "allowed: " + strings.Join(v.tried, ", ")
		}
		v.fail("%q cannot stand here; %s", clip(v.parts[0].text), more)
	}
	if v.err != nil {
		return v.err
	}
	return nil
}

// whole makes the parser of a whole number in a range.
func whole(low, high int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("%q: must be a whole number from %d to %d", clip(s), low, high)
		}
		return n, nil
	}
}

// parseCorrelation reads a correlation: a share, but never 100 %, with which
// nothing would ever change.
func parseCorrelation(s string) (float64, error) {
	c, err := ParseShare(s)
	if err != nil {
		return 0, fmt.Errorf("correlation: %w", err)
	}
	if c == 1 {
		return 0, fmt.Errorf("correlation %q: must be below 100%%", s)
	}
	return c, nil
}

// parseTime reads a point of a path's time, which starts at its first packet.
func parseTime(s string) (time.Duration, error) {
	d, err := ParseDuration(s)
	if err != nil {
		return 0, err
	}
	if d < 0 || d > MaxTime {
		return 0, fmt.Errorf("time %q: must be from 0 to %s", s, FormatDuration(MaxTime))
	}
	return d, nil
}

// parseSpan reads a duration above zero.
func parseSpan(s string) (time.Duration, error) {
	d, err := parseTime(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("duration %q: must be above 0", s)
	}
	return d, err
}

// MaxTime is the latest point of a path's time that can be named.
const MaxTime = 24 * time.Hour

// positive writes a duration, count a number and size a number of bytes; all of
// them nothing for zero.
func positive(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return FormatDuration(d)
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func size(n int64) string {
	if n == 0 {
		return ""
	}
	return FormatSize(n)
}
