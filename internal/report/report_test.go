package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func ptr[T any](v T) *T { return &v }

func path(name string, rtt time.Duration, loss float64) lab.Path {
	way := lab.Way{Delay: rtt / 2, Rate: 100e6, Loss: lab.Loss{Share: loss}}
	return lab.Path{Name: name, Up: way, Down: way}
}

var (
	wired            = path("wired", 40*time.Millisecond, 0)
	intercontinental = path("intercontinental", 150*time.Millisecond, 0)
	edge             = path("cell-edge", 100*time.Millisecond, 0.05)

	cold = lab.Load{Name: "cold", Objects: 1, Size: 100}
	big  = lab.Load{Name: "big", Objects: 1, Size: 3e6}
)

// study gathers the records of an example.
type study struct{ records []lab.Record }

// add adds one run for each given time; a time below zero is a stalled run.
func (s *study) add(p lab.Path, l lab.Load, site lab.SiteName, protocol lab.Protocol, seconds ...float64) {
	s.addStack(lab.DefaultStack, p, l, site, protocol, seconds...)
}

func (s *study) addStack(stack lab.Stack, p lab.Path, l lab.Load, site lab.SiteName, protocol lab.Protocol, seconds ...float64) {
	c := lab.Cell{Path: p, Load: l, Stack: stack, Site: site, Protocol: protocol}
	for i, v := range seconds {
		n := l.For(protocol)
		r := lab.Record{
			Format: 1, Attempt: 1, Outcome: lab.OK, Connections: &n, Wire: lab.Wire{Connections: n},
			Run: lab.Run{ID: lab.RunID(c, i+1), Cell: c, Rep: i + 1, Timeout: 2 * time.Minute},
			Samples: []lab.Sample{
				{Metric: lab.Duration, Unit: "s", Value: ptr(v)}, {Metric: lab.RoundTrips, Unit: "1"},
			},
			Server: lab.Side{Senders: []lab.Sender{{Transport: "tcp", CC: stack.CC, InitialWindow: stack.InitCwnd, Source: "socket"}}},
		}
		if protocol == lab.H3 {
			r.Server.Senders = []lab.Sender{{Transport: "quic", CC: "reno", InitialWindow: 32, Source: "declared"}}
		}
		if v < 0 {
			r.Outcome, r.Reason = lab.Stalled, "the wire was silent for 108.4 s with 1.23 MB owed"
		}
		if site == lab.Kernel {
			r.Lateness = lab.Lateness{P50: 28e-6, P99: 540e-6, Max: 4.8e-3}
		}
		s.records = append(s.records, r)
	}
}

func (s *study) output(name string) stats.Output {
	return stats.Summarise(lab.Plan{Samewire: "0.1.0", Study: name, Seed: 1}, s.records, nil)
}

func example() stats.Output {
	var s study
	times := map[lab.Protocol][2]float64{lab.H1: {0.121, 0.1225}, lab.H2: {0.121, 0.123}, lab.H3: {0.081, 0.0853}}
	for p, v := range times {
		s.add(wired, cold, lab.Virtual, p, v[0], v[0], v[0])
		s.add(wired, cold, lab.Kernel, p, v[1], v[1]+0.001, v[1]-0.001)
		s.add(intercontinental, cold, lab.Virtual, p, v[0]*3.72, v[0]*3.72, v[0]*3.72)
		s.add(intercontinental, cold, lab.Kernel, p, v[1]*3.8, v[1]*3.9, v[1]*3.7)
	}
	s.add(edge, big, lab.Virtual, lab.H1, 56.3, 53.2, -1)
	s.add(edge, big, lab.Virtual, lab.H2, 59.7, 58.1, 61.4)
	s.add(edge, big, lab.Virtual, lab.H3, 33.4, 30.1, 35.2)
	s.add(edge, big, lab.Kernel, lab.H1, 50.3, 48.9, 51.2)
	s.add(edge, big, lab.Kernel, lab.H2, 51.4, 53.1, -1)
	s.add(edge, big, lab.Kernel, lab.H3, 19.4, -1, -1)
	for i := range s.records {
		r := &s.records[i]
		if r.Run.Cell.Site == lab.Kernel && r.Run.Cell.Protocol == lab.H3 {
			r.Client.UDPReceiveBuffer = ptr(212992)
		}
		if r.Run.Cell.Path == wired && r.Run.Cell.Protocol == lab.H1 && r.Run.Rep == 2 {
			r.Wire.Connections = 2
		}
		if r.Run.Cell.Path == intercontinental && r.Run.Cell.Site == lab.Kernel && r.Run.Rep == 3 && r.Run.Cell.Protocol == lab.H2 {
			late := *r
			late.Run.Lateness, late.Lateness.P99 = 5*time.Millisecond, 0.0071
			late.Outcome, late.Reason = lab.Invalid, "packets were 7.1 ms late at the 99th percentile, the limit is 5 ms"
			r.Attempt = 2
			s.records = append(s.records, late)
		}
	}
	return s.output("example")
}

