package cli

import (
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// estimate guesses how long the rest of a plan takes. Runs in virtual time go
// first and tell how long the same cell takes in real time.
type estimate struct {
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
	e := &estimate{jobs: jobs, pending: map[string]lab.Run{}, took: map[string]float64{}}
	for _, r := range p.Runs {
		if !done[r.ID] {
			e.pending[r.ID] = r
		}
	}
	return e
}

func cellName(c lab.Cell) string {
	return c.Path.Name + "\x00" + c.Load.Name + "\x00" + string(c.Protocol)
}

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

// left is the time that the pending runs are expected to take.
func (e *estimate) left() time.Duration {
	var s float64
	for _, r := range e.pending {
		s += e.expect(r) / float64(max(e.jobs[r.Cell.Site], 1))
	}
	return time.Duration(s * float64(time.Second))
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
