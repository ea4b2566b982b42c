package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// fake carries out runs by looking up how each ends; what it does not know is ok.
type fake struct {
	mu     sync.Mutex
	ends   map[string][]lab.Outcome
	seen   []string
	during func(run lab.Run)
}

func (f *fake) CarryOut(_ context.Context, order lab.Order) lab.Record {
	run := order.Run
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, run.ID)
	if f.during != nil {
		f.during(run)
	}
	r := Blank(run)
	r.Outcome = lab.OK
	if ends := f.ends[run.ID]; len(ends) > 0 {
		r.Outcome = ends[0]
		f.ends[run.ID] = ends[1:]
	}
	return r
}

type memory struct {
	mu      sync.Mutex
	records []lab.Record
	err     error
}

func (m *memory) Put(r lab.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, r)
	return m.err
}

func planOf(n int, sites ...lab.SiteName) lab.Plan {
	var p lab.Plan
	for i := range n {
		site := sites[i%len(sites)]
		p.Runs = append(p.Runs, lab.Run{ID: fmt.Sprintf("%s%d", site, i), Order: i + 1, Cell: lab.Cell{Site: site}})
	}
	return p
}

func TestSitesGoOneAfterTheOther(t *testing.T) {
	f, m := &fake{}, &memory{}
	p := planOf(6, lab.Kernel, lab.Virtual)
	slices.Reverse(p.Runs)
	err := Run(t.Context(), p, Options{Carriers: map[lab.SiteName]Carrier{lab.Kernel: f, lab.Virtual: f}, Sink: m})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"virtual1", "virtual3", "virtual5", "kernel0", "kernel2", "kernel4"}
	if !slices.Equal(f.seen, want) {
		t.Errorf("carried out %v, want %v", f.seen, want)
	}
}

func TestInvalidRunsAreRepeatedOnceAndBothKept(t *testing.T) {
	f, m := &fake{ends: map[string][]lab.Outcome{
		"kernel0": {lab.Invalid}, "kernel1": {lab.Invalid, lab.Invalid, lab.OK}, "kernel2": {lab.Timeout},
	}}, &memory{}
	err := Run(t.Context(), planOf(3, lab.Kernel), Options{Carriers: map[lab.SiteName]Carrier{lab.Kernel: f}, Sink: m})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range m.records {
		got = append(got, fmt.Sprint(r.Run.ID, " ", r.Attempt, " ", r.Outcome))
	}
	want := []string{"kernel0 1 invalid", "kernel0 2 ok", "kernel1 1 invalid", "kernel1 2 invalid", "kernel2 1 timeout"}
	if !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

func TestDoneRunsAreLeftOut(t *testing.T) {
	f := &fake{}
	o := Options{Carriers: map[lab.SiteName]Carrier{lab.Kernel: f}, Sink: &memory{}, Done: map[string]bool{"kernel1": true}}
	if err := Run(t.Context(), planOf(3, lab.Kernel), o); err != nil {
		t.Fatal(err)
	}
	if want := []string{"kernel0", "kernel2"}; !slices.Equal(f.seen, want) {
		t.Errorf("carried out %v, want %v", f.seen, want)
	}
}

func TestAFullDiskEndsThePlan(t *testing.T) {
	full := errors.New("no space left on device")
	f, m := &fake{}, &memory{err: full}
	err := Run(t.Context(), planOf(50, lab.Virtual), Options{
		Carriers: map[lab.SiteName]Carrier{lab.Virtual: f}, Sink: m, Jobs: map[lab.SiteName]int{lab.Virtual: 2},
	})
	if !errors.Is(err, full) {
		t.Errorf("got %v, want the sink's error", err)
	}
	if len(f.seen) > 4 {
		t.Errorf("%d runs were carried out after the sink had failed", len(f.seen))
	}
}

func TestInterruptedRunsLeaveNoRecord(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f, m := &fake{ends: map[string][]lab.Outcome{"kernel1": {lab.Invalid}}}, &memory{}
	f.during = func(run lab.Run) {
		if run.ID == "kernel1" {
			cancel()
		}
	}
	err := Run(ctx, planOf(4, lab.Kernel), Options{Carriers: map[lab.SiteName]Carrier{lab.Kernel: f}, Sink: m})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if len(m.records) != 1 || m.records[0].Run.ID != "kernel0" {
		t.Errorf("kept %d records, want only that of the run before", len(m.records))
	}
}

func TestMissingCarrier(t *testing.T) {
	err := Run(t.Context(), planOf(1, lab.Kernel), Options{Sink: &memory{}})
	if err == nil {
		t.Error("a plan for a site without a carrier was carried out")
	}
}

// failing is a site that cannot even open, or opens hosts that fail later.
type failing struct{ err error }

func (f failing) Open(context.Context, lab.Run) (Hosts, error) { return nil, f.err }

func TestRunsThatCannotBeTriedAreRecords(t *testing.T) {
	for want, err := range map[lab.Outcome]error{
		lab.Unsupported: fmt.Errorf("cc bbr: %w", lab.ErrUnsupported),
		lab.Invalid:     errors.New("no device"),
	} {
		r := Direct{Site: failing{err}}.Carry(t.Context(), lab.Run{ID: "x"})
		if r.Outcome != want || r.Reason == "" || len(r.Samples) != len(lab.Metrics()) || r.Requests == nil {
			t.Errorf("got %s (%s) with %d samples, want %s", r.Outcome, r.Reason, len(r.Samples), want)
		}
	}
}
