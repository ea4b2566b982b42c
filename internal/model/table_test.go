package model

import (
	"math"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func path(rtt time.Duration, loss float64) lab.Path {
	w := lab.Way{Delay: rtt / 2, Rate: 1e8, Queue: lab.Queue{Bytes: 4e6}, Loss: lab.Loss{Share: loss}}
	return lab.Path{Up: w, Down: w}
}

var loads = map[string]lab.Load{
	"cold": {Objects: 1, Size: 4096}, "ten-small": {Objects: 10, Size: 8192},
	"fifty-small": {Objects: 50, Size: 8192}, "big": {Objects: 1, Size: 3e6},
}

func cellOf(p lab.Path, load string, protocol lab.Protocol) lab.Cell {
	return lab.Cell{Path: p, Load: loads[load], Stack: lab.DefaultStack, Site: lab.Virtual, Protocol: protocol}
}

// What was measured in virtual time (2026-11-30), in ms, for h1, h2, h3.
var measured = []struct {
	rtt  time.Duration
	load string
	ms   [3]float64
}{
	{40 * time.Millisecond, "cold", [3]float64{120.7, 120.7, 80.8}},
	{40 * time.Millisecond, "ten-small", [3]float64{163.9, 204.3, 129.9}},
	{40 * time.Millisecond, "fifty-small", [3]float64{447.5, 296.4, 210.0}},
	{40 * time.Millisecond, "big", [3]float64{528.6, 533.3, 436.7}},
	{150 * time.Millisecond, "cold", [3]float64{450.7, 450.7, 300.8}},
	{150 * time.Millisecond, "ten-small", [3]float64{603.9, 754.3, 483.3}},
	{150 * time.Millisecond, "fifty-small", [3]float64{1657.5, 1066.4, 782.1}},
	{150 * time.Millisecond, "big", [3]float64{1578.6, 1591.8, 1229.0}},
}

func TestPredictsWhatVirtualTimeGave(t *testing.T) {
	for _, m := range measured {
		for i, p := range lab.Protocols() {
			got := Theory{}.Predict(cellOf(path(m.rtt, 0), m.load, p))[lab.Duration] * 1000
			t.Logf("%s %s %s: predicted %.1f measured %.1f: %+.1f %%", m.rtt, m.load, p, got, m.ms[i], 100*(got/m.ms[i]-1))
			if math.Abs(got/m.ms[i]-1) > 0.03 {
				t.Errorf("off")
			}
		}
	}
}

func BenchmarkPredictBig(b *testing.B) {
	for _, p := range lab.Protocols() {
		b.Run(string(p), func(b *testing.B) {
			for range b.N {
				Theory{}.Predict(cellOf(path(40*time.Millisecond, 0), "big", p))
			}
		})
	}
}
func TestX(t *testing.T) {
	for _, m := range measured {
		for _, pp := range [][2]lab.Protocol{{lab.H2, lab.H3}, {lab.H1, lab.H3}, {lab.H1, lab.H2}} {
			t.Log(m.rtt, m.load, pp)
			for _, x := range (Theory{}).Explain(cellOf(path(m.rtt, 0), m.load, pp[0]), cellOf(path(m.rtt, 0), m.load, pp[1])) {
				t.Logf("    %+.1f %s", x.Seconds*1000, x.What)
			}
		}
	}
	for _, c := range []struct {
		rtt  time.Duration
		loss float64
	}{{40 * time.Millisecond, .01}, {40 * time.Millisecond, .03}, {100 * time.Millisecond, .01}, {100 * time.Millisecond, .05}} {
		for _, p := range lab.Protocols() {
			t.Log(c, p, (Theory{}).Predict(cellOf(path(c.rtt, c.loss), "big", p)))
		}
		for _, x := range (Theory{}).Explain(cellOf(path(c.rtt, c.loss), "big", lab.H2), cellOf(path(c.rtt, c.loss), "big", lab.H3)) {
			t.Logf("    %+.1f %s", x.Seconds*1000, x.What)
		}
	}
}
