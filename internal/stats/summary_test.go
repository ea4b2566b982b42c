package stats

import (
	"encoding/json"
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

var plan = lab.Plan{Format: 1, Samewire: "0.1.0", Study: "s", Seed: 7}

func cell(p lab.Protocol) lab.Cell {
	way := lab.Way{Delay: 20 * time.Millisecond, Rate: 100e6}
	return lab.Cell{
		Path: lab.Path{Name: "wired", Up: way, Down: way}, Load: lab.Load{Name: "big", Objects: 1, Size: 3e6},
		Stack: lab.DefaultStack, Site: lab.Kernel, Protocol: p,
	}
}

func ptr[T any](v T) *T { return &v }

// record is a run that ended ok after some seconds, or otherwise if changed.
func record(c lab.Cell, rep int, seconds float64, changes ...func(*lab.Record)) lab.Record {
	n := c.Load.For(c.Protocol)
	r := lab.Record{
		Format: 1, Attempt: 1, Outcome: lab.OK, Connections: &n,
		Run: lab.Run{ID: lab.RunID(c, rep), Cell: c, Rep: rep, Timeout: 2 * time.Minute},
		Samples: []lab.Sample{
			{Metric: lab.Duration, Unit: "s", Value: &seconds},
			{Metric: lab.Goodput, Unit: "bit/s", Value: ptr(float64(c.Load.Bytes()) * 8 / seconds)},
			{Metric: lab.RoundTrips, Unit: "1"},
		},
		Wire: lab.Wire{Connections: n},
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

func ended(o lab.Outcome) func(*lab.Record) {
	return func(r *lab.Record) { r.Outcome, r.Reason = o, "because" }
}

func attempt(n int) func(*lab.Record) { return func(r *lab.Record) { r.Attempt = n } }

func only(t *testing.T, out Output) Cell {
	t.Helper()
	if len(out.Cells) != 1 {
		t.Fatalf("%d cells", len(out.Cells))
	}
	return out.Cells[0]
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		finished []float64
		n        int
		want     *float64
	}{
		{nil, 0, nil},
		{nil, 1, nil},
		{[]float64{3}, 1, ptr(3.0)},
		{[]float64{3}, 2, nil}, // the middle two are 3 and a censored one
		{[]float64{1, 3}, 2, ptr(2.0)},
		{[]float64{1, 3}, 3, ptr(3.0)}, // 1, 3, censored
		{[]float64{1, 3}, 4, nil},
		{[]float64{1, 3, 5}, 4, ptr(4.0)},
		{[]float64{19.4}, 3, nil}, // a published median of survivors
		{[]float64{1, 2, 3, 4, 5}, 5, ptr(3.0)},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, 2, ptr(math.MaxFloat64)},
	} {
		if diff := cmp.Diff(tt.want, median(tt.finished, tt.n)); diff != "" {
			t.Errorf("median(%v, %d) (-want +got):\n%s", tt.finished, tt.n, diff)
		}
	}
}

func TestSummariseCensors(t *testing.T) {
	c := cell(lab.H3)
	got := only(t, Summarise(plan, []lab.Record{
		record(c, 1, 19.4),
		record(c, 2, 120, ended(lab.Stalled)), // its samples must not be used
		record(c, 3, 0.1, ended(lab.Reset)),
	}, nil))
	d, g := got.Statistic(lab.Duration), got.Statistic(lab.Goodput)
	if d.Median != nil || !d.Censored || *d.Best != 19.4 || *d.Worst != 19.4 {
		t.Errorf("duration %+v", d)
	}
	if g.Median != nil || !g.Censored || *g.Worst != 24e6/19.4 {
		t.Errorf("goodput %+v", g)
	}
	if rt := got.Statistic(lab.RoundTrips); rt.Median != nil || rt.Censored {
		t.Errorf("round trips were not measured: %+v", rt)
	}
	want := map[lab.Outcome]int{lab.OK: 1, lab.Stalled: 1, lab.Reset: 1}
	if got.Runs != 3 || got.OK != 1 || got.Limit != 120 || !cmp.Equal(got.Outcomes, want) {
		t.Errorf("%+v", got)
	}
	if len(got.Failures) != 2 || got.Failures[0] != (Failure{lab.RunID(c, 2), lab.Stalled, "because"}) {
		t.Errorf("failures %+v", got.Failures)
	}
}

// Goodput's good side is the high one.
func TestGoodputIsOrderedTheOtherWay(t *testing.T) {
	c := cell(lab.H1)
	g := only(t, Summarise(plan, []lab.Record{
		record(c, 1, 1), record(c, 2, 2), record(c, 3, 4, ended(lab.Timeout)),
	}, nil)).Statistic(lab.Goodput)
	if *g.Best != 24e6 || *g.Worst != 12e6 || g.Median == nil || *g.Median != 12e6 {
		t.Errorf("best %v, worst %v, median %v", *g.Best, *g.Worst, g.Median)
	}
}

func TestAttempts(t *testing.T) {
	c := cell(lab.H1)
	for _, tt := range []struct {
		name     string
		records  []lab.Record
		outcomes map[lab.Outcome]int
		repeated int
		warning  string
	}{
		{"repeated with success",
			[]lab.Record{record(c, 1, 1, ended(lab.Invalid)), record(c, 1, 1, attempt(2))},
			map[lab.Outcome]int{lab.OK: 1}, 1, "attempt 1 was invalid and carried out again: because"},
		{"invalid twice",
			[]lab.Record{record(c, 1, 1, ended(lab.Invalid)), record(c, 1, 1, attempt(2), ended(lab.Invalid))},
			map[lab.Outcome]int{lab.Invalid: 1}, 1, "attempt 1 was invalid"},
		{"not repeated",
			[]lab.Record{record(c, 1, 1, ended(lab.Invalid))},
			map[lab.Outcome]int{lab.Invalid: 1}, 0, ""},
		{"a failure is not undone",
			[]lab.Record{record(c, 1, 1, ended(lab.Stalled)), record(c, 1, 1, attempt(2))},
			map[lab.Outcome]int{lab.Stalled: 1}, 0, "attempt 2, was ok and does not count"},
		{"merged folders",
			[]lab.Record{record(c, 1, 1), record(c, 1, 1), record(c, 2, 1)},
			map[lab.Outcome]int{lab.OK: 2}, 0, ""},
		{"two accounts of one attempt",
			[]lab.Record{record(c, 1, 1, ended(lab.Timeout)), record(c, 1, 1)},
			map[lab.Outcome]int{lab.Timeout: 1}, 0, "attempt 1, was ok and does not count"},
	} {
		out := Summarise(plan, tt.records, nil)
		got := only(t, out)
		if !cmp.Equal(got.Outcomes, tt.outcomes) || got.Repeated != tt.repeated || got.Has(Late) {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if w := strings.Join(out.Warnings, "\n"); !strings.Contains(w, tt.warning) || (tt.warning == "") != (w == "") {
			t.Errorf("%s: warnings %q", tt.name, w)
		}
	}
}

// A run that the lab spoilt by being late is no observation; one that broke for
// another reason counts against its cell.
func TestLateRunsAreNoObservations(t *testing.T) {
	c := cell(lab.H1)
	late := func(r *lab.Record) {
		r.Outcome, r.Reason = lab.Invalid, "too late"
		r.Run.Lateness, r.Lateness.P99 = 5*time.Millisecond, 0.006
	}
	fine := []lab.Record{record(c, 1, 1), record(c, 2, 2)}
	got := only(t, Summarise(plan, append(fine, record(c, 3, 1, late), record(c, 4, 1, late), record(c, 5, 1, late)), nil))
	if m := got.Statistic(lab.Duration).Median; m == nil || *m != 1.5 || !got.Has(Late) || got.Outcomes[lab.Invalid] != 3 || got.Runs != 5 {
		t.Errorf("late: median %v, %+v", m, got)
	}
	broken := ended(lab.Invalid)
	got = only(t, Summarise(plan, append(fine, record(c, 3, 1, broken), record(c, 4, 1, broken), record(c, 5, 1, broken)), nil))
	if m := got.Statistic(lab.Duration); m.Median != nil || !m.Censored || got.Has(Late) {
		t.Errorf("broken: median %v, %+v", m.Median, got)
	}
	got = only(t, Summarise(plan, []lab.Record{record(c, 1, 1, late)}, nil))
	if m := got.Statistic(lab.Duration); m.Median != nil || m.Censored {
		t.Errorf("only late: %+v", m)
	}
}

func TestFlags(t *testing.T) {
	cubic := lab.Sender{Transport: "tcp", CC: "cubic", InitialWindow: 10, Source: "socket"}
	reno := lab.Sender{Transport: "quic", CC: "reno", InitialWindow: 32, Source: "declared"}
	server := func(s ...lab.Sender) func(*lab.Record) { return func(r *lab.Record) { r.Server.Senders = s } }
	client := func(s ...lab.Sender) func(*lab.Record) { return func(r *lab.Record) { r.Client.Senders = s } }
	h1, h3 := cell(lab.H1), cell(lab.H3)
	upload := h3
	upload.Load.Upload = true
	jumbo := h1
	jumbo.Path.Down.MTU = 16384
	reordered, quicReordered := cell(lab.H2), cell(lab.H3)
	reordered.Site, quicReordered.Site = lab.Virtual, lab.Virtual
	reordered.Path.Down.Reorder.Share, quicReordered.Path.Down.Reorder.Share = 0.1, 0.1
	kernelReordered := reordered
	kernelReordered.Site = lab.Kernel
	dark := cell(lab.H1)
	dark.Site, dark.Path.Up.Rules = lab.Virtual, "outage from 300ms to 3.3s"
	waited := func(s float64) func(*lab.Record) { return func(r *lab.Record) { r.Server.Waited = &s } }
	ten := cell(lab.H2)
	ten.Load.Objects = 10
	for _, tt := range []struct {
		name    string
		records []lab.Record
		want    []Flag // of the first cell
	}{
		{"none", []lab.Record{record(h1, 1, 1), record(h3, 1, 1)}, nil},
		{"unequal senders", []lab.Record{record(h1, 1, 1, server(cubic)), record(h3, 1, 1, server(reno))},
			[]Flag{UnequalCC, UnequalInitialWindow}},
		{"equal senders", []lab.Record{
			record(h1, 1, 1, server(lab.Sender{Transport: "tcp", CC: "reno", InitialWindow: 32, Source: "socket"})),
			record(h3, 1, 1, server(reno))}, nil},
		{"only the window differs", []lab.Record{
			record(h1, 1, 1, server(lab.Sender{Transport: "tcp", CC: "reno", InitialWindow: 10})),
			record(h3, 1, 1, server(reno))}, []Flag{UnequalInitialWindow}},
		{"the receiver's side does not count", []lab.Record{
			record(h1, 1, 1, server(reno), client(cubic)), record(h3, 1, 1, client(reno))}, nil},
		{"one side not known", []lab.Record{record(h1, 1, 1, server(cubic)), record(h3, 1, 1)}, nil},
		{"more connections on the wire", []lab.Record{record(ten, 1, 1, func(r *lab.Record) { r.Wire.Connections = 10 })},
			[]Flag{Connections}},
		{"fewer by the client's account", []lab.Record{record(ten, 1, 1, func(r *lab.Record) { r.Connections = ptr(0) })},
			[]Flag{Connections}},
		{"a failed run opened too few", []lab.Record{record(ten, 1, 1, ended(lab.Refused), func(r *lab.Record) { r.Wire.Connections = 0 })}, nil},
		{"a failed run opened too many", []lab.Record{record(ten, 1, 1, ended(lab.Stalled), func(r *lab.Record) { r.Wire.Connections = 2 })},
			[]Flag{Connections}},
		// 100 Mbit/s × 40 ms = 500 kB.
		{"window of two BDP", []lab.Record{record(h3, 1, 1, func(r *lab.Record) { r.Client.Window = ptr(int64(1e6)) })}, nil},
		{"window below two BDP", []lab.Record{record(h3, 1, 1, func(r *lab.Record) { r.Client.Window = ptr(int64(1e6 - 1)) })},
			[]Flag{ClientLimited}},
		{"small window in an upload", []lab.Record{record(upload, 1, 1, func(r *lab.Record) { r.Client.Window = ptr(int64(1)) })}, nil},
		{"small buffer", []lab.Record{record(h3, 1, 1, func(r *lab.Record) { r.Client.UDPReceiveBuffer = ptr(SmallBuffer - 1) })},
			[]Flag{SmallUDPBuffer}},
		{"large buffer", []lab.Record{record(h3, 1, 1, func(r *lab.Record) { r.Client.UDPReceiveBuffer = ptr(SmallBuffer) })}, nil},
		{"overflow", []lab.Record{record(h3, 1, 1, func(r *lab.Record) { r.Server.UDPReceiveErrors = ptr(1) })},
			[]Flag{SmallUDPBuffer}},
		{"a UDP buffer means nothing to TCP", []lab.Record{record(h1, 1, 1, func(r *lab.Record) { r.Client.UDPReceiveBuffer = ptr(1) })}, nil},
		{"jumbo", []lab.Record{record(jumbo, 1, 1)}, []Flag{NotInternetMTU}},
		{"short wait", []lab.Record{record(h1, 1, 1, waited(0.25))}, nil},
		{"long wait", []lab.Record{record(h1, 1, 1, waited(0.26))}, []Flag{Waiting}},
		{"long wait of a short run", []lab.Record{record(h1, 1, 0.05, waited(0.05))}, nil},
		{"overtaking on the virtual site", []lab.Record{record(reordered, 1, 1)}, []Flag{UntrustedTCP}},
		{"an outage on the virtual site", []lab.Record{record(dark, 1, 1)}, []Flag{UntrustedTCP}},
		{"overtaking does not hurt QUIC", []lab.Record{record(quicReordered, 1, 1)}, nil},
		{"overtaking in the kernel", []lab.Record{record(kernelReordered, 1, 1)}, nil},
	} {
		if got := Summarise(plan, tt.records, nil).Cells[0].Flags; !cmp.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestSendersOfAnUploadAreTheClients(t *testing.T) {
	c := cell(lab.H3)
	c.Load.Upload = true
	mine := lab.Sender{Transport: "quic", CC: "reno", InitialWindow: 32}
	got := only(t, Summarise(plan, []lab.Record{record(c, 1, 1, func(r *lab.Record) {
		r.Client.Senders = []lab.Sender{mine, mine, {Transport: "tcp", CC: "cubic"}}
		r.Server.Senders = []lab.Sender{{Transport: "quic", CC: "bbr"}}
	})}, nil))
	if !cmp.Equal(got.Senders, []lab.Sender{mine}) {
		t.Errorf("%+v", got.Senders)
	}
}

// One block claims nothing; three comparisons need 7 (2/2^6 is above 0.05/3).
func TestOneBlockClaimsNothing(t *testing.T) {
	var records []lab.Record
	for _, p := range lab.Protocols() {
		records = append(records, record(cell(p), 1, 1))
	}
	out := Summarise(plan, records, nil)
	var pairs []string
	for _, v := range out.Verdicts {
		pairs = append(pairs, fmt.Sprint(v.A, "/", v.B))
		if v.Verdict != NoVerdict || v.Low != nil || v.High != nil || v.Needed == nil || *v.Needed != 7 || v.P != nil || v.Why == "" || v.Metric != lab.Duration {
			t.Errorf("%+v", v)
		}
	}
	if got := strings.Join(pairs, " "); got != "h1/h2 h1/h3 h2/h3" {
		t.Errorf("pairs %s", got)
	}
}

func TestWarnings(t *testing.T) {
	c := cell(lab.H1)
	p := plan
	p.Runs = []lab.Run{{ID: lab.RunID(c, 1)}, {ID: lab.RunID(c, 2)}}
	out := Summarise(p, []lab.Record{record(c, 1, 1)}, nil)
	if !cmp.Equal(out.Warnings, []string{"1 of 2 runs have no record: the study was not finished"}) {
		t.Errorf("%q", out.Warnings)
	}
	other := c
	other.Load.Warm = true
	out = Summarise(plan, []lab.Record{record(c, 1, 1), record(other, 1, 1)}, nil)
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "several cells go by this name") {
		t.Errorf("%q", out.Warnings)
	}
}

// What scripts rely on: every field is there, in DESIGN's order, null where
// nothing is known; lists are lists.
func TestJSONContract(t *testing.T) {
	b, err := json.Marshal(Summarise(plan, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	const empty = `{"samewire":"0.1.0","study":"s","seed":7,"results":[],"verdicts":[],"resolutions":[],"agreements":[],"warnings":[]}`
	if string(b) != empty {
		t.Errorf("got  %s\nwant %s", b, empty)
	}
	out := Summarise(plan, []lab.Record{record(cell(lab.H1), 1, 1, ended(lab.Stalled)), record(cell(lab.H2), 1, 1)}, nil)
	b, err = json.Marshal(out.Results[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"path":"wired","load":"big","protocol":"h1","site":"kernel","server":"embedded","client":"embedded","cc":"cubic","tls":"1.3","initcwnd":10,"pacing":"",` +
		`"metric":"duration","unit":"s","runs":1,"ok":0,"outcomes":{"stalled":1},` +
		`"median":null,"low":null,"high":null,"best":null,"worst":null,"q1":null,"q3":null,"restricted_mean":null,"predicted":null,"flags":["censored"]}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	b, err = json.Marshal(out.Verdicts[0])
	if err != nil {
		t.Fatal(err)
	}
	const verdict = `{"path":"wired","load":"big","site":"kernel","server":"embedded","client":"embedded","cc":"cubic","tls":"1.3","initcwnd":10,"pacing":"",` +
		`"a":"h1","b":"h2","metric":"duration","ratio":null,"low":null,"high":null,"verdict":"no-verdict","why":"too few runs: 1 block, and a claim takes 6 in this study","blocks":1,"p":null,"exact":false,"needed":6,"smallest":null,"difference":null,"protocol_part":null,"machine_part":null,"terms":[]}`
	if string(b) != verdict {
		t.Errorf("got  %s\nwant %s", b, verdict)
	}
	if len(out.Results) != 2*len(lab.Metrics()) {
		t.Errorf("%d results", len(out.Results))
	}
}

// drawRecords makes runs of one to four cells, with attempts and failures.
func drawRecords(t *rapid.T) (records []lab.Record) {
	cells := []lab.Cell{cell(lab.H1), cell(lab.H2), cell(lab.H3)}
	lossy := cell(lab.H3)
	lossy.Path.Name, lossy.Path.Down.Loss = "lossy", lab.Loss{Share: 0.01}
	cells = append(cells, lossy)
	outcomes := append([]lab.Outcome{lab.OK, lab.OK, lab.OK}, lab.Outcomes()...)
	for i := range rapid.IntRange(1, 12).Draw(t, "runs") {
		c := rapid.SampledFrom(cells).Draw(t, "cell")
		for n := range rapid.IntRange(1, 2).Draw(t, "attempts") {
			records = append(records, record(c, i+1, rapid.Float64Range(0.001, 100).Draw(t, "seconds"),
				attempt(n+1), ended(rapid.SampledFrom(outcomes).Draw(t, "outcome")),
				func(r *lab.Record) {
					r.Wire.Connections = rapid.IntRange(0, 3).Draw(t, "connections")
					r.Server.Senders = []lab.Sender{{Transport: "tcp", CC: rapid.SampledFrom([]string{"cubic", "reno"}).Draw(t, "cc")}}
				}))
		}
	}
	return records
}

func TestOrderOfRecordsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		want := Summarise(plan, records, nil)
		shuffled := append([]lab.Record(nil), records...)
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "order")))
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(want, Summarise(plan, shuffled, nil)); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

// worse says whether b is at least as bad as a; nil is the worst of all.
func worse(a, b *float64, higherIsBetter bool) bool {
	switch {
	case b == nil:
		return true
	case a == nil:
		return false
	case higherIsBetter:
		return *b <= *a
	}
	return *b >= *a
}

func TestAFailedRunNeverHelps(t *testing.T) {
	failures := lab.Outcomes()[1:]
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		before := Summarise(plan, records, nil)
		c := records[0].Run.Cell
		// A new run of the cell, or one more attempt at a run that is there.
		rep := rapid.SampledFrom([]int{99, records[0].Run.Rep}).Draw(t, "rep")
		failed := record(c, rep, rapid.Float64Range(1e-6, 1).Draw(t, "seconds"),
			attempt(rapid.IntRange(1, 3).Draw(t, "attempt")), ended(rapid.SampledFrom(failures).Draw(t, "failure")))
		after := Summarise(plan, append(records, failed), nil)
		for i, a := range before.Cells {
			b := after.Cells[i]
			if b.OK > a.OK || float64(b.OK)/float64(b.Runs) > float64(a.OK)/float64(a.Runs) {
				t.Fatalf("%d/%d became %d/%d", a.OK, a.Runs, b.OK, b.Runs)
			}
			for j, s := range a.Statistics {
				now, up := b.Statistics[j], higherIsBetter(s.Metric)
				if !worse(s.Median, now.Median, up) || !worse(s.Best, now.Best, up) && s.Best != nil {
					t.Fatalf("%s: %+v became %+v", s.Metric, s, now)
				}
			}
		}
	})
}

// A path on which packets of usual sizes vanish without a word is named, one
// that answers with ICMP is not.
func TestBlackHolesAreNamed(t *testing.T) {
	for _, tt := range []struct {
		way  lab.Way
		want string // in a warning; empty: there is none
	}{
		{lab.Way{}, ""},
		{lab.Way{MTU: 1500}, ""},
		{lab.Way{MTU: 1400}, "larger than 1400 bytes vanish"},
		{lab.Way{MTU: 1400, TooBig: true}, ""},
		{lab.Way{Shrink: lab.Shrink{MTU: 1300, At: 1}}, "larger than 1300 bytes vanish"},
	} {
		c := cell(lab.H1)
		c.Path.Down = tt.way
		got := strings.Join(Summarise(plan, []lab.Record{record(c, 1, 1)}, nil).Warnings, "\n")
		if strings.Contains(got, "vanish") != (tt.want != "") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.way, got, tt.want)
		}
	}
}

