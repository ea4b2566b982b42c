package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/runner"
)

// progress shows what runs now, how far it got, and how long it will take: as
// a bar on a terminal, as plain lines elsewhere. It is a runner.Observer.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	total int
	done  int
	auto  bool // the plan may end before all of its runs are carried out
	plan  *estimate
	now   string
	bars  *mpb.Progress
	bar   *mpb.Bar
	said  time.Time
	last  [2]int // runs done, and of how many, as it was said last
}

var _ runner.Observer = (*progress)(nil)

// sayEvery is the least time between two plain lines of progress.
const sayEvery = 5 * time.Second

func newProgress(out io.Writer, p lab.Plan, done map[string]bool, jobs map[lab.SiteName]int) *progress {
	g := &progress{out: out, total: len(p.Runs), auto: p.Auto != nil, plan: newEstimate(p, done, jobs), said: time.Now()}
	for _, r := range p.Runs {
		if done[r.ID] {
			g.done++
		}
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		g.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(24))
		g.bar = g.bars.AddBar(0, // of no total, it does not end by itself: the total changes
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return g.counts() + " " })),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + g.line() })),
			mpb.BarRemoveOnComplete())
		g.bar.SetTotal(int64(g.total), false)
		g.bar.SetCurrent(int64(g.done))
	}
	return g
}

func (g *progress) line() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text()
}

func (g *progress) text() string {
	return fmt.Sprintf("%s · %s%s left", g.now, g.most(), g.plan.left(time.Now()).Round(time.Second))
}

// most goes before what may become less.
func (g *progress) most() string {
	if g.auto && g.done < g.total {
		return "at most "
	}
	return ""
}

func (g *progress) counts() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return fmt.Sprintf("%d of %s%s", g.done, g.most(), plural(g.total, "run", "runs"))
}

// Started implements runner.Observer.
func (g *progress) Started(run lab.Run, attempt int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.plan.started(run, time.Now()) {
		g.total++
	}
	g.now = describeRun(run)
	if attempt > 1 {
		g.now += " (again)"
	}
}

// LeftOut implements runner.Observer.
func (g *progress) LeftOut(run lab.Run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	g.plan.leftOut(run)
}

// say prints a line of its own.
func (g *progress) say(what string) {
	if g.bars != nil {
		_, _ = fmt.Fprintln(g.bars, what)
		return
	}
	_, _ = fmt.Fprintln(g.out, what)
}

// Ended implements runner.Observer.
func (g *progress) Ended(r lab.Record) {
	final := r.Outcome != lab.Invalid || r.Attempt > 1
	g.note(r, final)
	// Outside the lock: the bar's decorator takes it, on another goroutine.
	if final && g.bar != nil {
		done, total := g.counted()
		g.bar.SetTotal(int64(total), false)
		g.bar.SetCurrent(int64(done))
	}
}

func (g *progress) counted() (done, total int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.done, g.total
}

func (g *progress) note(r lab.Record, final bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if final {
		g.done++
		g.plan.ended(r)
	}
	if g.bar == nil {
		g.plain(r)
	}
}

func (g *progress) plain(r lab.Record) {
	if r.Outcome != lab.OK {
		_, _ = fmt.Fprintf(g.out, "%s: %s: %s\n", describeRun(r.Run), r.Outcome, r.Reason)
	}
	if time.Since(g.said) < sayEvery && g.done < g.total {
		return
	}
	g.said = time.Now()
	g.sayCounts()
}

// sayCounts says in a plain line how far all is.
func (g *progress) sayCounts() {
	g.last = [2]int{g.done, g.total}
	_, _ = fmt.Fprintf(g.out, "%d of %s%s · %s\n", g.done, g.most(), plural(g.total, "run", "runs"), g.text())
}

// close removes the bar, or says a last time how far all is.
func (g *progress) close() {
	if g.bar == nil && g.now != "" && g.last != [2]int{g.done, g.total} {
		g.sayCounts()
	}
	if g.bar != nil {
		g.bar.Abort(true)
		g.bars.Wait()
	}
}

func describeRun(r lab.Run) string {
	s := fmt.Sprintf("%s %s %s %s", r.Cell.Site, r.Cell.Path.Name, r.Cell.Load.Name, r.Cell.Protocol)
	if r.Cell.Arm == lab.ArmAA {
		s += " (A/A)"
	}
	if r.Repeats > 0 {
		return fmt.Sprintf("%s #%d once more", s, r.Repeats)
	}
	return fmt.Sprintf("%s #%d", s, r.Rep)
}
