package cli

import (
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/model"
	"github.com/samewire/samewire/internal/stats"
)

// theory is model.Theory as the statistics ask for it: neither of the two
// packages knows the other.
type theory struct{ model model.Theory }

func (t theory) Predict(c lab.Cell) map[string]float64 { return t.model.Predict(c) }

func (t theory) Explain(a, b lab.Cell) []stats.Term {
	terms := []stats.Term{}
	for _, e := range t.model.Explain(a, b) {
		terms = append(terms, stats.Term{What: e.What, Seconds: e.Seconds, Source: stats.FromTheory})
	}
	return terms
}
