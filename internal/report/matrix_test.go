package report

import (
	"math"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

func verdict(what string, ratio *float64, changes ...func(*stats.Verdict)) stats.Verdict {
	v := stats.Verdict{
		Path: "wired", Load: "cold", Site: lab.Kernel, Server: lab.Embedded, Client: lab.Embedded, TLS: "1.3", CC: "cubic", InitCwnd: 10,
		A: lab.H2, B: lab.H3, Metric: lab.Duration, Ratio: ratio, Verdict: what, Why: "because of " + what, Blocks: 10,
	}
	for _, change := range changes {
		change(&v)
	}
	return v
}

// The mark is of the later protocol against the earlier one.
func TestMark(t *testing.T) {
	for _, tt := range []struct {
		v    stats.Verdict
		want string
	}{
		{verdict(stats.Slower, ptr(1.5)), "−33 %"}, // h2 takes half as much again: h3 takes a third less
		{verdict(stats.Faster, ptr(0.5)), "+100 %"},
		{verdict(stats.Faster, ptr(0.99)), "+1.0 %"},
		{verdict(stats.Faster, ptr(0.05)), "× 20"},
		{verdict(stats.Slower, nil), "h3 alone"},
		{verdict(stats.Faster, ptr(0.0)), "h2 alone"},
		{verdict(stats.Slower, ptr(math.Inf(1))), "h3 alone"},
		{verdict(stats.NoDifference, ptr(1.01)), "~"},
		{verdict(stats.NoDifference, ptr(1.01), func(v *stats.Verdict) { v.Smallest = ptr(1.042) }), "~ (5 %)"},
		{verdict(stats.NoVerdict, nil), "?"},
		{verdict(stats.NoVerdict, nil, func(v *stats.Verdict) { v.Needed = ptr(13) }), "? (13)"},
		{verdict(stats.NotComparable, ptr(2.0)), "≠"},
	} {
		if got := mark(tt.v); got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.v.Verdict, tt.v.Ratio, got, tt.want)
		}
	}
}

// The terms are signed, and what they leave is said.
func TestExplain(t *testing.T) {
	terms := []stats.Term{
		{What: "handshake", Seconds: 0.151, Source: stats.FromTheory},
		{What: "initial window 10 against 32", Seconds: 0.150, Source: stats.FromMeasurement},
		{What: "pacing", Seconds: -0.030, Source: stats.FromTheory},
	}
	v := verdict(stats.Slower, ptr(1.56), func(v *stats.Verdict) { v.Difference, v.Terms = ptr(0.271), terms })
	const want = "h2 − h3 = 271 ms: +151 ms handshake, +150 ms initial window 10 against 32 (measured), −30 ms pacing"
	if got := Explain(v); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	v.Difference = ptr(0.291)
	if got := Explain(v); !strings.HasSuffix(got, "−30 ms pacing, +20 ms not explained") {
		t.Error(got)
	}
	v.Difference = ptr(-0.271) // as if it were the other way round
	if got := Explain(v); !strings.HasPrefix(got, "h3 − h2 = 271 ms: −151 ms handshake") || !strings.Contains(got, "+542 ms not explained") {
		t.Error(got)
	}
}

// What has one reason is said once, with its places.
func TestReasons(t *testing.T) {
	other := func(v *stats.Verdict) { v.Path = "lte" }
	got := reasons([]stats.Verdict{
		verdict(stats.NotComparable, nil), verdict(stats.NotComparable, nil, other), verdict(stats.Faster, ptr(0.5)),
		verdict(stats.Slower, nil, func(v *stats.Verdict) { v.Metric, v.Why = "success", "3 of 9 against 9 of 9" }),
	})
	want := []string{
		"wired, cold, kernel: 3 of 9 against 9 of 9",
		"≠ because of not-comparable: wired/cold kernel h3 : h2, lte/cold kernel h3 : h2",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
}

func TestMarkdown(t *testing.T) {
	out := example()
	out.Verdicts = []stats.Verdict{verdict(stats.Slower, ptr(1.5)), verdict(stats.NoVerdict, nil, func(v *stats.Verdict) { v.B = lab.H1 })}
	out.Warnings = append(out.Warnings, "a | b <script>alert(1)</script> `x` @someone\n# no heading")
	var b strings.Builder
	if err := Markdown(&b, out, Options{Question: "Is h3 faster?"}); err != nil {
		t.Fatal(err)
	}
	golden(t, "example.md", b.String())
	for _, bad := range []string{"<script>", "a | b", "`x`", "\n# no"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("%q is in the text", bad)
		}
	}
	for _, l := range strings.Split(b.String(), "\n") {
		if strings.HasPrefix(l, "|") && strings.Count(strings.ReplaceAll(l, `\|`, ""), "|") < 5 {
			t.Errorf("a row with too few columns: %s", l)
		}
	}
}
