package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// numbers says in figures what a path is, and what follows from it: how long a
// packet takes, what fills the path, how long the queue can become.
func numbers(p lab.Path) string {
	up, down := wayNumbers(p, p.Up), wayNumbers(p, p.Down)
	words := []string{"RTT " + lab.FormatDuration(p.RTT())}
	if up == down {
		return strings.Join(append(words, "each way "+up), "; ")
	}
	return strings.Join(append(words, "up "+up, "down "+down), "; ")
}

func wayNumbers(p lab.Path, w lab.Way) string {
	words := []string{"no limit of rate"}
	if w.Rate > 0 {
		holds := queueBytes(w, p.RTT())
		words = []string{
			w.Rate.String(),
			"a packet of 1500 B takes " + span3(float64(lab.DefaultMTU)*8/float64(w.Rate)),
			"rate × RTT is " + size(carried(w.Rate, p.RTT())),
			"the queue holds " + size(holds) + " (" + span3(float64(holds)*8/float64(w.Rate)) + ")",
		}
	}
	if w.Jitter != (lab.Jitter{}) {
		words = append(words, "jitter "+w.Jitter.String())
	}
	if lost := w.Loss.Mean(); lost > 0 {
		text := share3(lost) + " of packets lost"
		if g := w.Loss.Gilbert; g.R > 0 && g.Bad == 1 && g.Good == 0 {
			text += ", " + strconv.FormatFloat(1/g.R, 'g', 3, 64) + " in a row on average"
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}

// share3, span3, size and round write figures with three digits.
func share3(p float64) string { return strconv.FormatFloat(p*100, 'g', 3, 64) + "%" }

func span3(seconds float64) string {
	d := time.Duration(digits3(seconds * float64(time.Second)))
	return lab.FormatDuration(d)
}

func size(n int64) string {
	v := digits3(float64(n))
	for _, u := range []struct {
		name  string
		value float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if v >= u.value {
			return fmt.Sprintf("%g%s", v/u.value, u.name)
		}
	}
	return fmt.Sprintf("%gB", v)
}

func round(r lab.Rate) string {
	v := digits3(float64(r))
	for _, u := range []struct {
		name  string
		value float64
	}{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}} {
		if v >= u.value {
			return fmt.Sprintf("%g%s", v/u.value, u.name)
		}
	}
	return fmt.Sprintf("%gbit", v)
}

// digits3 keeps three significant digits.
func digits3(v float64) float64 {
	if v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return math.Round(v/unit) * unit
}
