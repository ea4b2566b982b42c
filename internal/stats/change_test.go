package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

// measured is a folder of n runs of every cell, each taking middle with a scatter
// of some percent, and an A/A arm of the first.
func measured(name string, seed int64, n int, cells map[lab.Cell]float64) Measured {
	random := rand.New(rand.NewSource(seed))
	m := Measured{Name: name, Plan: plan, Machine: Machine{CPU: "one"}}
	var order []lab.Cell
	for c := range cells {
		order = append(order, c)
	}
	slices.SortFunc(order, compareCells)
	for i, c := range order {
		arms := []lab.Cell{c}
		if i == 0 {
			c.Arm = lab.ArmAA
			arms = append(arms, c)
		}
		for _, arm := range arms {
			for rep := range n {
				m.Records = append(m.Records, record(arm, rep+1, cells[order[i]]*(1+0.01*random.NormFloat64())))
			}
		}
	}
	return m
}

func compare(t *testing.T, old, fresh Measured, thresholds ...string) Changes {
	t.Helper()
	return compareStrictly(t, false, old, fresh, thresholds...)
}

func compareStrictly(t *testing.T, strict bool, old, fresh Measured, thresholds ...string) Changes {
	t.Helper()
	var parsed []Threshold
	for _, text := range thresholds {
		threshold, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, threshold)
	}
	c, err := Compare(old, fresh, parsed, strict)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c Change) metric(t *testing.T, name string) MetricChange {
	t.Helper()
	for _, m := range c.Metrics {
		if m.Metric == name {
			return m
		}
	}
	t.Fatalf("%s has no %s", c.CellName, name)
	return MetricChange{}
}

func states(c Changes) (out []string) {
	for _, cell := range c.Cells {
		for _, x := range cell.Crossings {
			out = append(out, fmt.Sprintf("%s %s %s", cell.Protocol, x.Threshold, x.State))
		}
	}
	return out
}

var bothTCP = map[lab.Cell]float64{cell(lab.H1): 1, cell(lab.H2): 2}

