package lab

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The largest traces.
const (
	MaxTraceLines = 2_000_000
	MaxTraceBytes = 16_000_000
)

// MaxTraceTime is the last time that a trace may name (49 days): what 32 bits
// hold in milliseconds.
const MaxTraceTime = math.MaxUint32 * time.Millisecond

// OpportunityBytes is what an opportunity of a Mahimahi trace carries, in IP
// bytes. Mahimahi itself (link_queue.hh, PACKET_SIZE) counts 1504, the four
// bytes before each packet of its TUN device included: a full packet takes one
// opportunity there as here, a small one four bytes more there.
const OpportunityBytes = 1500

// RateStep is a line of a trace of rates: the rate from a time on.
type RateStep struct {
	From time.Duration
	Rate Rate // 0 means that nothing is sent, and not, as elsewhere, unlimited
}

// Check says what is wrong with a trace's text, and in which line.
func (t Trace) Check() error {
	_, err := t.Mean()
	return err
}

// Mean is the mean of a trace's rate: of a Mahimahi trace over its period, of a
// trace of rates up to its last line (MeanRate).
func (t Trace) Mean() (Rate, error) {
	switch t.Kind {
	case Mahimahi:
		ms, err := ParseMahimahi(t.Data)
		if err != nil {
			return 0, fmt.Errorf("trace %s: %w", t.Name, err)
		}
		return MeanOpportunities(ms), nil
	case RateCSV:
		steps, err := ParseRateCSV(t.Data)
		if err != nil {
			return 0, fmt.Errorf("trace %s: %w", t.Name, err)
		}
		return MeanRate(steps), nil
	}
	return 0, fmt.Errorf("trace %s: unknown format %q; want %s or %s", t.Name, t.Kind, Mahimahi, RateCSV)
}

// ParseMahimahi reads a packet-delivery trace as Mahimahi's mm-link does
// (src/frontend/link_queue.cc): each line is the time, in ms from the trace's
// start, of an opportunity to send up to OpportunityBytes. Times never fall;
// several lines may name one time. At the last one the trace starts again, so
// that it must not be 0.
func ParseMahimahi(text string) ([]uint32, error) {
	n, err := traceLines(text)
	if err != nil {
		return nil, err
	}
	ms := make([]uint32, 0, n)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		v, err := strconv.ParseUint(line, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q: want a time in ms, a whole number from 0 to %d", len(ms)+1, clip(line), uint32(math.MaxUint32))
		}
		if len(ms) > 0 && uint32(v) < ms[len(ms)-1] {
			return nil, fmt.Errorf("line %d: %d ms is before the %d ms of the line above: times must not fall", len(ms)+1, v, ms[len(ms)-1])
		}
		ms = append(ms, uint32(v))
	}
	if ms[len(ms)-1] == 0 {
		return nil, fmt.Errorf("line %d: the last time is 0 ms, at which the trace would start again at once: it must be above 0", len(ms))
	}
	return ms, nil
}

// MeanOpportunities is the mean rate of a Mahimahi trace, at least 1 bit/s.
func MeanOpportunities(ms []uint32) Rate {
	bits := float64(len(ms)) * OpportunityBytes * 8
	return Rate(max(math.Round(bits*1000/float64(ms[len(ms)-1])), 1))
}

// ParseRateCSV reads a rate over time: lines "seconds,rate" such as
// "1.5,10mbit". Times rise, and start at 0; a rate of 0 (0bit) is an outage. The
// last rate stays for ever, and so must not be 0. Empty lines, and lines that
// start with #, say nothing; the first of the others may name the columns.
func ParseRateCSV(text string) ([]RateStep, error) {
	text = strings.TrimPrefix(text, "\ufeff") // some spreadsheets begin with a byte order mark
	if _, err := traceLines(text); err != nil {
		return nil, err
	}
	var steps []RateStep
	n, last, first := 0, 0, true
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		header := first && isHeader(line)
		first = false
		if header {
			continue
		}
		step, err := parseStep(line)
		if err == nil {
			err = follows(steps, step)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		steps, last = append(steps, step), n
	}
	if len(steps) == 0 {
		return nil, errors.New("no rate in it: want lines such as 0,10mbit")
	}
	if steps[len(steps)-1].Rate == 0 {
		return nil, fmt.Errorf("line %d: the last rate is 0 and would stay for ever: it must be above 0", last)
	}
	return steps, nil
}

// MeanRate is the mean of rates from the first line's time to the last one's,
// at least 1 bit/s; the last rate alone where there is nothing before it, or
// nothing but outages.
func MeanRate(steps []RateStep) Rate {
	var bits float64
	last := steps[len(steps)-1]
	for i, step := range steps[1:] {
		bits += float64(steps[i].Rate) * (step.From - steps[i].From).Seconds()
	}
	if bits == 0 {
		return last.Rate
	}
	return Rate(max(math.Round(bits/last.From.Seconds()), 1))
}

// traceLines counts the lines of a trace, and refuses one that is too large.
func traceLines(text string) (int, error) {
	if len(text) > MaxTraceBytes {
		return 0, fmt.Errorf("%d bytes: a trace may have up to %d", len(text), MaxTraceBytes)
	}
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") && text != "" {
		n++
	}
	if n > MaxTraceLines {
		return 0, fmt.Errorf("%d lines: a trace may have up to %d", n, MaxTraceLines)
	}
	if n == 0 {
		return 0, errors.New("it is empty: want at least one line")
	}
	return n, nil
}

// isHeader says whether a line names columns: neither of its fields starts as a
// number does.
func isHeader(line string) bool {
	a, b, ok := strings.Cut(line, ",")
	return ok && !startsNumber(a) && !startsNumber(b)
}

func startsNumber(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || strings.ContainsRune("0123456789.+-", rune(s[0]))
}

func parseStep(line string) (RateStep, error) {
	a, b, ok := strings.Cut(line, ",")
	if !ok || strings.Contains(b, ",") {
		return RateStep{}, fmt.Errorf("%q: want seconds and a rate, such as 1.5,10mbit", clip(line))
	}
	from, err := parseSeconds(strings.TrimSpace(a))
	if err != nil {
		return RateStep{}, err
	}
	rate, err := parseTraceRate(strings.TrimSpace(b))
	return RateStep{from, rate}, err
}

// parseSeconds reads a decimal number of seconds, exactly.
func parseSeconds(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s + "s")
	if err != nil || strings.Trim(s, "0123456789.") != "" || d > MaxTraceTime {
		return 0, fmt.Errorf("time %q: want seconds from 0 to %d, such as 1.5", clip(s), MaxTraceTime/time.Second)
	}
	return d, nil
}

func parseTraceRate(s string) (Rate, error) {
	if s == "0" {
		return 0, nil
	}
	v, err := parseUnit(s, rateUnits, true)
	if err != nil {
		return 0, fmt.Errorf("rate %q: %w", clip(s), err)
	}
	if v != 0 && (v < 1 || v > float64(MaxRate)) {
		return 0, fmt.Errorf("rate %q: must be 0bit, or from 1bit to %s", clip(s), MaxRate)
	}
	return Rate(math.Round(v)), nil
}

// follows says what is wrong with a step after those before it.
func follows(steps []RateStep, step RateStep) error {
	if len(steps) == 0 {
		if step.From != 0 {
			return fmt.Errorf("the first time is %g s: it must be 0", step.From.Seconds())
		}
		return nil
	}
	if last := steps[len(steps)-1].From; step.From <= last {
		return fmt.Errorf("%g s is not after the %g s before it: times must rise", step.From.Seconds(), last.Seconds())
	}
	return nil
}
