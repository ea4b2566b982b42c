package store

import (
	"encoding/json"
	"fmt"
	"strings"

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
		{"rule of repetitions", rule(have), rule(want)},
		{"backend", backend(have), backend(want)},
		{"number of runs", fmt.Sprint(len(have.Runs)), fmt.Sprint(len(want.Runs))},
	} {
		if d.have != d.want {
			return fmt.Sprintf("%s: %q there, %q here", d.what, d.have, d.want)
		}
	}
	for i, r := range have.Runs {
		if r != want.Runs[i] {
			return fmt.Sprintf("run %d: %s", i+1, differs(r, want.Runs[i]))
		}
	}
	return ""
}

// rule is the plan's rule by which repetitions end.
func rule(p lab.Plan) string {
	if p.Auto == nil {
		return "none"
	}
	return fmt.Sprintf("%+v", *p.Auto)
}

// backend is what moves the plan's packets on the site kernel; those that do not
// say have samewire's own link.
func backend(p lab.Plan) string {
	if p.Backend == "" {
		return "tun"
	}
	return p.Backend
}

// differs names what differs between two runs, with both values.
func differs(have, want lab.Run) string {
	var words []string
	add := func(what string, have, want string) {
		if have != want {
			words = append(words, fmt.Sprintf("%s: %s there, %s here", what, have, want))
		}
	}
	add("path", text(have.Cell.Path), text(want.Cell.Path))
	add("load", text(have.Cell.Load), text(want.Cell.Load))
	add("stack", text(have.Cell.Stack), text(want.Cell.Stack))
	add("site", string(have.Cell.Site), string(want.Cell.Site))
	add("protocol", string(have.Cell.Protocol), string(want.Cell.Protocol))
	add("repetition", fmt.Sprint(have.Rep), fmt.Sprint(want.Rep))
	add("timeout", have.Timeout.String(), want.Timeout.String())
	add("lateness", have.Lateness.String(), want.Lateness.String())
	if len(words) == 0 {
		return fmt.Sprintf("%s there, %s here", text(have), text(want))
	}
	return strings.Join(words, "; ")
}

func text[T lab.Path | lab.Load | lab.Stack | lab.Run](v T) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(b)
}