func TestIdenticalFoldersDoNotDiffer(t *testing.T) {
	old := measured("a", 1, 10, bothTCP)
	got := compare(t, old, old, "median +0%", "worst +0%", "failures +0", "goodput median -0%")
	for _, c := range got.Cells {
		if c.Change != NoDifference || len(c.Differs) > 0 {
			t.Errorf("%s: %s %q", c.CellName, c.Change, c.Differs)
		}
		if r := c.metric(t, lab.Duration).Ratio; r == nil || *r != 1 {
			t.Errorf("%s: ratio %v", c.CellName, r)
		}
	}
	if len(got.Cells) != 2 || got.Crossed || states(got) != nil {
		t.Errorf("%d cells, %q", len(got.Cells), states(got))
	}
	if !slices.Contains(got.Warnings, "both folders hold the same records") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

func TestChangeIsFound(t *testing.T) {
	old := measured("a", 1, 10, bothTCP)
	fresh := measured("b", 2, 10, map[lab.Cell]float64{cell(lab.H1): 1.1, cell(lab.H2): 2})
	got := compare(t, old, fresh, "median +5%", "median +20%", "goodput median -5%", "median -5%")
	if got.Cells[0].Change != Worse || got.Cells[1].Change != NoDifference {
		t.Errorf("%s, %s", got.Cells[0].Change, got.Cells[1].Change)
	}
	want := []string{"h1 median +5% crossed", "h1 goodput median -5% crossed"}
	if diff := cmp.Diff(want, states(got)); diff != "" || !got.Crossed {
		t.Error(got.Crossed, diff)
	}
	m := got.Cells[0].metric(t, lab.Duration)
	if *m.Low > 1.1 || *m.High < 1.1 || *m.Low < 1.05 || *m.P > 0.001 {
		t.Errorf("%v to %v, p %v", *m.Low, *m.High, *m.P)
	}
	if g := got.Cells[0].metric(t, lab.Goodput); g.Change != Worse || math.Abs(*g.Ratio**m.Ratio-1) > 1e-9 || *g.Low >= *g.High {
		t.Errorf("goodput %+v", g)
	}

	back := compare(t, fresh, old, "median +5%", "median -5%")
	if back.Cells[0].Change != Better || !slices.Equal(states(back), []string{"h1 median -5% crossed"}) {
		t.Errorf("the other way round: %s, %q", back.Cells[0].Change, states(back))
	}
}

// What nobody asked for is not tested, and makes no other test weaker.
func TestOnlyWhatIsAskedForIsTested(t *testing.T) {
	old, fresh := measured("a", 1, 10, bothTCP), measured("b", 2, 10, bothTCP)
	if g := compare(t, old, fresh).Cells[0].metric(t, lab.Goodput); g.Change != Untested || g.P != nil || g.Ratio == nil {
		t.Errorf("%+v", g)
	}
}

// An estimate beyond a threshold that chance could have made does not count, but
// is shown, and counts where that is asked for.
func TestMayHaveCrossed(t *testing.T) {
	old := measured("a", 1, 10, bothTCP)
	fresh := measured("b", 2, 10, map[lab.Cell]float64{cell(lab.H1): 1.055, cell(lab.H2): 2})
	got := compare(t, old, fresh, "median +5%")
	if got.Crossed || !slices.Equal(states(got), []string{"h1 median +5% may-have-crossed"}) || got.Thresholds[0].MayHave != 1 {
		t.Errorf("%v %q", got.Crossed, states(got))
	}
	got = compareStrictly(t, true, old, fresh, "median +5%")
	if !got.Crossed || !slices.Equal(states(got), []string{"h1 median +5% crossed"}) {
		t.Errorf("strictly %v %q", got.Crossed, states(got))
	}
}

func TestTooFewRunsMakeNoClaim(t *testing.T) {
	old := measured("a", 1, 3, bothTCP)
	fresh := measured("b", 2, 3, map[lab.Cell]float64{cell(lab.H1): 5, cell(lab.H2): 10})
	got := compare(t, old, fresh, "median +5%")
	m := got.Cells[0].metric(t, lab.Duration)
	if got.Crossed || m.Change != NoVerdict || m.Needed == nil || *m.Needed != 5 || got.Thresholds[0].MayHave != 2 {
		t.Errorf("%v %+v", got.Crossed, m)
	}
	if !strings.Contains(got.Cells[0].Crossings[0].Why, "too few runs: 3 and 3, and a claim takes 5") {
		t.Errorf("%q", got.Cells[0].Crossings[0].Why)
	}
}

// Nothing is claimed below what two series of one cell differ by, in either folder.
func TestNoClaimBelowTheResolution(t *testing.T) {
	old := measured("a", 1, 12, bothTCP)
	fresh := measured("b", 2, 12, map[lab.Cell]float64{cell(lab.H1): 1.05, cell(lab.H2): 2})
	noisy := func(m Measured) Measured {
		m.Records = slices.Clone(m.Records)
		for i, r := range m.Records {
			if r.Run.Cell.Arm == lab.ArmAA {
				m.Records[i] = record(r.Run.Cell, r.Run.Rep, 1.2+0.01*float64(r.Run.Rep))
			}
		}
		return m
	}
	if c := compare(t, old, fresh).Cells[0]; c.Change != Worse {
		t.Fatalf("%+v", c)
	}
	for _, pair := range [][2]Measured{{noisy(old), fresh}, {old, noisy(fresh)}} {
		m := compare(t, pair[0], pair[1], "median +0%").Cells[0].metric(t, lab.Duration)
		if m.Change != NoDifference || m.Resolution == nil || *m.Resolution < 1.2 || !strings.Contains(m.Why, "within what equal cells differ by") {
			t.Errorf("%+v", m)
		}
	}
}

// Cells without chance are compared exactly, from one run on.
func TestExactChange(t *testing.T) {
	virtual := cell(lab.H3)
	virtual.Site = lab.Virtual
	of := func(seconds ...float64) Measured {
		m := Measured{Name: "a", Plan: plan}
		for i, s := range seconds {
			m.Records = append(m.Records, record(virtual, i+1, s))
		}
		return m
	}
	for _, c := range []struct {
		old, fresh Measured
		want       string
		crossed    bool
	}{
		{of(1), of(1.0005), NoDifference, false},
		{of(1), of(1.002), Worse, true},
		{of(1, 1), of(0.5, 0.5), Better, false},
		{of(1, 1.2), of(1.1, 1.3), NoDifference, false}, // one between the others
	} {
		got := compare(t, c.old, c.fresh, "median +0%")
		m := got.Cells[0].metric(t, lab.Duration)
		if m.Change != c.want || !got.Cells[0].Exact || m.P != nil || got.Crossed != c.crossed {
			t.Errorf("%+v, crossed %v; want %s", m, got.Crossed, c.want)
		}
	}
}

func TestFailuresCompareAsCounts(t *testing.T) {
	old := measured("a", 1, 10, bothTCP)
	fail := func(m Measured, n int) Measured {
		m.Records = slices.Clone(m.Records)
		for i, r := range m.Records {
			if r.Run.Cell == cell(lab.H2) && r.Run.Rep <= n {
				m.Records[i] = record(r.Run.Cell, r.Run.Rep, 120, ended(lab.Stalled))
			}
		}
		return m
	}
	fresh := measured("b", 2, 10, bothTCP)
	for _, c := range []struct {
		before, after int
		threshold     string
		crossed       bool
	}{
		{0, 0, "failures > 0", false}, {0, 1, "failures > 0", true}, {1, 1, "failures > 0", true}, {0, 1, "failures > 1", false},
		{1, 1, "failures +0", false}, {1, 2, "failures +0", true}, {1, 2, "failures +1", false}, {3, 1, "failures +0", false},
	} {
		got := compare(t, fail(old, c.before), fail(fresh, c.after), c.threshold)
		if got.Crossed != c.crossed {
			t.Errorf("%+v: crossed %v: %+v", c, got.Crossed, got.Cells[1].Crossings)
		}
	}
	m := compare(t, old, fail(fresh, 9)).Cells[1]
	if m.metric(t, Success).Change != Worse || m.Change != Worse || m.metric(t, lab.Duration).New != nil {
		t.Errorf("9 of 10 failed: %+v", m)
	}
	if m := compare(t, old, fail(fresh, 2)).Cells[1].metric(t, Success); m.Change != NoDifference {
		t.Errorf("2 of 10 failed: %+v", m)
	}
}

// A folder in which everything fails is worse beyond every threshold.
func TestNothingFinishes(t *testing.T) {
	old := measured("a", 1, 8, bothTCP)
	fresh := old
	fresh.Records = nil
	for _, r := range old.Records {
		fresh.Records = append(fresh.Records, record(r.Run.Cell, r.Run.Rep, 0, ended(lab.Unsupported)))
	}
	got := compare(t, old, fresh, "median +1000%", "worst +1000%", "failures +0")
	if len(states(got)) != 6 || got.Thresholds[0].Crossed != 2 || got.Thresholds[1].Crossed != 2 {
		t.Errorf("%q", states(got))
	}
	if got := compare(t, fresh, fresh, "median +0%", "failures > 0"); got.Crossed || got.Cells[0].Change != NotComparable || got.Thresholds[1].Looked != 0 {
		t.Errorf("unsupported in both: %+v", got)
	}
}

// Runs that the lab spoilt are neither failures nor slow.
func TestInvalidRunsAreNoObservations(t *testing.T) {
	old := measured("a", 1, 10, bothTCP)
	fresh := old
	fresh.Records = slices.Clone(old.Records)
	for i, r := range fresh.Records {
		if r.Run.Rep <= 2 {
			fresh.Records[i] = record(r.Run.Cell, r.Run.Rep, 1000, late)
		}
	}
	got := compare(t, old, fresh, "failures > 0", "worst +0%")
	if got.Crossed || got.Cells[0].Change != NoDifference || got.Cells[0].NewRuns != 10 || got.Cells[0].NewOK != 8 {
		t.Errorf("%q %+v", states(got), got.Cells[0])
	}
	for i, r := range fresh.Records {
		fresh.Records[i] = record(r.Run.Cell, r.Run.Rep, 1000, late)
	}
	if got := compare(t, old, fresh, "failures > 0", "median +0%"); got.Thresholds[0].Looked+got.Thresholds[1].Looked != 0 || got.Cells[0].Change != NoVerdict {
		t.Errorf("%+v", got.Cells[0])
	}
}

// late spoils a run as a lab does that delivers its packets too late.
func late(r *lab.Record) {
	r.Outcome, r.Run.Lateness, r.Lateness.P99 = lab.Invalid, 5*time.Millisecond, 0.006
}

// One bad run may be chance; many are not.
func TestWorst(t *testing.T) {
	one := map[lab.Cell]float64{cell(lab.H1): 1}
	old := measured("a", 1, 10, one)
	slow := func(n int, o lab.Outcome) Measured {
		m := measured("b", 2, 10, one)
		for i, r := range m.Records {
			if r.Run.Rep <= n && r.Run.Cell.Arm == "" {
				m.Records[i] = record(r.Run.Cell, r.Run.Rep, 2, func(r *lab.Record) { r.Outcome = o })
			}
		}
		return m
	}
	for _, c := range []struct {
		n    int
		o    lab.Outcome
		want []string
	}{
		{0, lab.OK, nil}, {1, lab.OK, []string{"h1 worst +20% may-have-crossed"}}, {5, lab.OK, []string{"h1 worst +20% crossed"}},
		{1, lab.Timeout, []string{"h1 worst +20% may-have-crossed"}}, {5, lab.Timeout, []string{"h1 worst +20% crossed"}},
	} {
		if got := states(compare(t, old, slow(c.n, c.o), "worst +20%")); !slices.Equal(got, c.want) {
			t.Errorf("%d %s: %q", c.n, c.o, got)
		}
	}
	if got := compareStrictly(t, true, old, slow(1, lab.OK), "worst +20%"); !got.Crossed {
		t.Error("strict looks at the worst run itself")
	}
	if got := states(compare(t, slow(5, lab.OK), old, "worst -20%", "worst +20%")); !slices.Equal(got, []string{"h1 worst -20% crossed"}) {
		t.Errorf("a fall: %q", got)
	}
}

func TestMatch(t *testing.T) {
	longer := cell(lab.H1)
	longer.Path.Down.Delay += 5 * time.Millisecond
	other := cell(lab.H3)
	other.Path.Name = "elsewhere"
	old := measured("a", 1, 8, map[lab.Cell]float64{cell(lab.H1): 1, cell(lab.H2): 2, cell(lab.H3): 1})
	fresh := measured("b", 2, 8, map[lab.Cell]float64{longer: 1.2, cell(lab.H2): 2, other: 1})
	got := compare(t, old, fresh, "median +5%")
	if len(got.Cells) != 2 || !slices.Equal(states(got), []string{"h1 median +5% crossed"}) {
		t.Errorf("%+v", got.Cells)
	}
	if len(got.OnlyOld) != 1 || got.OnlyOld[0].Protocol != lab.H3 || len(got.OnlyNew) != 1 || got.OnlyNew[0].Path != "elsewhere" {
		t.Errorf("only old %v, only new %v", got.OnlyOld, got.OnlyNew)
	}
	want := "path down delay 20ms → 25ms"
	for _, c := range got.Cells {
		if (c.Protocol == lab.H1) != slices.Contains(c.Differs, want) {
			t.Errorf("%s differs in %q", c.CellName, c.Differs)
		}
	}
	if !slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
		t.Errorf("warnings %q", got.Warnings)
	}
	if _, err := Compare(old, measured("c", 3, 8, map[lab.Cell]float64{other: 1}), nil, false); !errors.Is(err, ErrNothingInCommon) {
		t.Errorf("nothing in common: %v", err)
	}
	if _, err := Compare(Measured{}, Measured{}, nil, false); !errors.Is(err, ErrNothingInCommon) {
		t.Errorf("nothing at all: %v", err)
	}
}

