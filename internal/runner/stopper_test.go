package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// cellOf names the cells of these tests by their path.
func cellOf(site lab.SiteName, name string) lab.Cell {
	return lab.Cell{Site: site, Path: lab.Path{Name: name}}
}

// repeated is a plan of the cells a, b and c, so many times each.
func repeated(reps int, site lab.SiteName) (p lab.Plan) {
	p.Reps = reps
	for rep := 1; rep <= reps; rep++ {
		for _, name := range []string{"a", "b", "c"} {
			p.Runs = append(p.Runs, lab.Run{
				ID: fmt.Sprint(name, rep), Cell: cellOf(site, name), Rep: rep, Order: len(p.Runs) + 1,
			})
		}
	}
	return p
}

// enoughAt needs so many repetitions of each cell, and checks what it is asked.
type enoughAt struct {
	mu    sync.Mutex
	t     *testing.T
	needs map[string]int
	ended map[int]int // runs by repetition
}

func (s *enoughAt) Ended(r lab.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = map[int]int{}
	}
	s.ended[r.Run.Rep]++
}

func (s *enoughAt) Needed(run lab.Run, done int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rep := range s.ended {
		if rep > done {
			s.t.Errorf("asked with %d repetitions done while one of %d had ended", done, rep)
		}
	}
	return done < s.needs[run.Cell.Path.Name]
}

// heard is an Observer that remembers what was left out.
type heard struct {
	silent
	mu   sync.Mutex
	left []string
}

func (h *heard) LeftOut(run lab.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left = append(h.left, run.ID)
}

// delayed takes longer for all cells but b: without a barrier the others would be ahead.
type delayed struct{ f *fake }

func (d delayed) CarryOut(ctx context.Context, order lab.Order) lab.Record {
	if order.Run.Cell.Path.Name != "b" {
		time.Sleep(2 * time.Millisecond)
	}
	return d.f.CarryOut(ctx, order)
}

func TestRepetitionsEndWhenTheStopperHasEnough(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		f, h := &fake{}, &heard{}
		s := &enoughAt{t: t, needs: map[string]int{"a": 1, "b": 4, "c": 2}}
		err := Run(t.Context(), repeated(5, lab.Virtual), Options{
			Carriers: map[lab.SiteName]Carrier{lab.Virtual: delayed{f}}, Sink: &memory{}, Stopper: s, Observer: h,
			Jobs: map[lab.SiteName]int{lab.Virtual: jobs},
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(f.seen)
		if want := []string{"a1", "b1", "b2", "b3", "b4", "c1", "c2"}; !slices.Equal(f.seen, want) {
			t.Errorf("%d jobs: carried out %v, want %v", jobs, f.seen, want)
		}
		if want := []string{"a2", "a3", "a4", "a5", "c3", "c4", "c5", "b5"}; !slices.Equal(h.left, want) {
			t.Errorf("%d jobs: left out %v, want %v: as soon as it is known", jobs, h.left, want)
		}
	}
}

func TestResumedPlansAskTheStopperTheSame(t *testing.T) {
	f := &fake{}
	// b2 is there already, and so is all of the first repetition.
	done := map[string]bool{"a1": true, "b1": true, "c1": true, "b2": true}
	err := Run(t.Context(), repeated(3, lab.Kernel), Options{
		Carriers: map[lab.SiteName]Carrier{lab.Kernel: f}, Sink: &memory{}, Done: done,
		Stopper: &enoughAt{t: t, needs: map[string]int{"a": 1, "b": 2, "c": 3}},
	})
	if want := []string{"c2", "c3"}; err != nil || !slices.Equal(f.seen, want) {
		t.Errorf("carried out %v, want %v: %v", f.seen, want, err)
	}
}

// again adds runs to a site, and remembers what had been carried out by then.
type again struct {
	f      *fake
	runs   map[lab.SiteName][]lab.Run
	before map[lab.SiteName]int
	err    error
}

func (a *again) Again(site lab.SiteName) ([]lab.Run, error) {
	a.before[site] = len(a.f.seen)
	return a.runs[site], a.err
}

func TestTheRepeaterIsAskedAfterASitesLastRun(t *testing.T) {
	p := repeated(2, lab.Process)
	p.Runs = append(p.Runs, repeated(2, lab.Kernel).Runs...)
	for i := range p.Runs {
		p.Runs[i].ID = string(p.Runs[i].Cell.Site[0]) + p.Runs[i].ID
	}
	extra := func(site lab.SiteName, id string, order int) lab.Run {
		return lab.Run{ID: id, Cell: cellOf(site, "a"), Rep: 3, Repeats: 1, Order: order}
	}
	f := &fake{}
	a := &again{f: f, before: map[lab.SiteName]int{}, runs: map[lab.SiteName][]lab.Run{
		lab.Process: {extra(lab.Process, "p-again-2", 14), extra(lab.Process, "p-again-1", 13)},
		lab.Kernel:  {extra(lab.Kernel, "k-again", 13), extra(lab.Kernel, "k-done", 14)},
	}}
	carriers := map[lab.SiteName]Carrier{lab.Process: f, lab.Kernel: f}
	o := Options{Carriers: carriers, Sink: &memory{}, Repeater: a, Done: map[string]bool{"k-done": true}}
	if err := Run(t.Context(), p, o); err != nil {
		t.Fatal(err)
	}
	want := []string{"pa1", "pb1", "pc1", "pa2", "pb2", "pc2", "p-again-1", "p-again-2", "ka1", "kb1", "kc1", "ka2", "kb2", "kc2", "k-again"}
	if !slices.Equal(f.seen, want) {
		t.Errorf("carried out %v\nwant %v", f.seen, want)
	}
	if len(a.before) != 2 || a.before[lab.Process] != 6 || a.before[lab.Kernel] != 14 {
		t.Errorf("asked after so many runs: %v", a.before)
	}
	a.err = errors.New("unreadable")
	if err := Run(t.Context(), p, o); !errors.Is(err, a.err) {
		t.Errorf("got %v, want the repeater's error", err)
	}
}
