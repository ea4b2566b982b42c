package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseMahimahi(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []uint32
		mean Rate
	}{
		{"1\n", []uint32{1}, 12e6},
		{"1", []uint32{1}, 12e6},
		{"0\n0\n5\n5\n10\n", []uint32{0, 0, 5, 5, 10}, 6e6},
		{"3\r\n1000\r\n", []uint32{3, 1000}, 24e3},
		{"4294967295\n", []uint32{4294967295}, 1},
		{"007\n", []uint32{7}, 1714286},
	} {
		got, err := ParseMahimahi(tt.text)
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%q: %v, %v", tt.text, got, err)
			continue
		}
		if mean := MeanOpportunities(got); mean != tt.mean {
			t.Errorf("%q: a mean of %s, want %s", tt.text, mean, tt.mean)
		}
	}
}

func TestParseRateCSV(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		text string
		want []RateStep
		mean Rate
	}{
		{"0,10mbit\n", []RateStep{{0, 10e6}}, 10e6},
		{"0,1mbit\n1,3mbit\n3,7bit", []RateStep{{0, 1e6}, {s, 3e6}, {3 * s, 7}}, 2333333},
		{"# a comment\n\nseconds,rate\n0 , 1mbit\r\n\n# another\n 0.000000001,\t0bit\n2,0\n2.5,1.5Gbit\n", []RateStep{
			{0, 1e6}, {1, 0}, {2 * s, 0}, {2500 * time.Millisecond, 1.5e9},
		}, 1},
		{"0,0bit\n5,8mbit\n", []RateStep{{0, 0}, {5 * s, 8e6}}, 8e6},
		{"time (s),rate\n0.0,1kbit\n4294967,1000gbit\n", []RateStep{{0, 1e3}, {4294967 * s, 1e12}}, 1e3},
	} {
		got, err := ParseRateCSV(tt.text)
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%q: %v, %v", tt.text, got, err)
			continue
		}
		if mean := MeanRate(got); mean != tt.mean {
			t.Errorf("%q: a mean of %s, want %s", tt.text, mean, tt.mean)
		}
	}
}

func TestTraceErrors(t *testing.T) {
	for _, tt := range []struct {
		kind TraceKind
		text string
		want string
	}{
		{Mahimahi, "", "trace t: it is empty: want at least one line"},
		{Mahimahi, "1\n\n2\n", `trace t: line 2: "": want a time in ms, a whole number from 0 to 4294967295`},
		{Mahimahi, "1\n2.5\n", `trace t: line 2: "2.5": want a time in ms, a whole number from 0 to 4294967295`},
		{Mahimahi, "1\n-3\n", `trace t: line 2: "-3": want a time in ms, a whole number from 0 to 4294967295`},
		{Mahimahi, "4294967296", `trace t: line 1: "4294967296": want a time in ms, a whole number from 0 to 4294967295`},
		{Mahimahi, "5\n6\n4\n", "trace t: line 3: 4 ms is before the 6 ms of the line above: times must not fall"},
		{Mahimahi, "0\n0\n", "trace t: line 2: the last time is 0 ms, at which the trace would start again at once: it must be above 0"},
		{Mahimahi, strings.Repeat("1\n", MaxTraceLines+1), "trace t: 2000001 lines: a trace may have up to 2000000"},
		{Mahimahi, strings.Repeat("1234567890", MaxTraceBytes/10) + "1", "trace t: 16000001 bytes: a trace may have up to 16000000"},
		{Mahimahi, strings.Repeat("x", 50), `trace t: line 1: "` + strings.Repeat("x", 40) + `…": want a time in ms, a whole number from 0 to 4294967295`},
		{RateCSV, "", "trace t: it is empty: want at least one line"},
		{RateCSV, "# only\n\nseconds,rate\n", "trace t: no rate in it: want lines such as 0,10mbit"},
		{RateCSV, "0;1mbit\n", `trace t: line 1: "0;1mbit": want seconds and a rate, such as 1.5,10mbit`},
		{RateCSV, "0,1mbit,2\n", `trace t: line 1: "0,1mbit,2": want seconds and a rate, such as 1.5,10mbit`},
		{RateCSV, "0,1mbit\nseconds,rate\n", `trace t: line 2: time "seconds": want seconds from 0 to 4294967, such as 1.5`},
		{RateCSV, "0,1mbit\n1m3,1mbit\n", `trace t: line 2: time "1m3": want seconds from 0 to 4294967, such as 1.5`},
		{RateCSV, "0,1mbit\n-1,1mbit\n", `trace t: line 2: time "-1": want seconds from 0 to 4294967, such as 1.5`},
		{RateCSV, "0,1mbit\n4294968,1mbit\n", `trace t: line 2: time "4294968": want seconds from 0 to 4294967, such as 1.5`},
		{RateCSV, "0,1mbit\n,1mbit\n", `trace t: line 2: time "": want seconds from 0 to 4294967, such as 1.5`},
		{RateCSV, "x,1mbit\n", `trace t: line 1: time "x": want seconds from 0 to 4294967, such as 1.5`},
		{RateCSV, "0,1MB\n", `trace t: line 1: rate "1MB": unknown unit "MB"; want one of bit, kbit, mbit, gbit`},
		{RateCSV, "0,10\n", `trace t: line 1: rate "10": want a number and a unit (bit, kbit, mbit, gbit)`},
		{RateCSV, "0,unlimited\n", `trace t: line 1: rate "unlimited": want a number and a unit (bit, kbit, mbit, gbit)`},
		{RateCSV, "0,-1mbit\n", `trace t: line 1: rate "-1mbit": must be 0bit, or from 1bit to 1000gbit`},
		{RateCSV, "0,0.5bit\n", `trace t: line 1: rate "0.5bit": must be 0bit, or from 1bit to 1000gbit`},
		{RateCSV, "0,1001gbit\n", `trace t: line 1: rate "1001gbit": must be 0bit, or from 1bit to 1000gbit`},
		{RateCSV, "#\n0.5,1mbit\n", "trace t: line 2: the first time is 0.5 s: it must be 0"},
		{RateCSV, "0,1mbit\n2,2mbit\n\n2,3mbit\n", "trace t: line 4: 2 s is not after the 2 s before it: times must rise"},
		{RateCSV, "0,1mbit\n2,0bit\n# end\n", "trace t: line 2: the last rate is 0 and would stay for ever: it must be above 0"},
		{RateCSV, strings.Repeat("\n", MaxTraceLines+1), "trace t: 2000001 lines: a trace may have up to 2000000"},
		{"pcap", "0,1mbit\n", `trace t: unknown format "pcap"; want mahimahi or csv`},
	} {
		err := Trace{Name: "t", Kind: tt.kind, Data: tt.text}.Check()
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s of %.40q: %v, want %s", tt.kind, tt.text, err, tt.want)
		}
	}
}

