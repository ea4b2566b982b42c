package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/samewire/samewire/internal/lab"
)

// Term is one signed part of a difference of times.
type Term struct {
	What    string
	Seconds float64 // a minus b
}

// Rest is what of a difference is too small to be named, or what cells differ by
// that no step names.
const Rest = "rest of the model"

// least is the smallest term that is named, in s.
const least = 0.0005

// leastRest is the smallest that is not named that is told, in s: what prints as 0.
const leastRest = 0.00005

// step makes one part of a transfer like another's, and names it.
type step struct {
	take func(t *transfer, from transfer)
	what func(a, b transfer) string
}

func always(what string) func(a, b transfer) string {
	return func(_, _ transfer) string { return what }
}

// steps are the parts, in the order in which they are changed. The order is part
// of what a term means: rounds of requests are told with all of HTTP/1.1's
// connections, and what those bring after it.
var steps = []step{
	{func(t *transfer, from transfer) { t.flights = from.flights }, always("handshake")},
	{func(t *transfer, from transfer) { t.framing, t.every = from.framing, from.every }, always("serialisation")},
	{func(t *transfer, from transfer) { t.serial = from.serial }, always("rounds of requests")},
	{func(t *transfer, from transfer) { t.conns, t.ceiling = from.conns, from.ceiling },
		func(a, b transfer) string { return fmt.Sprintf("connections %d against %d", a.conns, b.conns) }},
	{func(t *transfer, from transfer) { t.initial, t.grown = from.initial, from.grown },
		windows},
	{func(t *transfer, from transfer) { t.cubic, t.beta = from.cubic, from.beta },
		func(a, b transfer) string {
			return fmt.Sprintf("loss response (β %.1f against %.1f)", a.response(), b.response())
		}},
	{func(t *transfer, from transfer) { t.patience = from.patience }, always("late losses")},
	{func(t *transfer, from transfer) { t.paced = from.paced }, always("pacing")},
}

// windows names what the content begins with: where the initial windows are equal,
// what the handshake has added to them.
func windows(a, b transfer) string {
	if a.initial == b.initial {
		return fmt.Sprintf("window after the handshake %d against %d", a.initial+a.grown, b.initial+b.grown)
	}
	return fmt.Sprintf("initial window %d against %d", a.initial, b.initial)
}

// response is the β of a Reno that has the same loss ceiling: CUBIC's friendly
// region is made to be that of 0.5.
func (t transfer) response() float64 {
	if t.cubic {
		return 0.5
	}
	return t.beta
}

// Explain returns the terms that make the predicted duration of a differ from
// that of b, largest first; none where one is not predicted. They are what a
// changes by when its parts are made b's one after the other, so they sum to the
// difference, but for a rest of less than 0.05 ms.
func (Theory) Explain(a, b lab.Cell) []Term {
	from, to := newTransfer(a), newTransfer(b)
	terms := []Term{}
	now, ok := from.predict(a)
	last, alsoOK := to.predict(b)
	if !ok || !alsoOK {
		return terms
	}
	t, rest := from, 0.0
	for _, s := range steps {
		s.take(&t, to)
		next, _ := t.duration()
		if change := now - next; math.Abs(change) >= least {
			terms = append(terms, Term{s.what(from, to), change})
		} else {
			rest += change
		}
		now = next
	}
	if rest += now - last; math.Abs(rest) >= leastRest {
		terms = append(terms, Term{Rest, rest})
	}
	slices.SortStableFunc(terms, func(x, y Term) int {
		switch {
		case math.Abs(x.Seconds) > math.Abs(y.Seconds):
			return -1
		case math.Abs(x.Seconds) < math.Abs(y.Seconds):
			return 1
		}
		return 0
	})
	return terms
}
