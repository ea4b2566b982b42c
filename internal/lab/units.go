package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Rate is a speed in bit/s of IP bytes. Zero means unlimited.
type Rate int64

// The units that people write, and what they mean. Lists are ordered: where a
// value is written back, the first unit that divides it is taken.
var (
	rateUnits = []unit{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}
	sizeUnits = []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}
)

type unit struct {
	name  string
	value float64
}

// MaxRate is the highest rate that a path may have: 1 Tbit/s.
const MaxRate Rate = 1e12

// MaxDelay is the longest delay of one direction.
const MaxDelay = time.Hour

// MaxSize is the largest size of one object or queue: 1 TB.
const MaxSize = int64(1e12)

// String writes the rate with the largest unit that divides it.
func (r Rate) String() string {
	if r == 0 {
		return "unlimited"
	}
	for _, u := range rateUnits {
		if int64(r)%int64(u.value) == 0 {
			return strconv.FormatInt(int64(r)/int64(u.value), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(r), 10) + "bit"
}

// ParseRate reads a rate: a number and one of bit, kbit, mbit, gbit (decimal,
// as in tc), or "unlimited".
func ParseRate(s string) (Rate, error) {
	if s == "unlimited" {
		return 0, nil
	}
	v, err := parseUnit(s, rateUnits, true)
	if err != nil {
		return 0, fmt.Errorf("rate %q: %w", s, err)
	}
	if v < 1 || v > float64(MaxRate) {
		return 0, fmt.Errorf("rate %q: must be from 1bit to %s, or unlimited", s, MaxRate)
	}
	return Rate(math.Round(v)), nil
}

// FormatSize writes a size with the unit that makes it shortest, without loss.
func FormatSize(n int64) string {
	best := strconv.FormatInt(n, 10) + "B"
	for _, u := range sizeUnits {
		if n == 0 || n%int64(u.value) != 0 {
			continue
		}
		if s := strconv.FormatInt(n/int64(u.value), 10) + u.name; len(s) < len(best) {
			best = s
		}
	}
	return best
}

// ParseSize reads a size in bytes: a number and one of B, kB, MB, GB (decimal)
// or KiB, MiB, GiB (binary).
func ParseSize(s string) (int64, error) {
	v, err := parseUnit(s, sizeUnits, false)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", s, err)
	}
	if v != math.Trunc(v) {
		return 0, fmt.Errorf("size %q: must be a whole number of bytes", s)
	}
	if v < 0 || v > float64(MaxSize) {
		return 0, fmt.Errorf("size %q: must be from 0B to %s", s, FormatSize(MaxSize))
	}
	return int64(v), nil
}

// ParseDuration reads a duration with its unit: 20ms, 1.5s, 2m. "0" needs none.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("duration %q: want a number and a unit (us, ms, s, m), such as 20ms", s)
	}
	return d, nil
}

// FormatDuration writes a duration as ParseDuration reads it, without units that
// say nothing: 2m, not 2m0s.
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// ParseDelay reads a duration of 0 to MaxDelay.
func ParseDelay(s string) (time.Duration, error) {
	d, err := ParseDuration(s)
	if err != nil {
		return 0, err
	}
	if d < 0 || d > MaxDelay {
		return 0, fmt.Errorf("duration %q: must be from 0 to %s", s, MaxDelay)
	}
	return d, nil
}

// ParseShare reads a share in percent ("1%", "0.5%") into the number from 0 to 1
// that is nearest to it.
func ParseShare(s string) (float64, error) {
	n, ok := strings.CutSuffix(s, "%")
	if !ok || n == "" || strings.Trim(n, "0123456789+-.") != "" {
		return 0, fmt.Errorf("share %q: want a percentage, such as 1%%", s)
	}
	// The decimal point is moved, not the number divided: 1.3 % is 0.013, and
	// every share can be written so that it is read back as it was.
	v, err := strconv.ParseFloat(n+"e-2", 64)
	if err != nil {
		return 0, fmt.Errorf("share %q: want a percentage, such as 1%%", s)
	}
	if v < 0 || v > 1 {
		return 0, fmt.Errorf("share %q: must be from 0%% to 100%%", s)
	}
	return v + 0, nil // not -0
}