// A mean is what the trace sends, divided by its time.
func TestTraceMean(t *testing.T) {
	for _, tt := range []struct {
		trace Trace
		want  Rate
	}{
		{Trace{Kind: Mahimahi, Data: "1\n2\n2\n4\n"}, 12e6},
		{Trace{Kind: RateCSV, Data: "0,1mbit\n1,5mbit\n2,1gbit\n"}, 3e6},
	} {
		if got, err := tt.trace.Mean(); got != tt.want || err != nil {
			t.Errorf("%v: %s, %v", tt.trace, got, err)
		}
	}
}

// Steps that are written as a trace are read back.
func TestRateCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []RateStep
		var text strings.Builder
		var from time.Duration
		for range rapid.IntRange(1, 20).Draw(t, "lines") {
			step := RateStep{from, Rate(rapid.Int64Range(0, int64(MaxRate)).Draw(t, "rate"))}
			want = append(want, step)
			from += time.Duration(rapid.Int64Range(1, 1e13).Draw(t, "pause"))
		}
		want[len(want)-1].Rate = max(want[len(want)-1].Rate, 1)
		for _, step := range want {
			text.WriteString(csvLine(step))
		}
		got, err := ParseRateCSV(text.String())
		if err != nil || !cmp.Equal(got, want) {
			t.Fatalf("%q: %v, %v, want %v", text.String(), got, err, want)
		}
	})
}

func csvLine(step RateStep) string {
	return fmt.Sprintf("%d.%09d,%dbit\n", step.From/time.Second, step.From%time.Second, step.Rate)
}

// What is read keeps the rules, and means are rates.
func FuzzParseMahimahi(f *testing.F) {
	for _, s := range []string{"1\n", "0\n0\n5\r\n", "4294967295", "", "\n", "2\n1\n", "1\n+2\n", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ms, err := ParseMahimahi(text)
		if err != nil {
			return
		}
		if len(ms) == 0 || !slices.IsSorted(ms) || ms[len(ms)-1] == 0 {
			t.Fatalf("%q: %v", text, ms)
		}
		if lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; len(ms) != lines {
			t.Fatalf("%q: %d times in %d lines", text, len(ms), lines)
		}
		if MeanOpportunities(ms) < 1 {
			t.Fatalf("%q: a mean of %d", text, MeanOpportunities(ms))
		}
	})
}

// What is read keeps the rules, and is read again as the same.
func FuzzParseRateCSV(f *testing.F) {
	for _, s := range []string{"0,1mbit\n", "# c\nseconds,rate\n0,0bit\n1.5,10gbit\n", "0,1mbit\r\n\n2,3Kbit", "", "0,0", ",", "a,b\na,b\n", "0,1bit\n.5,1bit"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := ParseRateCSV(text)
		if err != nil {
			return
		}
		var again strings.Builder
		for i, step := range steps {
			if step.Rate < 0 || step.Rate > MaxRate || i == 0 && step.From != 0 || i > 0 && step.From <= steps[i-1].From {
				t.Fatalf("%q: %v", text, steps)
			}
			again.WriteString(csvLine(step))
		}
		if mean := MeanRate(steps); mean < 1 || mean > MaxRate {
			t.Fatalf("%q: a mean of %d", text, mean)
		}
		if got, err := ParseRateCSV(again.String()); err != nil || !slices.Equal(got, steps) {
			t.Fatalf("%q: %v, and again %v (%v)", text, steps, got, err)
		}
	})
}
