package cli

import (
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

func TestNextStep(t *testing.T) {
	record := func(id string, change func(*lab.Record)) lab.Record {
		r := lab.Record{Run: lab.Run{ID: id}, Outcome: lab.OK}
		change(&r)
		return r
	}
	ok := record("ok-1", func(*lab.Record) {})
	kept := record("kept-1", func(r *lab.Record) { r.Kept = &lab.Kept{Capture: "wire/x.pcapng"} })
	lost := record("lost-1", func(r *lab.Record) { r.Kept = &lab.Kept{Error: "disk full"} })
	failed := record("failed-1", func(r *lab.Record) { r.Outcome = lab.Timeout })
	stalled := record("stalled-1", func(r *lab.Record) { r.Wire.Stalls = make([]lab.Stall, 1) })
	for _, c := range []struct {
		records []lab.Record
		want    string
	}{
		{nil, ""},
		{[]lab.Record{ok, lost}, ""},
		{[]lab.Record{ok, kept}, "samewire show out RUN (such as kept-1) tells one packet by packet"},
		{[]lab.Record{kept, failed}, "samewire show out RUN (such as failed-1) tells why one failed or stalled"},
		{[]lab.Record{ok, stalled, failed}, "samewire show out RUN (such as stalled-1) tells why one failed or stalled"},
	} {
		got := nextStep("out", c.records)
		if c.want == "" && got != "" || !strings.HasSuffix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%q, want %q", got, c.want)
		}
		if c.want != "" && !strings.HasPrefix(got, "next: samewire show out lists the runs; ") {
			t.Errorf("%q does not say how to list the runs", got)
		}
	}
}
