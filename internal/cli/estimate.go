package cli

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// estimate guesses how long the rest of a plan takes: of reps: auto, how long at
// most. Runs in virtual time go first and tell how long the same cell takes in real
// time.
type estimate struct {
	planned map[string]bool
	rule    *lab.Auto
	site    lab.SiteName // that is being carried out
	began   time.Time    // when it was begun
	pending map[string]lab.Run
	took    map[string]float64 // s, by cell: what a run in real time will take
	virtual average            // real seconds of a virtual run
	jobs    map[lab.SiteName]int
}

// overhead is what a run in real time costs beyond its load: hosts, server and
// client are started afresh.
const overhead = 0.3

type average struct {
	sum float64
	n   int
}

func newEstimate(p lab.Plan, done map[string]bool, jobs map[lab.SiteName]int) *estimate {
	e := &estimate{
		jobs: jobs, rule: p.Auto, planned: map[string]bool{}, pending: map[string]lab.Run{}, took: map[string]float64{},
	}
	for _, r := range p.Runs {
		e.planned[r.ID] = true
		if !done[r.ID] {
			e.pending[r.ID] = r
		}
	}
	return e
}

func cellName(c lab.Cell) string {
	return c.Path.Name + "\x00" + c.Load.Name + "\x00" + string(c.Protocol)
}

// started takes notice of a run at time now, and says whether it is one that was
// not planned.
func (e *estimate) started(r lab.Run, now time.Time) (added bool) {
	if e.site != r.Cell.Site {
		e.site, e.began = r.Cell.Site, now
	}
	if e.planned[r.ID] {
		return false
	}
	e.planned[r.ID], e.pending[r.ID] = true, r
	return true
}

func (e *estimate) leftOut(r lab.Run) { delete(e.pending, r.ID) }

func (e *estimate) ended(r lab.Record) {
	delete(e.pending, r.Run.ID)
	if r.Run.Cell.Site != lab.Virtual {
		e.took[cellName(r.Run.Cell)] = r.Took
		return
	}
	e.virtual.sum += r.Took
	e.virtual.n++
	took := r.Run.Timeout.Seconds()
	if d := r.Value(lab.Duration); d != nil {
		took = *d
	}
	e.took[cellName(r.Run.Cell)] = took + overhead
}

// left is the time that the pending runs are expected to take from time now on:
// on no site more than what is left of its budget.
func (e *estimate) left(now time.Time) time.Duration {
	seconds := map[lab.SiteName]float64{}
	for _, r := range e.pending {
		seconds[r.Cell.Site] += e.expect(r) / float64(max(e.jobs[r.Cell.Site], 1))
	}
	var sum time.Duration
	for site, s := range seconds {
		d := time.Duration(s * float64(time.Second))
		if e.rule != nil && e.rule.Budget > 0 {
			d = min(d, e.budget(site, now))
		}
		sum += d
	}
	return sum
}

func (e *estimate) budget(site lab.SiteName, now time.Time) time.Duration {
	if site != e.site {
		return e.rule.Budget
	}
	return max(e.rule.Budget-now.Sub(e.began), 0)
}

func (e *estimate) expect(r lab.Run) float64 {
	if r.Cell.Site == lab.Virtual {
		if e.virtual.n == 0 {
			return 0.05
		}
		return e.virtual.sum / float64(e.virtual.n)
	}
	if took, ok := e.took[cellName(r.Cell)]; ok {
		return took
	}
	bits := float64(r.Cell.Load.Bytes()) * 8
	took := overhead + 5*r.Cell.Path.RTT().Seconds()
	if rate := r.Cell.Path.Down.Rate; rate > 0 {
		took += bits / float64(rate)
	}
	return took
}
