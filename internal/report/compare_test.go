package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// scattered is n runs around a middle, in seconds.
func scattered(middle float64, n int) (out []float64) {
	for i := range n {
		out = append(out, middle*(1+0.002*float64((i*7)%n-n/2)))
	}
	return out
}

// before and after are two folders: h1 became slower in one cell, fails in
// another, and h3 is not comparable with itself on an untrusted path.
func before() stats.Measured {
	s := study{}
	s.add(wired, cold, lab.Virtual, lab.H1, 0.121)
	s.add(wired, cold, lab.Virtual, lab.H3, 0.081)
	s.add(wired, big, lab.Kernel, lab.H1, scattered(0.5, 10)...)
	s.add(wired, big, lab.Kernel, lab.H2, scattered(0.4, 10)...)
	s.add(edge, big, lab.Kernel, lab.H1, scattered(1.5, 10)...)
	s.add(edge, big, lab.Kernel, lab.H2, scattered(1.2, 3)...)
	return measured("base", s.records)
}

func after() stats.Measured {
	s := study{}
	s.add(wired, cold, lab.Virtual, lab.H1, 0.121)
	s.add(wired, cold, lab.Virtual, lab.H3, 0.091)
	s.add(wired, big, lab.Kernel, lab.H1, scattered(0.55, 10)...)
	s.add(wired, big, lab.Kernel, lab.H2, scattered(0.42, 10)...)
	s.add(edge, big, lab.Kernel, lab.H1, append(scattered(1.5, 8), -1, -1)...)
	s.add(edge, big, lab.Kernel, lab.H2, scattered(1.6, 3)...)
	s.add(edge, cold, lab.Kernel, lab.H2, 1)
	return measured("head", s.records)
}

func measured(name string, records []lab.Record) stats.Measured {
	return stats.Measured{Name: name, Plan: lab.Plan{Format: 1, Samewire: "0.1.0", Study: "gate", Seed: 1}, Records: records, Machine: stats.Machine{CPU: "a"}}
}

