package store

import (
	"encoding/json"
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

// difference says in what the plan of a folder differs from the one that is to
// be carried out; it is empty when they are equal.
func difference(have, want lab.Plan) string {
	for _, d := range []struct{ what, have, want string }{
		{"format", fmt.Sprint(have.Format), fmt.Sprint(want.Format)},
		{"samewire's version", have.Samewire, want.Samewire},
		{"study", have.Study, want.Study},
		{"question", have.Question, want.Question},
		{"seed", fmt.Sprint(have.Seed), fmt.Sprint(want.Seed)},
		{"repetitions", fmt.Sprint(have.Reps), fmt.Sprint(want.Reps)},
		{"number of runs", fmt.Sprint(len(have.Runs)), fmt.Sprint(len(want.Runs))},
	} {
		if d.have != d.want {
			return fmt.Sprintf("%s: %q there, %q here", d.what, d.have, d.want)
		}
	}
	for i, r := range have.Runs {
		if r == want.Runs[i] {
			continue
		}
		return fmt.Sprintf("run %d: %s there, %s here", i+1, compact(r), compact(want.Runs[i]))
	}
	return ""
}

func compact(r lab.Run) string {
	b, err := json.Marshal(r)
	if err != nil {
		return r.ID
	}
	return string(b)
}