// FormatShare writes a share as the shortest percentage that ParseShare reads
// back as the same number.
func FormatShare(p float64) string {
	digits, exp, _ := strings.Cut(strconv.FormatFloat(p, 'e', -1, 64), "e")
	e, err := strconv.Atoi(exp)
	if err != nil {
		return digits + "%" // not a number, or without end
	}
	digits = strings.Replace(digits, ".", "", 1)
	before := e + 3 // digits before the decimal point of the percentage
	switch {
	case p == 0:
		return "0%"
	case before <= 0:
		return "0." + strings.Repeat("0", -before) + digits + "%"
	case before >= len(digits):
		return digits + strings.Repeat("0", before-len(digits)) + "%"
	}
	return digits[:before] + "." + digits[before:] + "%"
}

// String writes the queue as ParseQueue reads it. The zero Queue is "default".
func (q Queue) String() string {
	switch {
	case q.Time > 0:
		return FormatDuration(q.Time)
	case q.BDP > 0:
		return strconv.FormatFloat(q.BDP, 'g', -1, 64) + "bdp"
	case q.Bytes > 0:
		return FormatSize(q.Bytes)
	case q.Packets > 0:
		return strconv.Itoa(q.Packets) + "p"
	default:
		return "default"
	}
}

// The largest queues.
const (
	MaxQueuePackets = 10_000_000
	MaxQueueBDP     = 1000
)

// ParseQueue reads a queue limit: packets ("100p" or, as in netem, a bare
// "100"), bytes ("64kB"), bandwidth-delay products ("1bdp"), the longest wait
// ("50ms"), or "default".
func ParseQueue(s string) (Queue, error) {
	if s == "default" {
		return Queue{}, nil
	}
	if n, ok := strings.CutSuffix(s, "bdp"); ok {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil || strings.Trim(n, "0123456789.e+-") != "" || !(v > 0 && v <= MaxQueueBDP) {
			return Queue{}, fmt.Errorf("queue %q: must be above 0bdp, up to %dbdp", s, MaxQueueBDP)
		}
		return Queue{BDP: v}, nil
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(s, "p")); err == nil {
		if n < 1 || n > MaxQueuePackets {
			return Queue{}, fmt.Errorf("queue %q: must be from 1p to %dp", s, MaxQueuePackets)
		}
		return Queue{Packets: n}, nil
	}
	if d, err := ParseDuration(s); err == nil {
		if d <= 0 || d > MaxDelay {
			return Queue{}, fmt.Errorf("queue %q: must be above 0s, up to %s", s, FormatDuration(MaxDelay))
		}
		return Queue{Time: d}, nil
	}
	n, err := ParseSize(s)
	if err != nil {
		return Queue{}, fmt.Errorf("queue %q: want packets (100p), bytes (64kB), bandwidth-delay products (1bdp) or a longest wait (50ms)", s)
	}
	if n < 1 {
		return Queue{}, fmt.Errorf("queue %q: must be at least 1B", s)
	}
	return Queue{Bytes: n}, nil
}

func parseUnit(s string, units []unit, fold bool) (float64, error) {
	i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	names := make([]string, 0, len(units))
	for j := len(units) - 1; j >= 0; j-- {
		names = append(names, units[j].name)
	}
	if i <= 0 {
		return 0, fmt.Errorf("want a number and a unit (%s)", strings.Join(names, ", "))
	}
	v, err := strconv.ParseFloat(s[:i], 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s[:i])
	}
	for _, u := range units {
		if s[i:] == u.name || fold && strings.EqualFold(s[i:], u.name) {
			return v * u.value, nil
		}
	}
	return 0, fmt.Errorf("unknown unit %q; want one of %s", s[i:], strings.Join(names, ", "))
}