func compared(t testing.TB, old, fresh stats.Measured, thresholds ...string) stats.Changes {
	t.Helper()
	var list []stats.Threshold
	for _, text := range thresholds {
		threshold, err := stats.ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, threshold)
	}
	c, err := stats.Compare(old, fresh, list, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var gate = []string{"median +5%", "failures +0", "worst +20%"}

func written(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompareGolden(t *testing.T) {
	c := compared(t, before(), after(), gate...)
	golden(t, "compare.txt", written(t, func(w io.Writer) error { return CompareText(w, c, Options{}) }))
	golden(t, "compare.md", written(t, func(w io.Writer) error { return CompareMarkdown(w, c) }))
	golden(t, "compare.json", written(t, func(w io.Writer) error { return CompareJSON(w, c) }))
	golden(t, "compare.xml", written(t, func(w io.Writer) error { return CompareJUnit(w, c) }))
}

func TestCompareSummary(t *testing.T) {
	for _, c := range []struct {
		changes stats.Changes
		want    string
	}{
		{compared(t, before(), before()), "base → base: 6 cells compared: 5 no difference shown, 1 no verdict"},
		{compared(t, before(), before(), gate...), "base → base: 6 cells compared: 5 no difference shown, 1 no verdict; no threshold was crossed"},
		{compared(t, before(), after(), "failures > 0"), "base → head: 6 cells compared: 3 worse, 2 no difference shown, 1 no verdict; 1 cell in one folder only; 1 crossing of thresholds"},
	} {
		if got := CompareSummary(c.changes); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
}

// The first line of the Markdown is the whole answer, and everything long is folded.
func TestCompareMarkdownIsShort(t *testing.T) {
	s := study{}
	for i := range 3000 {
		s.add(path(fmt.Sprint("p", i), 1e6, 0), cold, lab.Virtual, lab.H1, 0.1)
	}
	old := measured("base", s.records)
	text := written(t, func(w io.Writer) error { return CompareMarkdown(w, compared(t, old, old, "median +5%")) })
	if len(text) > 65_536 { // GitHub's limit
		t.Errorf("%d bytes", len(text))
	}
	first, rest, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "**✓ samewire base → base: 3000 cells compared") || !strings.Contains(rest, "and 2850 more") {
		t.Errorf("%.300s", text)
	}
}

const hostile = "<script>&\"']]>\x00\x1b[31m|`*\u202e\xff"

func hostileChanges(t testing.TB) stats.Changes {
	s, again := study{}, study{}
	stack := lab.DefaultStack
	stack.Server = hostile
	s.addStack(stack, path(hostile, 1e6, 0), lab.Load{Name: hostile, Objects: 1, Size: 1}, lab.Virtual, lab.H1, 1)
	again.addStack(stack, path(hostile, 1e6, 0), lab.Load{Name: hostile, Objects: 1, Size: 1}, lab.Virtual, lab.H1, 2, -1)
	old, fresh := measured(hostile, s.records), measured(hostile, again.records)
	old.Plan.Study, fresh.Plan.Study = hostile, hostile
	old.Machine.Revision = hostile
	return compared(t, old, fresh, "failures > 0", "median +5%")
}

// Names come from elsewhere: the XML stays well-formed, and the Markdown has none of
// their tags.
func TestCompareHostileNames(t *testing.T) {
	c := hostileChanges(t)
	text := written(t, func(w io.Writer) error { return CompareJUnit(w, c) })
	d := xml.NewDecoder(strings.NewReader(text))
	cases := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if start, ok := token.(xml.StartElement); ok {
			if start.Name.Local == "script" {
				t.Error("a name became an element")
			}
			if start.Name.Local == "testcase" {
				cases++
			}
		}
	}
	if cases != 1 {
		t.Errorf("%d cases", cases)
	}
	md := written(t, func(w io.Writer) error { return CompareMarkdown(w, c) })
	if strings.Contains(md, "<script") || strings.Contains(md, "\x1b") || strings.Contains(md, "\x00") {
		t.Errorf("%q", md)
	}
	for _, text := range []string{
		written(t, func(w io.Writer) error { return CompareText(w, c, Options{}) }),
		written(t, func(w io.Writer) error { return CompareText(w, c, Options{Width: 1}) }),
	} {
		if strings.ContainsAny(text, "\x1b\x00") {
			t.Errorf("%q", text)
		}
	}
}

// The counts of the XML are those of its cases; a cell is a case, those in one
// folder too.
func TestCompareJUnitCounts(t *testing.T) {
	c := compared(t, before(), after(), gate...)
	var got junitSuites
	if err := xml.Unmarshal([]byte(written(t, func(w io.Writer) error { return CompareJUnit(w, c) })), &got); err != nil {
		t.Fatal(err)
	}
	failed, skipped := 0, 0
	for _, k := range got.Suites[0].Cases {
		if k.Failure != nil {
			failed++
		}
		if k.Skipped != nil {
			skipped++
		}
	}
	if got.Tests != 7 || got.Failures != failed || got.Skipped != skipped || failed != 3 || skipped != 2 {
		t.Errorf("%d cases, %d (%d) failed, %d (%d) skipped", got.Tests, got.Failures, failed, got.Skipped, skipped)
	}
}

func compareSchema(t *testing.T) schema {
	t.Helper()
	b, err := os.ReadFile("../../docs/compare.schema.json")
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

func TestCompareJSONFollowsTheSchema(t *testing.T) {
	s := compareSchema(t)
	for name, c := range map[string]stats.Changes{
		"example": compared(t, before(), after(), gate...), "identical": compared(t, before(), before()), "hostile": hostileChanges(t),
	} {
		text := written(t, func(w io.Writer) error { return CompareJSON(w, c) })
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if faults := s.check(name, v); len(faults) > 0 {
			t.Error(strings.Join(faults, "\n"))
		}
	}
	for _, change := range [][2]string{{`"crossed": true`, `"crossed": 1`}, {`"worse"`, `"bad"`}, {`"only_old": [`, `"only_old": null, "x": [`}} {
		good := written(t, func(w io.Writer) error { return CompareJSON(w, compared(t, before(), after(), gate...)) })
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

// Code, schema and page name the same fields.
func TestCompareSchemaIsComplete(t *testing.T) {
	s := compareSchema(t)
	page, err := os.ReadFile("../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	cells := s.Properties["cells"].Items
	for _, tt := range []struct {
		of  any
		got schema
	}{
		{stats.Changes{}, s}, {stats.Origin{}, s.Properties["old"]}, {stats.Origin{}, s.Properties["new"]},
		{stats.CellName{}, *s.Properties["only_old"].Items}, {stats.CellName{}, *s.Properties["only_new"].Items},
		{stats.Change{}, *cells}, {stats.MetricChange{}, *cells.Properties["metrics"].Items},
		{stats.Crossing{}, *cells.Properties["crossings"].Items}, {stats.ThresholdCount{}, *s.Properties["thresholds"].Items},
	} {
		names := slices.DeleteFunc(fields(tt.of), func(n string) bool { return n == "" }) // an embedded struct
		if diff := cmp.Diff(names, tt.got.Required); diff != "" {
			t.Errorf("%T (-code +schema):\n%s", tt.of, diff)
		}
		for _, n := range names {
			if !strings.Contains(string(page), "`"+n+"`") {
				t.Errorf("the page does not name %s", n)
			}
			if _, ok := tt.got.Properties[n]; !ok {
				t.Errorf("%T: the schema has no property %s", tt.of, n)
			}
		}
	}
}

func TestCompareWriteErrorsAreReported(t *testing.T) {
	c := compared(t, before(), after())
	for name, err := range map[string]error{
		"text": CompareText(brokenWriter{}, c, Options{}), "md": CompareMarkdown(brokenWriter{}, c),
		"json": CompareJSON(brokenWriter{}, c), "junit": CompareJUnit(brokenWriter{}, c),
	} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
