package wire

import (
	"strconv"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// sentence says in plain words what a stall was: the gravest debt, the credit that
// its connection waited for, what its timers did, and what the side that owed it
// sent meanwhile. The gravest debt comes first.
func (r *Reading) sentence(debts []debt, s silence) string {
	d := debts[0]
	parts := []string{r.named(d.of) + d.text}
	for _, other := range debts[1:] {
		if other.credit && other.of == d.of {
			parts = append(parts, other.text)
		}
	}
	asleep, rang := false, false
	for _, w := range d.watches {
		if text := r.rang(w); text != "" {
			parts = append(parts, text)
		}
		due, fired := w.count()
		asleep = asleep || fired < due && w.name != "tlp"
		rang = rang || fired > 0
	}
	if len(d.watches) > 0 && !asleep && !rang {
		parts = append(parts, "no timer of the "+sideOf(d.watches[0].side)+" was overdue before the silence ended")
	}
	parts = append(parts, r.meanwhile(d.side, s, asleep))
	if other := r.meanwhile(1-d.side, s, false); !strings.Contains(other, "nothing for") {
		parts = append(parts, other)
	}
	if rang && !asleep {
		parts = append(parts, "the "+sideOf(d.watches[0].side)+" did what it should")
	}
	return strings.Join(parts, "; ")
}

// timerNames are the timers' names in a sentence.
var timerNames = map[string]string{
	"rto": "retransmission timeout", "tlp": "tail-loss probe", "pto": "probe timeout", "persist": "persist timer",
}

// rang says when a timer fired, and when it should have.
func (r *Reading) rang(w *watch) string {
	var at [2][]time.Duration
	for _, g := range w.rings {
		if g.fired {
			at[1] = append(at[1], g.at)
		} else {
			at[0] = append(at[0], g.due)
		}
	}
	name := "the " + sideOf(w.side) + "'s " + timerNames[w.name]
	switch {
	case len(at[0]) > 0 && len(at[1]) > 0:
		return name + " fired at " + r.times(at[1]) + ", and should have fired at " + r.times(at[0])
	case len(at[0]) > 0:
		return name + " should have fired at " + r.times(at[0])
	case len(at[1]) > 0:
		return name + " fired at " + r.times(at[1])
	default:
		return ""
	}
}

// times lists the first times, and says how many there were besides.
func (r *Reading) times(at []time.Duration) string {
	var words []string
	for i, t := range at {
		if i == maxRings {
			return strings.Join(words, ", ") + " and " + plural(len(at)-maxRings, "time") + " more"
		}
		words = append(words, r.clockTime(t))
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return words[0]
}

// meanwhile says what a side sent during a silence and, of one that slept, how
// long it sent nothing at the end.
func (r *Reading) meanwhile(d lab.Direction, s silence, asleep bool) string {
	var at []time.Duration
	dropped := map[lab.Reason]int{}
	for i := r.offered(s.from); i < r.offered(s.to-1); i++ {
		if e := &r.Events[i]; e.Way == d {
			at = append(at, e.At)
			dropped[e.Fate.Drop]++
		}
	}
	took := length(s.to - s.from)
	if len(at) == 0 {
		return "the " + sideOf(d) + " sent nothing for " + took
	}
	var reasons []string
	for _, reason := range append(lab.Reasons(), lab.DropNetem) {
		if n := dropped[reason]; n > 0 {
			reasons = append(reasons, string(reason)+" "+strconv.Itoa(n))
		}
	}
	why := ""
	if len(reasons) > 0 {
		why = ": dropped by " + strings.Join(reasons, ", ")
	}
	if asleep {
		why += ", and then nothing for " + length(s.to-at[len(at)-1])
	}
	return "the " + sideOf(d) + " sent " + plural(len(at), "packet") + " in " + took + " (at " + r.times(at) + "), of which nothing arrived" + why
}

// named says which connection a debt is of, where there are several.
func (r *Reading) named(x *autopsy) string {
	if x == nil || len(r.Connections) < 2 {
		return ""
	}
	return "connection " + strconv.Itoa(x.conn+1) + ": "
}

// clockTime is a time of the run, since the load's start.
func (r *Reading) clockTime(t time.Duration) string { return length(t - r.began()) }

// length is a duration in ms below a second, and else in s, with three digits
// after the point at most.
func length(d time.Duration) string {
	if d.Abs() < time.Second {
		return number(float64(d)/1e6, 1) + " ms"
	}
	return number(float64(d)/1e9, 3) + " s"
}

// number has at most so many digits after the point, and no zeros at its end.
func number(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'f', digits, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// grouped is a number with a comma before each three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural is a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
