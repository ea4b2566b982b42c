package story

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
)

// schema is the part of JSON Schema that docs/show.schema.json uses.
type schema struct {
	Type       any               `json:"type"` // a name, or a list of them
	Enum       []string          `json:"enum"`
	Items      *schema           `json:"items"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Additional bool              `json:"additionalProperties"`

	Schema      string `json:"$schema"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

func readSchema(t *testing.T) schema {
	t.Helper()
	b, err := os.ReadFile("../../docs/show.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields() // a keyword that check does not know would be skipped
	var s schema
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// check returns what of a value is not as the schema has it.
func (s schema) check(at string, v any) (faults []string) {
	if names := s.types(); !slices.ContainsFunc(names, func(name string) bool { return is(name, v) }) {
		return []string{fmt.Sprintf("%s: %v is none of %v", at, v, names)}
	}
	switch v := v.(type) {
	case string:
		if s.Enum != nil && !slices.Contains(s.Enum, v) {
			faults = append(faults, fmt.Sprintf("%s: %q is none of %v", at, v, s.Enum))
		}
	case []any:
		for i, item := range v {
			faults = append(faults, s.Items.check(fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	case map[string]any:
		for _, key := range s.Required {
			if _, ok := v[key]; !ok {
				faults = append(faults, at+"."+key+" is missing")
			}
		}
		for key, value := range v {
			if property, ok := s.Properties[key]; ok {
				faults = append(faults, property.check(at+"."+key, value)...)
			} else if !s.Additional {
				faults = append(faults, at+"."+key+" is not allowed")
			}
		}
	}
	return faults
}

func (s schema) types() (names []string) {
	if name, ok := s.Type.(string); ok {
		return []string{name}
	}
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
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

func TestJSONFollowsTheSchema(t *testing.T) {
	s := readSchema(t)
	for name, story := range stories() {
		var v any
		if err := json.Unmarshal([]byte(jsonOf(t, story)), &v); err != nil {
			t.Fatal(err)
		}
		if faults := s.check(name, v); len(faults) > 0 {
			t.Error(strings.Join(faults, "\n"))
		}
	}
}

// Schema and code name the same fields, and the check finds what is wrong.
func TestSchemaIsComplete(t *testing.T) {
	s := readSchema(t)
	packet := *s.Properties["packets"].Items
	quic := *packet.Properties["quic"].Items
	for _, tt := range []struct {
		of  any
		got schema
	}{
		{Output{}, s}, {Capture{}, s.Properties["capture"]}, {Connection{}, *s.Properties["connections"].Items}, {Packet{}, packet},
		{TCP{}, packet.Properties["tcp"]}, {Message{}, *packet.Properties["messages"].Items}, {QUIC{}, quic}, {Frame{}, *quic.Properties["frames"].Items},
	} {
		var all, always []string
		for i := range reflect.TypeOf(tt.of).NumField() {
			name, rest, _ := strings.Cut(reflect.TypeOf(tt.of).Field(i).Tag.Get("json"), ",")
			all = append(all, name)
			if rest == "" {
				always = append(always, name)
			}
		}
		if diff := cmp.Diff(always, tt.got.Required); diff != "" {
			t.Errorf("%T (-code +schema):\n%s", tt.of, diff)
		}
		if len(all) != len(tt.got.Properties) {
			t.Errorf("%T has %d fields, the schema %d", tt.of, len(all), len(tt.got.Properties))
		}
	}
	good := jsonOf(t, good())
	for _, change := range [][2]string{
		{`"attempt": 1`, `"attempt": 1.5`}, {`"attempt": 1`, `"atempt": 1`}, {"\"direction\": \"up\",\n      \"sent\"", "\"direction\": \"left\",\n      \"sent\""},
		{`"payload": 517`, `"payload": "517"`}, {`"early": false`, `"early": null`},
	} {
		var v any
		bad := strings.Replace(good, change[0], change[1], 1)
		if err := json.Unmarshal([]byte(bad), &v); err != nil || bad == good {
			t.Fatalf("%q: %v", change, err)
		}
		if len(s.check("bad", v)) == 0 {
			t.Errorf("%s instead of %s was not noticed", change[1], change[0])
		}
	}
}

// docs/show.md names every field.
func TestPageNamesEveryField(t *testing.T) {
	page, err := os.ReadFile("../../docs/show.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []any{Output{}, Capture{}, Connection{}, Packet{}, TCP{}, Message{}, QUIC{}, Frame{}} {
		for i := range reflect.TypeOf(of).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(of).Field(i).Tag.Get("json"), ",")
			if !bytes.Contains(page, []byte("`"+name+"`")) {
				t.Errorf("docs/show.md does not name %s of %T", name, of)
			}
		}
	}
}
