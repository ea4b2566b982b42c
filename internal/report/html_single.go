package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// bins is into how many equal parts of a run's time its throughput is divided.
const bins = 32

// leastBytes is the size of a load whose throughput over time says something.
const leastBytes = 50_000

// throughput draws what the middle run of each protocol delivered over time.
func (d *drawer) throughput() chartGroup {
	g := chartGroup{
		ID: "throughput", Title: "Throughput over time",
		Text: "What the wire delivered, in the direction of the bodies, of the run with the middle duration: payload of TCP and UDP, what was sent again included. Loads of fewer than 50 kB are not drawn.",
	}
	left := 0
	for _, c := range d.places {
		if c.load.Bytes() < leastBytes || !d.delivers(c) {
			continue
		}
		if len(g.Charts) == mostPanels {
			left++
			continue
		}
		if ch := d.throughputChart(c); len(ch.Data.Marks) > 0 {
			d.add(&g, ch)
		}
	}
	g.LeftOut = notDrawn(left)
	return g
}

// delivers says whether it is known of any run of a comparison what was delivered.
func (d *drawer) delivers(c comparison) bool {
	for _, cell := range c.cells {
		if slices.ContainsFunc(d.records[cell.Cell], func(r *lab.Record) bool { return len(deliveredOf(r)) > 1 }) {
			return true
		}
	}
	return false
}

// deliveredOf is what was delivered of a run in the direction of its bodies.
func deliveredOf(r *lab.Record) []lab.Level {
	usage := r.Wire.Down.Usage
	if r.Run.Cell.Load.Upload {
		usage = r.Wire.Up.Usage
	}
	if usage == nil {
		return nil
	}
	return usage.Delivered
}

func (d *drawer) throughputChart(c comparison) chart {
	ch := chart{
		Title: c.name, Data: chartData{Kind: "throughput", X: "seconds", Y: "Mbit/s"},
		Head: []string{"protocol", "run", "a quarter delivered after", "half", "three quarters", "all"},
		Alt:  "Throughput over time, " + c.name + ". The table below says when a quarter, half and three quarters were delivered.",
	}
	for _, cell := range c.cells {
		r := d.middle(cell)
		if r == nil {
			continue
		}
		list := deliveredOf(r)
		if len(list) < 2 {
			continue
		}
		end := list[len(list)-1]
		if end.At <= 0 {
			continue
		}
		ch.Protocols = with(ch.Protocols, cell.Protocol)
		before := 0.0
		for i := 1; i <= bins; i++ {
			from, to := end.At*float64(i-1)/bins, end.At*float64(i)/bins
			bytes := deliveredBy(list, to)
			rate := (bytes - before) * 8 / (to - from) / 1e6
			before = bytes
			ch.Data.Marks = append(ch.Data.Marks, datum{Protocol: cell.Protocol, X: &from, Y: &rate})
		}
		zero := 0.0
		ch.Data.Marks = append(ch.Data.Marks, datum{Protocol: cell.Protocol, X: &end.At, Y: &zero})
		row := []string{string(cell.Protocol), clean(r.Run.ID)}
		for _, part := range []int64{1, 2, 3, 4} {
			k := slices.IndexFunc(list, func(l lab.Level) bool { return l.Bytes >= (end.Bytes*part+3)/4 })
			row = append(row, seconds(list[k].At))
		}
		ch.Rows = append(ch.Rows, row)
	}
	return ch
}

// deliveredBy is how many bytes had been delivered at a time: between two points as
// if they had come evenly, since what lies between is not kept.
func deliveredBy(list []lab.Level, at float64) float64 {
	before := lab.Level{}
	for _, l := range list {
		if l.At > at {
			if l.At == before.At {
				return float64(l.Bytes)
			}
			return float64(before.Bytes) + float64(l.Bytes-before.Bytes)*(at-before.At)/(l.At-before.At)
		}
		before = l
	}
	return float64(before.Bytes)
}

