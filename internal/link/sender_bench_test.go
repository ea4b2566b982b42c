package link

import (
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// busy are ways of about 100 Mbit/s that have more to do than they can.
func busy() map[string]lab.Way {
	trace, csv := mahimahi(1, 1, 1, 2, 2, 3, 3, 3), rates("0,150mbit\n0.5,0bit\n0.6,100mbit")
	return map[string]lab.Way{
		"rate":      {Rate: 100e6, Queue: lab.Queue{Packets: 100}},
		"bucket":    {Rate: 100e6, Burst: 15000, Overhead: 14, Queue: lab.Queue{Time: 10 * milli}},
		"police":    {Rate: 100e6, Burst: 15000, Police: true},
		"mahimahi":  {Trace: trace.Trace},
		"csv":       {Trace: csv.Trace},
		"codel":     {Rate: 100e6, AQM: lab.AQM{Kind: lab.CoDel, ECN: true}},
		"fq_codel":  {Rate: 100e6, AQM: lab.AQM{Kind: lab.FQCoDel, ECN: true}},
		"fq of few": {Rate: 100e6, Queue: lab.Queue{Packets: 100}, AQM: lab.AQM{Kind: lab.FQCoDel}},
	}
}

// pushing returns a function that offers a packet of one of a hundred flows, a
// little faster than the rate.
func pushing(w lab.Way) func() {
	s := newSender(w, 0, func(_, _ time.Duration, _ entry[int], _ lab.Fate) {})
	now, n := time.Duration(0), uint32(0)
	return func() {
		now += 115 * time.Microsecond
		n++
		s.offer(now, &entry[int]{size: 1500, ect: n%2 == 0, flow: n * 7 % 100})
		s.advance(now)
	}
}

func BenchmarkSender(b *testing.B) {
	for name, w := range busy() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			push := pushing(w)
			for b.Loop() {
				push()
			}
		})
	}
}

// In steady state a packet costs no allocation.
func TestSenderAllocatesNothing(t *testing.T) {
	for name, w := range busy() {
		push := pushing(w)
		for range 20000 {
			push()
		}
		if n := testing.AllocsPerRun(20000, push); n != 0 {
			t.Errorf("%s: %v allocations for a packet", name, n)
		}
	}
}
