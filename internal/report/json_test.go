package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

func jsonOf(t *testing.T, out stats.Output) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestJSONGolden(t *testing.T) {
	golden(t, "example.json", string(jsonOf(t, example())))
}

// schema is the part of JSON Schema that docs/output.schema.json uses.
type schema struct {
	Type       any               `json:"type"` // a name, or a list of them
	Enum       []string          `json:"enum"`
	Minimum    *float64          `json:"minimum"`
	Items      *schema           `json:"items"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Additional bool              `json:"additionalProperties"`

	Schema      string `json:"$schema"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// readSchema refuses keywords that check does not know: they would be skipped.
func readSchema(t *testing.T) schema {
	t.Helper()
	b, err := os.ReadFile("../../docs/output.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var s schema
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// check returns what of a value is not as the schema has it.
func (s schema) check(at string, v any) (faults []string) {
	fault := func(format string, a ...any) { faults = append(faults, at+": "+fmt.Sprintf(format, a...)) }
	if types := s.types(); !slices.ContainsFunc(types, func(name string) bool { return is(name, v) }) {
		fault("%v is none of %v", v, types)
		return faults
	}
	switch v := v.(type) {
	case string:
		if s.Enum != nil && !slices.Contains(s.Enum, v) {
			fault("%q is none of %v", v, s.Enum)
		}
	case float64:
		if s.Minimum != nil && v < *s.Minimum {
			fault("%v is below %v", v, *s.Minimum)
		}
	case []any:
		for i, item := range v {
			faults = append(faults, s.Items.check(fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	case map[string]any:
		for _, key := range s.Required {
			if _, ok := v[key]; !ok {
				fault("%s is missing", key)
			}
		}
		for key, value := range v {
			if property, ok := s.Properties[key]; ok {
				faults = append(faults, property.check(at+"."+key, value)...)
			} else if !s.Additional {
				fault("%s is not allowed", key)
			}
		}
	}
	return faults
}

func (s schema) types() []string {
	if name, ok := s.Type.(string); ok {
		return []string{name}
	}
	var names []string
	list, _ := s.Type.([]any)
	for _, name := range list {
		names = append(names, fmt.Sprint(name))
	}
	return names
}

func is(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case bool:
		return name == "boolean"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

func TestJSONFollowsTheSchema(t *testing.T) {
	s := readSchema(t)
	for name, out := range map[string]stats.Output{"example": example(), "nothing": stats.Summarise(lab.Plan{}, nil, nil)} {
		var v any
		if err := json.Unmarshal(jsonOf(t, out), &v); err != nil {
			t.Fatal(err)
		}
		if faults := s.check(name, v); len(faults) > 0 {
			t.Error(strings.Join(faults, "\n"))
		}
	}
}

// The check itself finds what is wrong.
func TestSchemaCheckFindsFaults(t *testing.T) {
	s := readSchema(t)
	good := string(jsonOf(t, example()))
	for _, change := range [][2]string{
		{`"seed": 1`, `"seed": -1`},
		{`"seed": 1`, `"seed": 1.5`},
		{`"seed": 1`, `"sed": 1`},
		{`"warnings": [`, `"warnings": null, "x": [`},
		{`"median": null`, `"medan": null`},
		{`"median": null`, `"median": "120"`},
		{`"protocol": "h3"`, `"protocol": "h4"`},
		{`"censored"`, `"sensored"`},
		{`"stalled": 1`, `"stall": 1`},
		{`"no-verdict"`, `"won"`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		var v any
		if err := json.Unmarshal([]byte(bad), &v); err != nil || bad == good {
			t.Fatalf("%q: %v", change, err)
		}
		if len(s.check("bad", v)) == 0 {
			t.Errorf("%s instead of %s was not noticed", change[1], change[0])
		}
	}
}

// Schema and code name the same fields, flags and outcomes.
func TestSchemaIsComplete(t *testing.T) {
	s := readSchema(t)
	result, verdict := *s.Properties["results"].Items, *s.Properties["verdicts"].Items
	for _, tt := range []struct {
		of  any
		got []string
	}{
		{stats.Output{}, s.Required}, {stats.Result{}, result.Required}, {stats.Verdict{}, verdict.Required},
	} {
		if diff := cmp.Diff(fields(tt.of), tt.got); diff != "" {
			t.Errorf("%T (-code +schema):\n%s", tt.of, diff)
		}
	}
	var flags, outcomes []string
	for _, f := range stats.Flags() {
		flags = append(flags, string(f))
	}
	if diff := cmp.Diff(flags, result.Properties["flags"].Items.Enum); diff != "" {
		t.Errorf("flags (-code +schema):\n%s", diff)
	}
	for _, o := range lab.Outcomes() {
		outcomes = append(outcomes, string(o))
		if _, ok := result.Properties["outcomes"].Properties[string(o)]; !ok {
			t.Errorf("the schema does not know the outcome %s", o)
		}
	}
	if len(outcomes) != len(result.Properties["outcomes"].Properties) {
		t.Errorf("the schema knows more outcomes than %v", outcomes)
	}
}

// docs/format.md names every field, flag and outcome.
func TestFormatPageIsComplete(t *testing.T) {
	page, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Concat(fields(stats.Output{}), fields(stats.Result{}), fields(stats.Verdict{}))
	for _, f := range stats.Flags() {
		words = append(words, string(f))
	}
	for _, o := range lab.Outcomes() {
		words = append(words, string(o))
	}
	for _, m := range lab.Metrics() {
		words = append(words, m.Metric)
	}
	for _, w := range words {
		if !strings.Contains(string(page), "`"+w+"`") {
			t.Errorf("the page does not name %s", w)
		}
	}
}

// fields returns the JSON names of a struct's fields, in order.
func fields(v any) (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
		if tag := f.Tag.Get("json"); tag != "-" {
			names = append(names, tag)
		}
	}
	return names
}