// waterfalls draws the requests of single runs: up to three that did not end ok, and
// of the load with the most objects the middle run of each protocol.
func (d *drawer) waterfalls() chartGroup {
	g := chartGroup{
		ID: "waterfall", Title: "Waterfall of single runs",
		Text: "Each bar is a request: connecting and TLS, waiting for the first byte, receiving; a cross is its end where it did not end ok. Drawn are the runs that did not end ok (three at most), and the middle run of each protocol in the comparison with the most objects.",
	}
	for _, r := range d.chosen() {
		if c := waterfall(r); len(c.Data.Marks) > 0 {
			d.add(&g, c)
		}
	}
	return g
}

// chosen are the runs that are drawn one by one.
func (d *drawer) chosen() (list []*lab.Record) {
	for i := range d.in.Records {
		r := &d.in.Records[i]
		if r.Outcome != lab.OK && r.Outcome != lab.Unsupported && r.Outcome != lab.Invalid && len(r.Requests) > 0 {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *lab.Record) int {
		return cmp.Or(a.Run.Order-b.Run.Order, a.Attempt-b.Attempt, strings.Compare(a.Run.ID, b.Run.ID))
	})
	list = list[:min(len(list), 3)]
	var most *comparison
	for _, c := range d.places {
		if most == nil || c.load.Objects > most.load.Objects || c.load.Objects == most.load.Objects && c.site == lab.Kernel && most.site != lab.Kernel {
			most = &c
		}
	}
	if most == nil {
		return list
	}
	for _, cell := range most.cells {
		if r := d.middle(cell); r != nil && len(r.Requests) > 0 {
			list = append(list, r)
		}
	}
	return list
}

func waterfall(r *lab.Record) chart {
	cell := r.Run.Cell
	c := chart{
		Title: fmt.Sprintf("%s, %s, %s, %s: run %s, %s", clean(cell.Path.Name), clean(cell.Load.Name), cell.Protocol, cell.Site, clean(r.Run.ID), r.Outcome),
		Data:  chartData{Kind: "waterfall", X: "seconds since the load's start", Y: "request"},
		Head:  []string{"request", "start", "connected", "TLS or QUIC ready", "first byte", "last byte", "outcome"},
	}
	c.Alt = "Waterfall of " + c.Title + ". The table below has the times."
	for i, q := range r.Requests[:min(len(r.Requests), mostWorks)] {
		name := fmt.Sprint(i + 1)
		c.Data.Labels = append(c.Data.Labels, name)
		at := 0.0
		phase := func(kind string, till *float64) {
			if till != nil && *till > at {
				from, to := q.Start+at, q.Start+*till
				c.Data.Marks = append(c.Data.Marks, datum{Label: name, Kind: kind, Low: &from, High: &to, Text: fmt.Sprintf("request %s, %s: %s to %s", name, kind, seconds(from), seconds(to))})
				at = *till
			}
		}
		ready := q.AppConnect
		if ready == nil {
			ready = q.Connect
		}
		phase("connecting", ready)
		phase("waiting", q.StartTransfer)
		phase("receiving", q.Total)
		if limit := r.Run.Timeout.Seconds() - q.Start; q.Outcome == lab.Timeout && q.Total == nil {
			if q.StartTransfer != nil {
				phase("receiving", &limit)
			} else {
				phase("waiting", &limit)
			}
		}
		if q.Outcome != lab.OK {
			till := q.Start + at
			c.Data.Boxes = append(c.Data.Boxes, datum{Label: name, X: &till, Text: fmt.Sprintf("request %s: %s", name, q.Outcome)})
		}
		c.Rows = append(c.Rows, []string{name, seconds(q.Start), shownTime(q.Connect), shownTime(q.AppConnect), shownTime(q.StartTransfer), shownTime(q.Total), string(q.Outcome)})
	}
	if n := len(r.Requests) - mostWorks; n > 0 {
		c.Title += fmt.Sprintf(" (the first %d of %d requests)", mostWorks, len(r.Requests))
	}
	return c
}
