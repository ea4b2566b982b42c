package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/store"
)

// autoPlan is a plan of two comparisons a site, by which repetitions end.
func autoPlan(t *testing.T, rule string, sites ...lab.SiteName) lab.Plan {
	t.Helper()
	study, err := plan.ParseStudy("t.yaml", []byte("paths: [wired, loss-1]\nloads: [cold]\nprotocols: [h1, h3]\nreps: "+rule+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	study.Sites = sites
	p, err := plan.Build(study)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// within has enough of a comparison after so many whole blocks, by its path.
func within(blocks map[string]int) enough {
	return func(_ lab.Auto, records []lab.Record) bool {
		seen := map[int]int{}
		for _, r := range records {
			seen[r.Run.Rep]++
		}
		whole := 0
		for seen[whole+1] == 3 {
			whole++
		}
		return whole >= blocks[records[0].Run.Cell.Path.Name]
	}
}

// clockwork carries out each run in so many seconds, one after another.
type clockwork struct {
	mu   sync.Mutex
	now  time.Time
	each float64
	seen []lab.Run
}

func (c *clockwork) CarryOut(_ context.Context, order lab.Order) lab.Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, order.Run)
	r := runner.Blank(order.Run)
	r.Outcome, r.Started, r.Took = lab.OK, c.now.Format(time.RFC3339Nano), c.each
	c.now = c.now.Add(time.Duration(c.each * float64(time.Second)))
	return r
}

// interrupted ends a study after so many records.
type interrupted struct {
	*store.Folder
	left   *int
	cancel context.CancelFunc
}

func (i interrupted) Put(r lab.Record) error {
	if *i.left--; *i.left == 0 {
		i.cancel()
	}
	return i.Folder.Put(r)
}

// carryOutAuto goes on with the plan in a folder, and says which runs it carried
// out. It is interrupted after so many records.
func carryOutAuto(t *testing.T, dir string, p lab.Plan, c *clockwork, has enough, records int) []lab.Run {
	t.Helper()
	folder, err := store.Create(dir, nil, p, store.ReadEnvironment())
	if errors.Is(err, store.ErrExists) {
		folder, err = store.Resume(dir, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	before, _, err := folder.Records()
	if err != nil {
		t.Fatal(err)
	}
	done, err := folder.Done()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.seen = nil
	carriers := map[lab.SiteName]runner.Carrier{}
	for _, site := range lab.SiteNames() {
		carriers[site] = c
	}
	err = runner.Run(ctx, p, runner.Options{
		Carriers: carriers, Done: done, Sink: interrupted{folder, &records, cancel},
		Stopper: newStopper(*p.Auto, before, has), Repeater: repeater{folder, secondOfLoss, func(string) {}},
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return slices.Clone(c.seen)
}

// secondOfLoss finds that the second block on loss-1 was spoilt on each site.
func secondOfLoss(records []lab.Record) (out []spoilt) {
	seen := map[comparison]bool{}
	for _, r := range records {
		if c := comparisonOf(r.Run.Cell); c.path == "loss-1" && !seen[c] {
			seen[c] = true
			out = append(out, spoilt{r.Run.Cell, 2})
		}
	}
	return out
}

func idsOf(runs []lab.Run) (out []string) {
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}

// A study that is interrupted anywhere, and gone on with, carries out the same runs
// in the same order as one that is not.
func TestInterruptedStudiesDecideTheSame(t *testing.T) {
	p := autoPlan(t, "auto min 2 max 9 budget 24s", lab.Virtual, lab.Kernel)
	has := within(map[string]int{"wired": 3, "loss-1": 7})
	whole := carryOutAuto(t, t.TempDir()+"/w", p, &clockwork{each: 1}, has, 0)
	// Two comparisons of three cells each: 6 s a repetition while both go on, 3 s
	// after the third. 24 s are spent after the fifth. Only here the second block of
	// loss-1 is carried out again.
	if want := 2*(3*6+2*3) + 3; len(whole) != want {
		t.Fatalf("%d runs were carried out, want %d", len(whole), want)
	}
	for _, r := range whole[len(whole)-3:] {
		if r.Repeats != 2 || r.Rep != p.Reps+2 || r.Cell.Site != lab.Kernel || r.Cell.Path.Name != "loss-1" {
			t.Errorf("the last runs are of repetition %d (repeats %d) of %s on %s", r.Rep, r.Repeats, r.Cell.Path.Name, r.Cell.Site)
		}
	}
	for stop := 1; stop < len(whole); stop += 19 {
		dir, c := t.TempDir()+"/i", &clockwork{each: 1}
		first := carryOutAuto(t, dir, p, c, has, stop)
		c.now = c.now.Add(time.Hour) // a pause costs no budget
		rest := carryOutAuto(t, dir, p, c, has, 0)
		if got := idsOf(append(first, rest...)); !slices.Equal(got, idsOf(whole)) {
			t.Fatalf("interrupted after %d runs:\n%v\nwant\n%v", stop, got, idsOf(whole))
		}
		if again := carryOutAuto(t, dir, p, c, has, 0); len(again) > 0 {
			t.Errorf("a study that is complete was gone on with: %v", idsOf(again))
		}
	}
}

func TestBudgetWarnings(t *testing.T) {
	p := autoPlan(t, "auto min 2 max 9 budget 24s", lab.Kernel)
	has := within(map[string]int{"wired": 3, "loss-1": 7})
	dir := t.TempDir() + "/f"
	carryOutAuto(t, dir, p, &clockwork{each: 1}, has, 0)
	folder, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	records, warnings, err := folder.Records()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	said := budgetWarnings(p, records, has)
	if len(said) != 1 || !strings.HasPrefix(said[0], "site kernel: the budget of 24s was spent after 5 repetitions of at most 9; "+
		"1 of 2 comparisons had not come to intervals of 10% by then") {
		t.Errorf("%q", said)
	}
	fewer := slices.DeleteFunc(slices.Clone(records), func(r lab.Record) bool { return r.Run.Rep == 5 })
	if got := budgetWarnings(p, fewer, has); got != nil {
		t.Errorf("before the budget is spent: %q", got)
	}
	if got := budgetWarnings(p, records, within(nil)); got != nil {
		t.Errorf("all had enough: %q", got)
	}
	p.Auto = nil
	if got := budgetWarnings(p, records, has); got != nil {
		t.Errorf("without a rule: %q", got)
	}
}

func TestEqualisable(t *testing.T) {
	study := lab.Study{Sites: lab.SiteNames(), Equalise: true}
	none := func(context.Context) error { return errors.New("`make arms` builds it") }
	built := func(context.Context) error { return nil }
	got, said := equalisable(t.Context(), study, none)
	if !slices.Equal(got.FixedWindow, []lab.SiteName{lab.Virtual, lab.Process}) || len(said) != 2 ||
		!strings.Contains(said[0], "fixed at 10: `make arms` builds it") || !strings.Contains(fmt.Sprint(said), "site process") {
		t.Errorf("%v, %q", got.FixedWindow, said)
	}
	if got, said := equalisable(t.Context(), study, built); !slices.Equal(got.FixedWindow, []lab.SiteName{lab.Process}) || len(said) != 1 {
		t.Errorf("with the rebuilt worker: %v, %q", got.FixedWindow, said)
	}
	study.Equalise = false
	if got, said := equalisable(t.Context(), study, none); got.FixedWindow != nil || said != nil {
		t.Errorf("not asked for: %v, %q", got.FixedWindow, said)
	}
}
