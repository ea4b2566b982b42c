package store

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// docs/format.md names every field that a folder's files have.
func TestFormatPageIsComplete(t *testing.T) {
	page, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	p := testPlan(1)
	p.LeftOut = []lab.LeftOut{{}}
	r := testRecord(p, 0)
	r.Requests = []lab.Request{{}}
	r.Server.Senders = []lab.Sender{{}}
	for name, file := range map[string]any{PlanFile: p, RecordsFile: r, EnvironmentFile: ReadEnvironment()} {
		b, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		fields := map[string]bool{}
		collect(v, fields)
		if len(fields) < 10 {
			t.Errorf("%s has %d fields", name, len(fields))
		}
		for field := range fields {
			if !regexp.MustCompile("`([a-z]+\\.)?" + field + "[`.]").Match(page) {
				t.Errorf("%s: the page does not name %s", name, field)
			}
		}
	}
	// The example is a record, of this format.
	example := regexp.MustCompile("(?m)^{\"format\":.*}$").Find(page)
	got, err := parseRecord(example)
	if err != nil || got.Run.ID != lab.RunID(got.Run.Cell, got.Run.Rep) || got.Value(lab.Duration) == nil {
		t.Errorf("the example: %+v, %v", got, err)
	}
}

// collect gathers the names of fields. Those of drops and sysctls are values.
func collect(v any, names map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collect(item, names)
		}
	case map[string]any:
		for name, value := range v {
			names[name] = true
			if name != "drops" && name != "sysctls" {
				collect(value, names)
			}
		}
	}
}