func TestChangesNotComparable(t *testing.T) {
	base := func(change func(*Measured)) Measured {
		m := measured("b", 2, 10, map[lab.Cell]float64{cell(lab.H1): 3})
		change(&m)
		return m
	}
	each := func(f func(*lab.Record)) func(*Measured) {
		return func(m *Measured) {
			for i := range m.Records {
				f(&m.Records[i])
			}
		}
	}
	old := measured("a", 1, 10, map[lab.Cell]float64{cell(lab.H1): 1})
	for what, c := range map[string]struct {
		fresh Measured
		why   string // not comparable
		says  string // a warning
	}{
		"backend":   {base(func(m *Measured) { m.Plan.Backend = "netem" }), "moved by tun, and now by netem", ""},
		"tun":       {base(func(m *Measured) { m.Plan.Backend = "tun" }), "", ""},
		"machine":   {base(func(m *Measured) { m.Machine.CPU = "two" }), "another machine: processor one → two", ""},
		"cores":     {base(func(m *Measured) { m.Machine.Cores = 4 }), "", ""}, // of the old one not known
		"unknown":   {base(func(m *Measured) { m.Machine = Machine{} }), "", "whether both folders were measured on one machine is not known"},
		"program":   {base(each(func(r *lab.Record) { r.Server.Program = "x 2" })), "", ""},
		"limit":     {base(each(func(r *lab.Record) { r.Run.Timeout = time.Minute })), "", "time limit"},
		"limit hit": {base(each(func(r *lab.Record) { r.Run.Timeout, r.Outcome = time.Minute, lab.Timeout })), "the time limit changed", ""},
	} {
		got := compare(t, old, c.fresh, "median +5%")
		cell := got.Cells[0]
		if (cell.Change == NotComparable) != (c.why != "") || !strings.Contains(cell.Why, c.why) || got.Crossed != (c.why == "") {
			t.Errorf("%s: %s %q, crossed %v", what, cell.Change, cell.Why, got.Crossed)
		}
		if !slices.ContainsFunc(append(got.Warnings, ""), func(w string) bool { return strings.Contains(w, c.says) }) {
			t.Errorf("%s: %q", what, got.Warnings)
		}
	}
}

