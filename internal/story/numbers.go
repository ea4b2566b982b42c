package story

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// seconds writes a time with three digits or so: 0 ms, 5.1 ms, 301 ms, 1.59 s,
// 108 s.
func seconds(v float64) string {
	ms := v * 1000
	switch {
	case ms == 0:
		return "0 ms"
	case ms < 0.9995:
		return fmt.Sprintf("%.0f µs", ms*1000)
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

func span(d time.Duration) string { return seconds(d.Seconds()) }

// millis writes a point of time in ms with the digits of a microsecond.
func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Nanoseconds())/1e6, 'f', 3, 64)
}

// size writes bytes with three digits or so: 52 B, 11.2 kB, 594 kB, 3.00 MB.
func size(n int64) string {
	v := float64(n)
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if v < 999.5 || unit == "GB" {
			switch {
			case unit == "B" || v >= 99.95:
				return fmt.Sprintf("%.0f %s", v, unit)
			case v >= 9.995:
				return fmt.Sprintf("%.1f %s", v, unit)
			}
			return fmt.Sprintf("%.2f %s", v, unit)
		}
		v /= 1000
	}
	return ""
}

// exact writes a number with commas between the thousands: 61,440.
func exact(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return sign + strings.Join(append([]string{s}, parts...), ",")
}

func bytesOf(n int64) string { return exact(n) + " B" }

// number writes a value without digits that say nothing: 3, 1.5.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func percent(v float64) string { return fmt.Sprintf("%.1f %%", v*100) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return exact(int64(n)) + " " + many
}
