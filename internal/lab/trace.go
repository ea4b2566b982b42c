package lab

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseMahimahi reads a Mahimahi trace (stand-in).
func ParseMahimahi(text string) (out []time.Duration, err error) {
	for i, line := range strings.Fields(text) {
		n, err := strconv.Atoi(line)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("line %d: want a number of milliseconds", i+1)
		}
		out = append(out, time.Duration(n)*time.Millisecond)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the trace is empty")
	}
	return out, nil
}

// RateStep is a stand-in.
type RateStep struct {
	From time.Duration
	Rate Rate
}

// ParseRateCSV reads a rate over time (stand-in).
func ParseRateCSV(text string) (out []RateStep, err error) {
	for i, line := range strings.Fields(text) {
		at, rate, _ := strings.Cut(line, ",")
		s, err := strconv.ParseFloat(at, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: want seconds,rate", i+1)
		}
		r, err := ParseRate(rate)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(out, RateStep{time.Duration(s * 1e9), r})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the trace is empty")
	}
	return out, nil
}