// What was used is named where it changed; it does not forbid the comparison, since
// it may be the very change that is looked at.
func TestWhatWasUsedIsNamed(t *testing.T) {
	used := func(m Measured, cc string, window int, program string) Measured {
		for i := range m.Records {
			m.Records[i].Server.Program = program
			m.Records[i].Server.Senders = []lab.Sender{{Transport: "tcp", CC: cc, InitialWindow: window}}
		}
		return m
	}
	old := used(measured("a", 1, 8, bothTCP), "cubic", 10, "x 1")
	fresh := used(measured("b", 2, 8, bothTCP), "bbr", 32, "x 2")
	got := compare(t, old, fresh)
	want := []string{"congestion control cubic → bbr", "initial window 10 → 32", "server x 1 → x 2"}
	if diff := cmp.Diff(want, got.Cells[0].Differs); diff != "" {
		t.Error(diff)
	}
	for _, w := range want {
		if !slices.Contains(got.Warnings, "not the same in both folders: "+w) {
			t.Errorf("%q is not in %q", w, got.Warnings)
		}
	}
}

// The order of the records does not matter, and one more failure in the new folder
// never makes it look better.
func TestChangeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		m := rapid.IntRange(1, 12).Draw(t, "m")
		draw := func(name string, n int) Measured {
			f := Measured{Name: name, Plan: plan}
			for i := range n {
				o := rapid.SampledFrom([]lab.Outcome{lab.OK, lab.OK, lab.OK, lab.Stalled, lab.Invalid}).Draw(t, "outcome")
				f.Records = append(f.Records, record(cell(lab.H1), i+1, rapid.Float64Range(0.1, 10).Draw(t, "s"), func(r *lab.Record) { r.Outcome = o }))
			}
			return f
		}
		old, fresh := draw("a", n), draw("b", m)
		thresholds := []Threshold{{Stat: OfMedian, Metric: lab.Duration, Percent: 5}, {Stat: OfWorst, Metric: lab.Duration}, {Stat: OfFailures, Total: true}}
		first, err := Compare(old, fresh, thresholds, true)
		if err != nil {
			t.Fatal(err)
		}
		shuffled := fresh
		shuffled.Records = slices.Clone(fresh.Records)
		slices.Reverse(shuffled.Records)
		second, err := Compare(old, shuffled, thresholds, true)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("the order matters:\n%s", diff)
		}
		worse := fresh
		worse.Records = append(slices.Clone(fresh.Records), record(cell(lab.H1), m+1, 0.1, ended(lab.Stalled)))
		third, err := Compare(old, worse, thresholds, true)
		if err != nil {
			t.Fatal(err)
		}
		if third.Cells[0].Change == Better && first.Cells[0].Change != Better || third.Thresholds[1].Crossed < first.Thresholds[1].Crossed {
			t.Fatalf("a failure more, and it looks better: %+v, %+v", first.Cells[0], third.Cells[0])
		}
	})
}

