package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/gauge"
)

func value(v float64) *float64 { return &v }

// writeReport writes checks as link check --json does.
func writeReport(t *testing.T, name string, checks ...gauge.Check) string {
	t.Helper()
	b, err := json.Marshal(linkReport{Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCompare(t *testing.T) {
	delay := func(way string, ms float64, s gauge.State) gauge.Check {
		return gauge.Check{Name: "delay", Direction: way, Unit: "s", Asked: value(0.02), Measured: value(ms / 1e3), State: s}
	}
	goodput := gauge.Check{Name: "tcp-goodput", Direction: "up", Unit: "bit/s", Measured: value(3e6), State: gauge.Told}
	loss := gauge.Check{Name: "loss", Direction: "up", Unit: "1", Asked: value(0.01), Measured: value(0), State: gauge.Unchecked}
	a := writeReport(t, "a", delay("up", 20.1, gauge.Holds), delay("down", 25, gauge.Fails), loss)
	other := loss
	other.Asked, other.Measured, other.State = value(0.02), value(0.03), gauge.Holds
	b := writeReport(t, "b", delay("up", 20.2, gauge.Holds), delay("down", 20.2, gauge.Holds), other, goodput)

	var out, said strings.Builder
	status := run([]string{"link", "compare", "here=" + a, "there=" + b}, streams{strings.NewReader(""), &out, &said})
	want := `| check       | asked     | here                     | there             |
|-------------|-----------|--------------------------|-------------------|
| delay       | 20.000 ms | 20.100 ms / 25.000 ms *  | 20.200 ms         |
| loss        | 1 %       | –                        | 3 % (asked 2 %)   |
| tcp-goodput | –         | –                        | 3 Mbit/s          |
`
	if d := cmp.Diff(fold(want), fold(out.String())); status != 0 || d != "" {
		t.Errorf("status %d, said %q: %s", status, said.String(), d)
	}

	out.Reset()
	status = run([]string{"link", "compare", "x=" + b, "--checks", "tcp-goodput,nonesuch,delay"}, streams{strings.NewReader(""), &out, &said})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if status != 0 || len(lines) != 4 || !strings.HasPrefix(lines[2], "| tcp-goodput") || !strings.HasPrefix(lines[3], "| delay") {
		t.Errorf("status %d: %s", status, out.String())
	}
}

// fold leaves one blank of several, and no line under the head.
func fold(s string) string {
	var lines []string
	for _, l := range strings.Split(s, "\n") {
		lines = append(lines, strings.Join(strings.Fields(strings.ReplaceAll(l, "-", "")), " "))
	}
	return strings.Join(lines, "\n")
}

func TestCompareRefuses(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{"nofile", "a=", "=b", "a=/nonesuch", "a=" + bad} {
		var out, said strings.Builder
		if status := run([]string{"link", "compare", arg}, streams{strings.NewReader(""), &out, &said}); status != exitUsage {
			t.Errorf("%s: status %d, said %q", arg, status, said.String())
		}
	}
}