func text(t *testing.T, out stats.Output, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Text(&b, out, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	note := "the process site was not asked for, so that this sentence of the caller stands here and is long enough to be wrapped"
	golden(t, "example.txt", text(t, example(), Options{Notes: []string{note}}))
	golden(t, "example-color.txt", text(t, example(), Options{Color: true}))
	golden(t, "example-60.txt", text(t, example(), Options{Width: 60}))
}

// One site only: no pairs, no differences.
func TestTextOneSite(t *testing.T) {
	var s study
	for _, p := range lab.Protocols() {
		s.add(wired, cold, lab.Virtual, p, 0.121)
		s.add(path("a-rather-long-name-of-a-path-that-takes-a-line-of-its-own", time.Millisecond, 0), cold, lab.Virtual, p, 0.003, -1, -1)
	}
	golden(t, "one-site.txt", text(t, s.output("one"), Options{}))
}

// That QUIC's Reno is not TCP's is said where the two are compared, and there only.
func TestRenoIsNotEqualToAnother(t *testing.T) {
	reno := lab.DefaultStack
	reno.CC, reno.InitCwnd = "reno", 32
	for _, c := range []struct {
		path      lab.Path
		protocols []lab.Protocol
		said      bool
	}{
		{edge, lab.Protocols(), true},
		{wired, lab.Protocols(), false}, // nothing is lost
		{edge, []lab.Protocol{lab.H3}, false},
		{edge, []lab.Protocol{lab.H1, lab.H2}, false},
	} {
		var s study
		for _, p := range c.protocols {
			s.addStack(reno, c.path, cold, lab.Virtual, p, 0.121)
		}
		got := text(t, s.output("reno"), Options{})
		if said := strings.Contains(got, "Reno is not the same"); said != c.said {
			t.Errorf("%s, %v: said %v, want %v:\n%s", c.path.Name, c.protocols, said, c.said, got)
		}
	}
}

// Several stacks, three sites, a protocol that was not measured everywhere, and
// an equalised study in which one row has two initial windows.
func TestTextStacks(t *testing.T) {
	var s study
	reno := lab.DefaultStack
	reno.CC, reno.InitCwnd = "reno", 32
	reno10 := reno
	reno10.InitCwnd = 10
	for _, p := range lab.Protocols() {
		s.addStack(reno10, wired, cold, lab.Virtual, p, 0.121)
		s.addStack(reno, wired, cold, lab.Kernel, p, 0.125)
		if p != lab.H2 {
			s.addStack(lab.DefaultStack, wired, cold, lab.Virtual, p, 0.121)
			s.addStack(lab.DefaultStack, wired, cold, lab.Process, p, 0.140)
		}
	}
	golden(t, "stacks.txt", text(t, s.output("stacks"), Options{}))
}

func TestTextOfNothing(t *testing.T) {
	golden(t, "nothing.txt", text(t, stats.Summarise(lab.Plan{Study: "none", Seed: 3, Runs: make([]lab.Run, 4)}, nil, nil), Options{}))
}

// The table of three protocols on two sites fits into 100 columns, even when
// every cell has its worst to say.
func TestTextFits(t *testing.T) {
	var s study
	for _, p := range lab.Protocols() {
		for _, site := range []lab.SiteName{lab.Virtual, lab.Kernel} {
			for _, l := range []lab.Load{cold, big} {
				s.add(intercontinental, l, site, p, -1, -1, 56.3)
				s.add(path(strings.Repeat("x", 64), time.Second, 0.1), l, site, p, 56.3, 57, -1)
			}
		}
	}
	for _, l := range strings.Split(text(t, s.output("wide"), Options{}), "\n") {
		if width(l) > DefaultWidth {
			t.Errorf("%d columns: %s", width(l), l)
		}
	}
}

// Columns stand under each other: the bars of a section are in line.
func TestTextIsAligned(t *testing.T) {
	var bars []int
	for _, l := range strings.Split(text(t, example(), Options{}), "\n") {
		if !strings.HasPrefix(l, "  wired ") && !strings.HasPrefix(l, "  intercontinental ") {
			continue
		}
		var at []int
		for i, r := range []rune(l) {
			if r == '│' {
				at = append(at, i)
			}
		}
		if bars == nil {
			bars = at
		}
		if len(at) != 3 || !cmp.Equal(at, bars) {
			t.Errorf("bars at %v, in the first row at %v: %s", at, bars, l)
		}
	}
	if bars == nil {
		t.Error("no row was found")
	}
}

func TestSeconds(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0 ms", 0.00004: "0.0 ms", 0.0051: "5.1 ms", 0.00994: "9.9 ms", 0.00996: "10 ms", 0.301: "301 ms",
		0.9994: "999 ms", 0.9996: "1.00 s", 1.594: "1.59 s", 9.994: "9.99 s", 9.996: "10.0 s", 19.4: "19.4 s",
		99.96: "100 s", 120: "120 s", 0.08149: "81 ms",
	} {
		if got := seconds(v); got != want {
			t.Errorf("seconds(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, tt := range []struct {
		protocol, here *float64
		want           string
	}{
		{ptr(0.1), ptr(0.104), "+4.0 %"}, {ptr(0.1), ptr(0.096), "-4.0 %"}, {ptr(0.1), ptr(0.1), "+0.0 %"},
		{ptr(0.1), ptr(0.125), "+25 %"}, {ptr(0.1), ptr(5.0), "> +999 %"}, {ptr(0.0004), ptr(0.005), ""},
		{nil, ptr(0.1), ""}, {ptr(0.1), nil, ""},
	} {
		if got := percent(tt.protocol, tt.here); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrorsAreReported(t *testing.T) {
	if err := Text(brokenWriter{}, example(), Options{}); err == nil {
		t.Error("Text hid it")
	}
	if err := JSON(brokenWriter{}, example()); err == nil {
		t.Error("JSON hid it")
	}
}