// What programs waited for a processor beyond the usual of the other folder is no
// change: of the slower folder, whichever that is.
func TestBusyMachinesChangeNothing(t *testing.T) {
	waiting := func(m Measured, seconds float64) Measured {
		m.Records = slices.Clone(m.Records)
		for i := range m.Records {
			half := seconds / 2
			m.Records[i].Server.Waited, m.Records[i].Client.Waited = &half, &half
			m.Records[i].Samples = append(slices.Clone(m.Records[i].Samples), lab.Sample{Metric: lab.CPUServer, Unit: "s", Value: m.Records[i].Samples[0].Value})
		}
		return m
	}
	slow := map[lab.Cell]float64{cell(lab.H1): 1.1, cell(lab.H2): 2.2}
	quiet := func(seconds float64) Measured { return waiting(measured("a", 1, 10, bothTCP), seconds) }
	busy := func(seconds float64) Measured { return waiting(measured("b", 2, 10, slow), seconds) }
	for _, c := range []struct {
		old, fresh Measured
		want, cpu  string
		crossed    []string
	}{
		{quiet(0.01), busy(0.01), Worse, Worse, []string{"median +5%", "goodput median -5%", "cpu_server median +5%"}},
		{quiet(0.01), busy(0.02), Worse, Worse, []string{"median +5%", "goodput median -5%", "cpu_server median +5%"}},
		{quiet(0.01), busy(0.2), NoDifference, NoDifference, nil},
		{busy(0.2), quiet(0.01), NoDifference, NoDifference, nil},
		{quiet(0.2), busy(0.01), Worse, NoDifference, []string{"median +5%", "goodput median -5%"}},
		{busy(0.01), quiet(0.2), Better, NoDifference, nil},
	} {
		got := compare(t, c.old, c.fresh, "median +5%", "goodput median -5%", "cpu_server median +5%")
		m, cpu := got.Cells[0].metric(t, lab.Duration), got.Cells[0].metric(t, lab.CPUServer)
		if m.Change != c.want || cpu.Change != c.cpu || (m.Change == NoDifference) != strings.Contains(m.Why, "waited longer") {
			t.Errorf("%s → %s: want %s, %s: %+v, %+v", c.old.Name, c.fresh.Name, c.want, c.cpu, m, cpu)
		}
		var crossed []string
		for _, x := range got.Cells[0].Crossings {
			if x.State == Crossed {
				crossed = append(crossed, x.Threshold)
			}
		}
		if diff := cmp.Diff(c.crossed, crossed); diff != "" {
			t.Errorf("crossed (-want +got):\n%s", diff)
		}
	}
	virtual := func(m Measured) Measured {
		for i := range m.Records {
			m.Records[i].Run.Cell.Site = lab.Virtual
			m.Records[i].Run.Cell.Path.Down.Loss.Share = 0.01
		}
		return m
	}
	if c := compare(t, virtual(quiet(0.01)), virtual(busy(0.2))).Cells[0]; c.Change != Worse {
		t.Errorf("in virtual time nobody waits: %+v", c)
	}
}

