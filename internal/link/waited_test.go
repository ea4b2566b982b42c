package link

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

// What a delivery says of its wait for the rate, and of its transmission.
func TestWaitedAndSending(t *testing.T) {
	const us = time.Microsecond
	type times struct{ at, waited, sending time.Duration }
	for _, tt := range []struct {
		name  string
		way   lab.Way
		steps []given // sizes of 1000 B take 1 ms at 8 Mbit/s
		want  []times
	}{
		{"no rate", lab.Way{}, []given{{0, 1000}, {0, 1000}}, []times{{0, 0, 0}, {0, 0, 0}}},
		{"rate", lab.Way{Rate: 8e6}, []given{{0, 1000}, {0, 1000}, {500 * us, 500}, {9 * milli, 1000}},
			[]times{{milli, 0, milli}, {2 * milli, milli, milli}, {2500 * us, 1500 * us, 500 * us}, {10 * milli, 0, milli}}},
		{"overhead", lab.Way{Rate: 8e6, Overhead: 100}, []given{{0, 900}, {0, 900}}, []times{{milli, 0, milli}, {2 * milli, milli, milli}}},
		{"token bucket", lab.Way{Rate: 8e6, Burst: 2500}, []given{{0, 1000}, {0, 1000}, {0, 1000}, {0, 1000}},
			[]times{{0, 0, 0}, {0, 0, 0}, {500 * us, 0, 500 * us}, {1500 * us, 500 * us, milli}}},
		{"policer", lab.Way{Rate: 8e6, Burst: 2500, Police: true}, []given{{0, 1000}, {0, 1000}}, []times{{0, 0, 0}, {0, 0, 0}}},
		{"opportunities", mahimahi(5, 10), []given{{0, 1000}, {0, 1000}, {0, 1000}},
			[]times{{5 * milli, 5 * milli, 0}, {10 * milli, 5 * milli, 5 * milli}, {10 * milli, 10 * milli, 0}}},
		{"rates", rates("0,8mbit\n0.0005,0bit\n2,8mbit"), []given{{0, 1000}, {0, 1000}},
			[]times{{2*time.Second + 500*us, 0, 2*time.Second + 500*us}, {2*time.Second + 1500*us, 2*time.Second + 500*us, milli}}},
		{"CoDel", lab.Way{Rate: 8e6, AQM: lab.AQM{Kind: lab.CoDel}}, []given{{0, 1000}, {0, 1000}, {500 * us, 500}},
			[]times{{milli, 0, milli}, {2 * milli, milli, milli}, {2500 * us, 1500 * us, 500 * us}}},
	} {
		const delay = 7 * time.Millisecond
		tt.way.Delay = delay
		l := New[int](lab.Path{Down: tt.way}, 1)
		for i, p := range tt.steps {
			l.Offer(lab.Down, p.at, zeros[:p.size], false, i)
		}
		for i, want := range tt.want {
			d, ok := l.Pop(lab.Down, time.Hour)
			if got := (times{d.At - delay, d.Waited, d.Sending}); !ok || d.Hold != i || got != want {
				t.Errorf("%s: packet %d: %+v, want %+v", tt.name, i, got, want)
			}
		}
	}
}

// A duplicate waits for the packet that it is of.
func TestWaitedOfADuplicate(t *testing.T) {
	l := New[int](lab.Path{Up: lab.Way{Rate: 8e6, Duplicate: lab.Chance{Share: 1}}}, 1)
	l.Offer(lab.Up, 0, zeros[:1000], false, 1)
	for i := range 2 {
		d, ok := l.Pop(lab.Up, time.Hour)
		if !ok || d.Last != (i == 1) || d.Waited != time.Duration(i)*milli || d.Sending != milli {
			t.Errorf("%+v", d)
		}
	}
}

// A packet is delivered when it has waited, has been sent and has had its delay;
// no two are sent at one time; and one that is dropped while it waits has waited
// until then.
func TestWaitingAndSendingAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		way := lab.Way{
			Rate: aqmRate, Delay: 3 * milli, Burst: rapid.SampledFrom([]int64{0, 5000}).Draw(t, "burst"),
			Queue: lab.Queue{Packets: rapid.IntRange(1, 100).Draw(t, "queue")},
			AQM:   lab.AQM{Kind: rapid.SampledFrom([]lab.AQMKind{"", lab.CoDel, lab.FQCoDel}).Draw(t, "aqm")},
		}
		l := New[int](lab.Path{Up: way}, 1)
		packets := jam(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), 500, 4)
		var free time.Duration
		late := rapid.Bool().Draw(t, "late")
		drain := func(now time.Duration) {
			for d, ok := l.Pop(lab.Up, now); ok; d, ok = l.Pop(lab.Up, now) {
				offered := packets[d.Hold].at - packets[0].at
				at := d.At - packets[0].at
				if d.Drop != "" {
					if at != offered+d.Waited || d.Sending != 0 {
						t.Fatalf("packet %d, offered at %v, is dropped at %v: %+v", d.Hold, offered, at, d)
					}
					continue
				}
				starts := offered + d.Waited
				if starts < free || starts < offered || d.Sending < 0 || at != starts+d.Sending+way.Delay {
					t.Fatalf("packet %d, offered at %v, is delivered at %v; the rate was free at %v: %+v", d.Hold, offered, at, free, d)
				}
				free = starts + d.Sending
			}
		}
		for i, p := range packets {
			if !late {
				drain(p.at)
			}
			l.Offer(lab.Up, p.at, zeros[:p.size], false, i)
		}
		drain(1 << 60)
	})
}
