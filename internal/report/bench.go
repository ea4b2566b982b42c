package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// benchUnits are the units of benchmark lines, by metric. Those of times have
// sec in them, which benchstat scales.
var benchUnits = map[string]string{
	lab.Duration: "sec/op", lab.TTFB: "ttfb-sec", lab.FirstObject: "first-object-sec", lab.LastObject: "last-object-sec",
	lab.Goodput: "goodput-bit/s", lab.RoundTrips: "round-trips", lab.CPUClient: "cpu-client-sec", lab.CPUServer: "cpu-server-sec",
}

// failedUnit counts a run that did not end ok: 1, or 0.
const failedUnit = "failed"

// Bench writes one line a run in the format of Go's benchmarks, which benchstat
// reads (https://go.dev/design/14313-benchmark-format). The cell is in the name
// as key=value pairs, for benchstat -col /protocol.
//
// The format knows no censored values. A run that did not end ok takes the time
// limit for its duration and 0 for its goodput, so that no median is one of
// survivors, and counts in the unit "failed". The arm aa is left out.
func Bench(w io.Writer, out stats.Output, records []lab.Record) error {
	b := bufio.NewWriter(w)
	counts := stats.Counts(records)
	fmt.Fprintf(b, "samewire: %s\nstudy: %s\nseed: %d\n", oneWord(out.Samewire), oneWord(out.Study), out.Seed)
	fmt.Fprintf(b, "Unit %s better=higher\n\n", benchUnits[lab.Goodput])
	for _, r := range records {
		if r.Run.Cell.Arm == "" && counts[stats.Attempt{Run: r.Run.ID, Attempt: r.Attempt}] {
			benchLine(b, r)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write benchmark lines: %w", err)
	}
	return nil
}

func benchLine(b *bufio.Writer, r lab.Record) {
	c := r.Run.Cell
	fmt.Fprintf(b, "BenchmarkSamewire/path=%s/load=%s/site=%s/server=%s/client=%s/tls=%s/cc=%s/initcwnd=%d",
		oneWord(c.Path.Name), oneWord(c.Load.Name), oneWord(string(c.Site)), oneWord(c.Stack.Server), oneWord(c.Stack.Client),
		oneWord(c.Stack.TLS), oneWord(c.Stack.CC), c.Stack.InitCwnd)
	if c.Stack.Pacing != "" {
		fmt.Fprintf(b, "/pacing=%s", oneWord(c.Stack.Pacing))
	}
	// The protocol comes last: benchstat takes a number after a hyphen at the end
	// for GOMAXPROCS.
	fmt.Fprintf(b, "/protocol=%s 1", oneWord(string(c.Protocol)))
	failed := 0
	if r.Outcome != lab.OK {
		failed = 1
	}
	for _, s := range r.Samples {
		v := s.Value
		if failed == 1 {
			v = censored(s.Metric, r)
		}
		if unit := benchUnits[s.Metric]; unit != "" && v != nil {
			fmt.Fprintf(b, " %s %s", strconv.FormatFloat(*v, 'g', -1, 64), unit)
		}
	}
	fmt.Fprintf(b, " %d %s\n", failed, failedUnit)
}

// censored is what stands for a metric of a run that did not end ok.
func censored(metric string, r lab.Record) *float64 {
	limit, none := r.Run.Timeout.Seconds(), 0.0
	switch metric {
	case lab.Duration, lab.LastObject:
		if limit > 0 {
			return &limit
		}
	case lab.Goodput:
		return &none
	}
	return r.Value(metric)
}

// oneWord makes text fit between the blanks and slashes of a benchmark's name.
func oneWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == '=' || r == 0x7f {
			return '_'
		}
		return r
	}, s)
}
