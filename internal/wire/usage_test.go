package wire

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func usageOf(h *hand, a About) *lab.Usage {
	var f lab.Wire
	h.reading().usage(a, &f)
	return f.Down.Usage
}

// Ten packets at once on a link on which each takes 1 ms: the last one waits 9 ms;
// then a pause, and one more.
func TestUsage(t *testing.T) {
	h := byHand("tcp")
	h.from, h.to = 0, 40
	for n := range 10 {
		h.segment(0, n)
		p := h.packets[len(h.packets)-1]
		p.Waited, p.Sending = ms(float64(n)), ms(1)
	}
	h.segment(30, 10)
	h.packets[len(h.packets)-1].Sending = ms(1)
	h.segment(5, 11) // dropped: it neither waited nor was sent
	h.drop()
	h.segment(50, 12) // after the end
	a := About{RTT: ms(40)}
	a.Run.Cell.Path.Down.Rate = 8e6
	u := usageOf(h, a)
	for name, v := range map[string][2]float64{
		"busy": {*u.Busy, 11.0 / 40}, "idle": {*u.Idle, 0.020}, "median": {*u.QueueDelayP50, 0.004},
		"p99": {*u.QueueDelayP99, 0.009}, "max": {*u.QueueDelayMax, 0.009}, "packets": {float64(*u.QueuePackets), 9},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, v[0], v[1])
		}
	}
	if u := usageOf(h, About{}); u.Busy != nil || u.Idle != nil || u.QueueDelayMax != nil || u.QueuePackets != nil {
		t.Errorf("without a rate: %+v", u)
	}
}

func TestMostAtOnce(t *testing.T) {
	begins := []time.Duration{0, 0, 1, 5, 6}
	if got := mostAtOnce(begins, []time.Duration{9, 2, 5, 7, 7}, 0); got != 3 {
		t.Errorf("%d at once, want 3", got)
	}
	if got := mostAtOnce(nil, nil, 0); got != 0 {
		t.Errorf("%d of none", got)
	}
}

func TestInFlight(t *testing.T) {
	h := byHand("tcp")
	h.from, h.to = 0, 200
	h.segments(0, 0, 10)
	h.ack(40, 4, 6, 7)
	h.segment(40, 4) // again: it is in flight already
	h.segments(40, 10, 12)
	h.ack(80, 12)
	u := usageOf(h, About{RTT: ms(40)})
	want := []lab.Level{{At: 0, Bytes: 10000}, {At: 0.04, Bytes: 6000}, {At: 0.08, Bytes: 0}}
	if *u.InFlightPeak != 10000 || len(u.InFlight) != len(want) {
		t.Fatalf("%d, %+v", *u.InFlightPeak, u.InFlight)
	}
	for i := range want {
		if u.InFlight[i] != want[i] {
			t.Errorf("%+v, want %+v", u.InFlight[i], want[i])
		}
	}
}

// A QUIC packet that is lost leaves the flight when its sender knows (RFC 9002,
// section 6.1): by three later packets, or by time.
func TestInFlightOfQUIC(t *testing.T) {
	h := byHand("quic")
	h.from, h.to = 0, 200
	h.packetsInARow(0, 0, 10)
	h.ack(40, 0, 1, 2, 3, 4, 5, 6, 8, 9) // 0 by number, 7 by time: 45 ms after it was sent
	u := usageOf(h, About{RTT: ms(40)})
	want := []lab.Level{{At: 0, Bytes: 12000}, {At: 0.04, Bytes: 1200}, {At: 0.045, Bytes: 0}}
	if len(u.InFlight) != 3 || u.InFlight[0] != want[0] || u.InFlight[1] != want[1] || u.InFlight[2] != want[2] {
		t.Errorf("%+v, want %+v", u.InFlight, want)
	}
}

// A long series has at most 64 points, and its peak.
func TestSeriesIsShort(t *testing.T) {
	h := byHand("tcp")
	h.to = 100000
	next, at := 0, 0.0
	for k := range 1000 {
		next, at = h.flights(at, next, 1, func(int) int { return 1 + k*7%40 })
	}
	u := usageOf(h, About{RTT: ms(40)})
	most := int64(0)
	for _, l := range u.InFlight {
		most = max(most, l.Bytes)
	}
	if len(u.InFlight) > points || most != *u.InFlightPeak || most != 40*mss {
		t.Errorf("%d points, the highest %d, peak %d", len(u.InFlight), most, *u.InFlightPeak)
	}
}

// What was delivered, summed up: in the order of arrival, without what was lost or
// came after the end; and in at most 64 points, each of them exact.
func TestDelivered(t *testing.T) {
	h := byHand("tcp")
	h.to = 100
	for n := range 3 {
		h.segment(float64(10*n), n)
		h.packets[len(h.packets)-1].Left = ms(float64(60 - 10*n))
	}
	h.segment(50, 3)
	h.drop()
	h.segment(90, 4)
	h.packets[len(h.packets)-1].Left = ms(101)
	want := []lab.Level{{At: 0.04, Bytes: 1000}, {At: 0.05, Bytes: 2000}, {At: 0.06, Bytes: 3000}}
	if got := usageOf(h, About{RTT: ms(40)}).Delivered; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}

	h = byHand("tcp")
	h.to = 1000
	for n := range 500 {
		h.segment(float64(2*n), n)
		h.packets[len(h.packets)-1].Left = ms(float64(2*n + 1))
	}
	got := usageOf(h, About{RTT: ms(40)}).Delivered
	if len(got) != points || got[points-1] != (lab.Level{At: 0.999, Bytes: 500 * mss}) {
		t.Fatalf("%d points, the last %v", len(got), got[len(got)-1])
	}
	for _, l := range got {
		if n := int64(math.Round((l.At*1000-1)/2)) + 1; l.Bytes != n*mss {
			t.Errorf("%v, want %d bytes", l, n*mss)
		}
	}
}
