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
			if math.Abs(got/m.ms[i]-1) > 0.015 {
				t.Errorf("%s, %s, %s: %.1f ms are predicted, %.1f were measured", m.rtt, m.load, p, got, m.ms[i])
			}
		}
	}
}

// Medians of 60 runs in virtual time (2026-11-30) of 3 MB where packets are lost,
// in s, for h1, h2, h3.
func TestPredictsLossWithinAQuarter(t *testing.T) {
	for _, m := range []struct {
		rtt  time.Duration
		loss float64
		s    [3]float64
	}{
		{40 * time.Millisecond, 0.01, [3]float64{6.30, 7.37, 4.24}},
		{40 * time.Millisecond, 0.03, [3]float64{14.93, 16.13, 9.12}},
		{100 * time.Millisecond, 0.05, [3]float64{54.85, 58.78, 30.43}},
	} {
		for i, p := range lab.Protocols() {
			got := Theory{}.Predict(cellOf(path(m.rtt, m.loss), "big", p))[lab.Duration]
			if math.Abs(got/m.s[i]-1) > 0.15 {
				t.Errorf("%s, %.0f %%, %s: %.2f s are predicted, %.2f were measured", m.rtt, m.loss*100, p, got, m.s[i])
			}
		}
	}
}

// Other paths and loads, in ms (virtual time, 2026-11-30).
func TestPredictsOtherCells(t *testing.T) {
	way := func(rtt time.Duration, rate lab.Rate, queue lab.Queue) lab.Path {
		w := lab.Way{Delay: rtt / 2, Rate: rate, Queue: queue}
		return lab.Path{Up: w, Down: w}
	}
	slow := way(60*time.Millisecond, 5e6, lab.Queue{Time: time.Second})
	small := way(30*time.Millisecond, 1e7, lab.Queue{Packets: 25})
	fast := way(40*time.Millisecond, 1e9, lab.Queue{Bytes: 20e6})
	mid, long := lab.Load{Objects: 20, Size: 1e5}, lab.Load{Objects: 1, Size: 3e7}
	up := lab.Load{Objects: 1, Size: 1e6, Upload: true}
	warm := lab.Load{Objects: 10, Size: 8192, Warm: true}
	for _, m := range []struct {
		path lab.Path
		load lab.Load
		ms   [3]float64 // 0: nothing is to be said
	}{
		{slow, mid, [3]float64{3584.9, 3596.2, 3478.8}},
		{slow, up, [3]float64{1901.6, 1918.3, 1815.9}},
		{slow, warm, [3]float64{201.8, 231.5, 198.8}},
		{small, long, [3]float64{25066, 25263.6, 25100.8}},
		{fast, mid, [3]float64{323.8, 401.0, 299.3}},
		{fast, up, [3]float64{324.2, 360.5, 257.2}},
		{fast, warm, [3]float64{80.4, 120.2, 90.0}},
		{fast, long, [3]float64{660.2, 693.8, 0}},
	} {
		for i, p := range lab.Protocols() {
			c := cellOf(m.path, "", p)
			c.Load = m.load
			got := Theory{}.Predict(c)[lab.Duration] * 1000
			if got == m.ms[i] {
				continue
			}
			if math.Abs(got/m.ms[i]-1) > 0.03 {
				t.Errorf("%v, %v, %s: %.1f ms are predicted, %.1f were measured", m.path.Down, m.load, p, got, m.ms[i])
			}
		}
	}
}