// Stalls of runs that ended ok are said in one sentence; those of runs that failed
// are told with the failure, and those of attempts that do not count not at all.
func TestWarnStalls(t *testing.T) {
	stalled := func(r *lab.Record) { r.Wire.Stalls = make([]lab.Stall, 2) }
	h1, h2, h3 := cell(lab.H1), cell(lab.H2), cell(lab.H3)
	records := []lab.Record{
		record(h1, 1, 1), record(h1, 2, 1),
		record(h2, 1, 1), record(h2, 2, 1, stalled, ended(lab.Stalled)),
		record(h3, 1, 1, stalled), record(h3, 2, 1, stalled, ended(lab.Invalid)), record(h3, 2, 1, attempt(2)), record(h3, 3, 1),
	}
	want := []string{"runs that ended ok had stalls: wired, big, h3, kernel: 1 of 3"}
	if got := warnStalls(Summarise(plan, records, nil).Cells); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if w := Summarise(plan, records, nil).Warnings; !slices.Contains(w, want[0]) {
		t.Errorf("not among the warnings: %q", w)
	}
	if got := warnStalls(Summarise(plan, records[:4], nil).Cells); got != nil {
		t.Errorf("%q", got)
	}
	var many []Cell
	for i := range 8 {
		c := Cell{Cell: h1, Runs: 5, Stalled: 5}
		c.Path.Name = fmt.Sprint("p", i)
		many = append(many, c)
	}
	if got := warnStalls(many); len(got) != 1 || !strings.HasSuffix(got[0], "p5, big, h1, kernel: 5 of 5; and 2 more") {
		t.Errorf("%q", got)
	}
}
