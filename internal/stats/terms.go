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
			if finite(t.Seconds) != nil && !slices.ContainsFunc(measured, func(m Term) bool { return kind(m) == kind(t) }) {
				out = append(out, t)
			}
		}
	}
	out = append(out, measured...)
	slices.SortStableFunc(out, func(a, b Term) int { return cmp.Compare(math.Abs(b.Seconds), math.Abs(a.Seconds)) })
	return out
}

// kind is what a term is about: its words up to the first number. Another congestion
// control is what theory calls another response to losses.
func kind(t Term) string {
	if strings.HasPrefix(t.What, "loss response") {
		return "congestion control"
	}
	if i := strings.IndexAny(t.What, "0123456789:("); i > 0 {
		return strings.TrimSpace(t.What[:i])
	}
	return t.What
}

// measured has a term for each thing in which TCP and QUIC differ where a stack of
// the study takes just this difference away: what then goes of the difference in
// time. Between two protocols over TCP there is no such thing.
func (s *study) measured(a, b *Cell) (out []Term) {
	if (a.Protocol == lab.H3) == (b.Protocol == lab.H3) {
		return nil
	}
	for _, level := range []func(from lab.Stack, quic *Cell) (lab.Stack, string){levelWindow, levelPacing, levelCC} {
		stack, what := level(a.Stack, overQUIC(a, b))
		if stack == a.Stack {
			continue
		}
		with := difference(s.on(a, stack), s.on(b, stack))
		if with == nil {
			continue
		}
		if t := (Term{what, *difference(a, b) - *with, FromMeasurement}); math.Abs(t.Seconds) >= smallestTerm {
			out = append(out, t)
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

func overQUIC(a, b *Cell) *Cell {
	if a.Protocol == lab.H3 {
		return a
	}
	return b
}

// levelWindow gives TCP the initial window that QUIC has.
func levelWindow(from lab.Stack, quic *Cell) (lab.Stack, string) {
	to := from
	if len(quic.Senders) == 1 && quic.Senders[0].InitialWindow > 0 {
		to.InitCwnd = quic.Senders[0].InitialWindow
	}
	return to, fmt.Sprintf("initial window %d against %d", from.InitCwnd, to.InitCwnd)
}

// levelPacing takes QUIC's pacing away.
func levelPacing(from lab.Stack, _ *Cell) (lab.Stack, string) {
	from.Pacing = lab.PacingOff
	return from, "pacing"
}

// levelCC gives TCP the congestion control that QUIC has.
func levelCC(from lab.Stack, quic *Cell) (lab.Stack, string) {
	to := from
	if of := controls(quic); len(of) == 1 {
		to.CC = of[0]
	}
	return to, fmt.Sprintf("congestion control: %s against %s", from.CC, to.CC)
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
