package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// smallestTerm is the least term that is worth a word, in s.
const smallestTerm = 0.0005

// terms says what a difference is made of: what theory says, and in place of that
// what an arm of the study shows in which only this one thing was changed.
func (s *study) terms(a, b *Cell) []Term {
	out := []Term{}
	if difference(a, b) == nil {
		return out
	}
	measured := s.measured(a, b)
	if s.theory != nil {
		for _, t := range s.theory.Explain(a.Cell, b.Cell) {
			if !slices.ContainsFunc(measured, func(m Term) bool { return kind(m) == kind(t) }) {
				out = append(out, t)
			}
		}
	}
	out = append(out, measured...)
	slices.SortStableFunc(out, func(a, b Term) int { return cmp.Compare(math.Abs(b.Seconds), math.Abs(a.Seconds)) })
	return out
}

// kind is what a term is about: its words up to the first number.
func kind(t Term) string {
	if i := strings.IndexAny(t.What, "0123456789:("); i > 0 {
		return strings.TrimSpace(t.What[:i])
	}
	return t.What
}

// measured has a term for each thing in which a stack of the study differs from the
// cells' while all else is the same: how much of the difference goes when it is
// changed. Of several initial windows the one counts that is the other side's.
func (s *study) measured(a, b *Cell) (out []Term) {
	for _, change := range []func(from, to lab.Stack) (lab.Stack, string){changeWindow, changePacing, changeCC} {
		var found *Term
		for _, stack := range s.stacks {
			changed, what := change(a.Stack, stack)
			if changed != stack || changed == a.Stack {
				continue
			}
			with := difference(s.on(a, stack), s.on(b, stack))
			if with == nil {
				continue
			}
			if t := (Term{what, *difference(a, b) - *with, FromMeasurement}); found == nil || starts(a, b, stack.InitCwnd) {
				found = &t
			}
		}
		if found != nil && math.Abs(found.Seconds) >= smallestTerm {
			out = append(out, *found)
		}
	}
	return out
}

// on is the same cell with another stack.
func (s *study) on(c *Cell, stack lab.Stack) *Cell {
	other := c.Cell
	other.Stack = stack
	return s.at[other]
}

// starts says whether one of the two sends with this initial window over QUIC.
func starts(a, b *Cell, window int) bool {
	return slices.ContainsFunc(slices.Concat(a.Senders, b.Senders), func(s lab.Sender) bool {
		return s.Transport == "quic" && s.InitialWindow == window
	})
}

func changeWindow(from, to lab.Stack) (lab.Stack, string) {
	what := fmt.Sprintf("initial window %d against %d", from.InitCwnd, to.InitCwnd)
	from.InitCwnd = to.InitCwnd
	return from, what
}

func changePacing(from, to lab.Stack) (lab.Stack, string) {
	what := "pacing"
	if from.Pacing == lab.PacingOff {
		what = "no pacing"
	}
	from.Pacing = to.Pacing
	return from, what
}

func changeCC(from, to lab.Stack) (lab.Stack, string) {
	what := fmt.Sprintf("congestion control: %s against %s", from.CC, to.CC)
	from.CC = to.CC
	return from, what
}

// explain writes a difference as a sum of signed terms, and what they leave; empty
// where there are none.
func explain(v Verdict) string {
	if v.Difference == nil || len(v.Terms) == 0 {
		return ""
	}
	a, b, sign := v.A, v.B, 1.0
	if *v.Difference < 0 {
		a, b, sign = v.B, v.A, -1
	}
	rest := sign * *v.Difference
	words := make([]string, 0, len(v.Terms)+1)
	for _, t := range v.Terms {
		words = append(words, signed(sign*t.Seconds)+" "+t.What)
		rest -= sign * t.Seconds
	}
	if math.Abs(rest) >= smallestTerm {
		words = append(words, signed(rest)+" not explained")
	}
	return fmt.Sprintf("%s − %s = %s: %s", a, b, seconds(sign**v.Difference), strings.Join(words, ", "))
}

// seconds writes a time in s: in ms below 10 s.
func seconds(v float64) string {
	switch size := math.Abs(v); {
	case size >= 10:
		return fmt.Sprintf("%.1f s", v)
	case size >= 0.01:
		return fmt.Sprintf("%.0f ms", v*1000)
	default:
		return fmt.Sprintf("%.1f ms", v*1000)
	}
}

func signed(v float64) string {
	if v < 0 {
		return "−" + seconds(-v)
	}
	return "+" + seconds(v)
}