// durations leaves the other metrics out, for speed.
func durations(m Measured) Measured {
	for i := range m.Records {
		m.Records[i].Samples = m.Records[i].Samples[:1]
	}
	return m
}

// Folders of equal cells: over many comparisons of six cells, a claim in 5 % at
// most, and no threshold of 5 % crossed. The scatter is small so that the floor of
// sessions does not hide what the tests do.
func TestEqualFoldersMakeNoClaims(t *testing.T) {
	cells := map[lab.Cell]float64{}
	for _, load := range []string{"x", "y"} {
		for _, p := range lab.Protocols() {
			c := cell(p)
			c.Load.Name = load
			c.Site = lab.Virtual
			c.Path.Down.Loss.Share = 0.01
			cells[c] = 1
		}
	}
	const studies = 120
	claims, crossed := 0, 0
	for i := range int64(studies) {
		old, fresh := durations(measured("a", 2*i, 10, cells)), durations(measured("b", 2*i+1, 10, cells))
		got := compare(t, old, fresh, "median +5%", "worst +5%")
		for _, c := range got.Cells {
			if c.Change != NoDifference {
				claims++
				break
			}
		}
		if got.Crossed {
			crossed++
		}
	}
	// Of 120 at 5 %: 6, with a standard deviation of 2.4.
	if float64(claims) > 6+3*2.4 || crossed > 0 {
		t.Errorf("%d of %d comparisons claim something, %d crossed", claims, studies, crossed)
	}
}
