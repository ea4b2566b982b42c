package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// csvHead names the columns of CSV.
var csvHead = []string{
	"study", "seed", "run", "attempt", "counts", "path", "load", "protocol", "site", "server", "client",
	"tls", "cc", "initcwnd", "pacing", "arm", "rep", "repeats", "order", "outcome", "metric", "unit", "value",
}

// CSV writes one row a sample (tidy data), those of failed runs included: a value
// that could not be had is empty. The column counts is false for attempts that are
// no observation: those carried out again, and those that the lab spoilt. A run
// whose outcome is not ok is right-censored, whatever its values say.
func CSV(w io.Writer, out stats.Output, records []lab.Record) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvHead); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	counts := stats.Counts(records)
	for _, r := range records {
		run, cell := r.Run, r.Run.Cell
		head := []string{
			out.Study, strconv.FormatUint(out.Seed, 10), run.ID, strconv.Itoa(r.Attempt),
			strconv.FormatBool(counts[stats.Attempt{Run: run.ID, Attempt: r.Attempt}]),
			cell.Path.Name, cell.Load.Name, string(cell.Protocol), string(cell.Site), cell.Stack.Server, cell.Stack.Client,
			cell.Stack.TLS, cell.Stack.CC, strconv.Itoa(cell.Stack.InitCwnd), cell.Stack.Pacing, cell.Arm,
			strconv.Itoa(run.Rep), strconv.Itoa(run.Repeats), strconv.Itoa(run.Order), string(r.Outcome),
		}
		for _, s := range r.Samples {
			value := ""
			if s.Value != nil {
				value = strconv.FormatFloat(*s.Value, 'g', -1, 64)
			}
			if err := c.Write(append(head, s.Metric, s.Unit, value)); err != nil {
				return fmt.Errorf("write csv: %w", err)
			}
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}
