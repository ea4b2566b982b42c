package stats

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
)

func TestParseThreshold(t *testing.T) {
	for _, c := range []struct {
		text string
		want Threshold
	}{
		{"median +5%", Threshold{Stat: OfMedian, Metric: lab.Duration, Percent: 5}},
		{"ttfb median +5%", Threshold{Stat: OfMedian, Metric: lab.TTFB, Percent: 5}},
		{"goodput median -5%", Threshold{Stat: OfMedian, Metric: lab.Goodput, Percent: 5, Fall: true}},
		{"worst +20%", Threshold{Stat: OfWorst, Metric: lab.Duration, Percent: 20}},
		{"median+2.5%", Threshold{Stat: OfMedian, Metric: lab.Duration, Percent: 2.5}},
		{" median \t+ .5 % ", Threshold{Stat: OfMedian, Metric: lab.Duration, Percent: 0.5}},
		{"median +0%", Threshold{Stat: OfMedian, Metric: lab.Duration}},
		{"failures > 0", Threshold{Stat: OfFailures, Total: true}},
		{"failures>3", Threshold{Stat: OfFailures, Total: true, Count: 3}},
		{"failures +0", Threshold{Stat: OfFailures}},
		{"failures + 2", Threshold{Stat: OfFailures, Count: 2}},
	} {
		got, err := ParseThreshold(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		c.want.Text = strings.Join(strings.Fields(c.text), " ")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestParseThresholdRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "at character 1: want a statistic",
		"  ":                                "at character 3: want a statistic",
		"+5%":                               "at character 1: want a statistic",
		"medain +5%":                        `at character 1: "medain" is neither a statistic (median, worst, failures) nor a metric (duration, ttfb,`,
		"ttfb":                              "at character 5: the end is not a statistic of a metric",
		"ttfb +5%":                          `at character 6: "+5%" is not a statistic of a metric: want median or worst`,
		"ttfb failures > 0":                 `"failures" is not a statistic of a metric`,
		"median":                            "at character 7: the end: want +N% or -N%",
		"median 5%":                         `at character 8: "5%": want +N% or -N%`,
		"median > 5%":                       `at character 8: "> 5%"`,
		"median +5":                         `"+5" has no % at its end`,
		"median +x%":                        `at character 9: "x" is not a decimal number`,
		"median +1e3%":                      `"1e3" is not a decimal number`,
		"median ++5%":                       `"+5" is not a decimal number`,
		"median +%":                         `"" is not a decimal number`,
		"median +1.2.3%":                    `"1.2.3" is not a decimal number`,
		"median +5% or so":                  "has no % at its end",
		"median -100%":                      "must be below 100",
		"median +99999999%":                 "at most 1000000%",
		"failures":                          "at character 9: the end: want > N or +N",
		"failures > 0.5":                    `"0.5" is not a number of runs`,
		"failures > -1":                     `"-1" is not a number of runs`,
		"failures +5%":                      `"5%" is not a number of runs`,
		"failures - 1":                      "want > N or +N",
		"failures > 9999999999999999999999": "is not a number of runs up to 1000000000",
		strings.Repeat("a", 300):            "it is longer than 200 bytes",
	} {
		got, err := ParseThreshold(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

func TestThresholdDirection(t *testing.T) {
	for text, want := range map[string]struct {
		worse bool
		most  float64
	}{
		"median +25%":         {true, math.Log(1.25)},
		"median -20%":         {false, math.Log(1.25)},
		"goodput median -20%": {true, math.Log(1.25)},
		"goodput worst +25%":  {false, math.Log(1.25)},
		"median -0%":          {false, 0},
	} {
		threshold, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		worse, most := threshold.worsening()
		if worse != want.worse || math.Abs(most-want.most) > 1e-12 {
			t.Errorf("%s: worse %v by %g; want %v", text, worse, most, want)
		}
	}
}

// What is accepted is within its ranges, and its text is accepted again with the
// same meaning; what is refused says where and what is allowed.
func FuzzParseThreshold(f *testing.F) {
	for _, s := range []string{
		"median +5%", "ttfb median +5%", "failures > 0", "failures +0", "worst +20%", "goodput median -5%",
		"cpu_server worst - 0.5 %", "median\n+5%", "median +5", "failures >", "median +\xff%", "\u00a0median +1%", "median + 1%",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseThreshold(text)
		if err != nil {
			if !strings.Contains(err.Error(), "at character ") || len(err.Error()) > 1000 {
				t.Fatal(err)
			}
			return
		}
		if got.Percent < 0 || got.Percent > mostPercent || math.IsNaN(got.Percent) || got.Fall && got.Percent >= 100 {
			t.Fatalf("%q: %+v", text, got)
		}
		if got.Count < 0 || got.Count > mostFailures || (got.Stat == OfFailures) != (got.Metric == "") {
			t.Fatalf("%q: %+v", text, got)
		}
		again, err := ParseThreshold(got.Text)
		if err != nil || again != got {
			t.Fatalf("%q: %+v, then %q: %+v, %v", text, got, got.Text, again, err)
		}
	})
}
