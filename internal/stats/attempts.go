package stats

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// counted sorts the records of a cell into the runs that count, by repetition,
// and the attempts that do not. The attempt that counts is the first that was
// not invalid, whatever came of it, or the last when all were: a failure can't
// be replaced by a later success. Equal records (of two folders merged) are
// one; of different records of one attempt, the worst counts.
func counted(records []lab.Record) (runs, others []lab.Record) {
	sorted := make([]*lab.Record, len(records)) // records are large: they are not moved
	for i := range records {
		sorted[i] = &records[i]
	}
	slices.SortFunc(sorted, byRunThenAttempt)
	runs = make([]lab.Record, 0, len(records))
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n].Run.ID == sorted[0].Run.ID {
			n++
		}
		attempts := slices.CompactFunc(sorted[:n], func(a, b *lab.Record) bool { return byAttempt(a, b) == 0 })
		which := chosen(attempts)
		for i, r := range attempts {
			if i == which {
				runs = append(runs, *r)
			} else {
				others = append(others, *r)
			}
		}
		sorted = sorted[n:]
	}
	return runs, others
}

// chosen returns the index of the attempt that counts.
func chosen(attempts []*lab.Record) int {
	best := -1
	for i, r := range attempts {
		if r.Outcome != lab.Invalid && (best < 0 || r.Attempt == attempts[best].Attempt) {
			best = i
		}
	}
	if best < 0 {
		return len(attempts) - 1
	}
	return best
}

func byRunThenAttempt(a, b *lab.Record) int {
	if c := cmp.Or(cmp.Compare(a.Run.Rep, b.Run.Rep), cmp.Compare(a.Run.ID, b.Run.ID)); c != 0 {
		return c
	}
	return byAttempt(a, b)
}

// byAttempt orders records of one run by attempt, and of one attempt from good
// to bad. It is a total order: the text decides where nothing else does.
func byAttempt(a, b *lab.Record) int {
	if a == b {
		return 0
	}
	if c := cmp.Or(cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(failed(a), failed(b))); c != 0 {
		return c
	}
	if d := cmp.Compare(duration(a), duration(b)); d != 0 {
		return d
	}
	return cmp.Compare(text(a), text(b))
}

func failed(r *lab.Record) int {
	if r.Outcome == lab.OK {
		return 0
	}
	return 1
}

func duration(r *lab.Record) float64 {
	if v := r.Value(lab.Duration); v != nil {
		return *v
	}
	return 0
}

func text(r *lab.Record) string {
	b, err := json.Marshal(r)
	if err != nil {
		return err.Error() // a value that is no JSON; the same for equal records
	}
	return string(b)
}
