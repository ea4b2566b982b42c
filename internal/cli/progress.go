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
	plan  *estimate
	now   string
	bars  *mpb.Progress
	bar   *mpb.Bar
	said  time.Time
}

var _ runner.Observer = (*progress)(nil)

// sayEvery is the least time between two plain lines of progress.
const sayEvery = 5 * time.Second

func newProgress(out io.Writer, p lab.Plan, done map[string]bool, jobs map[lab.SiteName]int) *progress {
	g := &progress{out: out, total: len(p.Runs), plan: newEstimate(p, done, jobs), said: time.Now()}
	for _, r := range p.Runs {
		if done[r.ID] {
			g.done++
		}
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		g.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(24))
		g.bar = g.bars.AddBar(int64(g.total),
			mpb.PrependDecorators(decor.CountersNoUnit("%d/%d runs ")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + g.line() })),
			mpb.BarRemoveOnComplete())
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
	return fmt.Sprintf("%s · %s left", g.now, g.plan.left().Round(time.Second))
}

// Started implements runner.Observer.
func (g *progress) Started(run lab.Run, attempt int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = describeRun(run)
	if attempt > 1 {
		g.now += " (again)"
	}
}

// Ended implements runner.Observer.
func (g *progress) Ended(r lab.Record) {
	final := r.Outcome != lab.Invalid || r.Attempt > 1
	g.note(r, final)
	// Outside the lock: the bar's decorator takes it, on another goroutine.
	if final && g.bar != nil {
		g.bar.Increment()
	}
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
	_, _ = fmt.Fprintf(g.out, "%d of %d runs · %s\n", g.done, g.total, g.text())
}

// close removes the bar.
func (g *progress) close() {
	if g.bar != nil {
		g.bar.Abort(true)
		g.bars.Wait()
	}
}

func describeRun(r lab.Run) string {
	return fmt.Sprintf("%s %s %s %s #%d", r.Cell.Site, r.Cell.Path.Name, r.Cell.Load.Name, r.Cell.Protocol, r.Rep)
}
