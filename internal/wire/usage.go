package wire

import (
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// usage writes how the link was used, from the load's start to its end.
func (r *Reading) usage(a About, f *lab.Wire) {
	f.Up.Usage, f.Down.Usage = r.usageOf(a, lab.Up), r.usageOf(a, lab.Down)
}

func (r *Reading) usageOf(a About, d lab.Direction) *lab.Usage {
	var packets []*Packet
	for i := range r.Events {
		if e := &r.Events[i]; e.Way == d && !r.ended(e.At) {
			packets = append(packets, e.Packet)
		}
	}
	if len(packets) == 0 {
		return nil
	}
	u := &lab.Usage{}
	from, to := r.Capture.Start, r.Capture.End
	if to <= from {
		to = packets[len(packets)-1].At
	}
	if a.Run.Cell.Path.Way(d).Limited() && r.Capture.Skipped == 0 {
		transmission(u, packets, from, to)
	}
	r.inFlightOf(u, d, from, to)
	if r.Capture.Skipped == 0 {
		u.Delivered = r.deliveredOf(d, from, to)
	}
	return u
}

// deliveredOf is what a direction delivered within [from, to], summed up: a point
// for each delivery where there are few of them, else one at the end of each of so
// many equal parts of the time in which something arrived. Every point is exact.
func (r *Reading) deliveredOf(d lab.Direction, from, to time.Duration) []lab.Level {
	var list []change
	for i := range r.Events {
		e := &r.Events[i]
		if e.Way == d && e.arrived() && e.IP.Size > 0 && e.Left >= from && e.Left <= to {
			list = append(list, change{e.Left, int64(e.IP.Size)})
		}
	}
	sortChanges(list)
	sums := levels(list)
	out := []lab.Level{}
	for i, s := range sums {
		last := i+1 == len(sums)
		if len(sums) <= points || last || part(s.at, from, to) != part(sums[i+1].at, from, to) {
			out = append(out, lab.Level{At: (s.at - from).Seconds(), Bytes: s.bytes})
		}
	}
	return out
}

// part is in which of so many equal parts of [from, to] a time lies.
func part(at, from, to time.Duration) int64 {
	return min(int64(float64(at-from)/float64(to-from)*points), points-1)
}

// transmission fills what the times say that packets waited and were
// transmitted. It leaves out a link that transmitted nothing for a time, since a
// policer or a full token bucket lets packets pass at once.
func transmission(u *lab.Usage, packets []*Packet, from, to time.Duration) {
	var busy, idle, until time.Duration
	var waits, begins, ends []time.Duration
	until = from
	for _, p := range packets {
		busy += overlap(p.At+p.Waited, p.At+p.Waited+p.Sending, from, to)
		idle = max(idle, min(p.At, to)-until)
		until = max(until, p.At+p.Waited+p.Sending)
		if p.Fate.Drop == lab.NotDropped && p.At >= from {
			waits = append(waits, p.Waited)
		}
		if p.Waited > 0 {
			begins, ends = append(begins, p.At), append(ends, p.At+p.Waited)
		}
	}
	if busy == 0 || to <= from {
		return
	}
	idle = max(idle, to-until)
	u.Busy, u.Idle = seconds(min(1, busy.Seconds()/(to-from).Seconds())), seconds(idle.Seconds())
	most := mostAtOnce(begins, ends, from)
	u.QueuePackets = &most
	slices.Sort(waits)
	if n := len(waits); n > 0 {
		u.QueueDelayP50, u.QueueDelayP99 = seconds(waits[(n-1)/2].Seconds()), seconds(waits[(n*99+99)/100-1].Seconds())
		u.QueueDelayMax = seconds(waits[n-1].Seconds())
	}
}

func overlap(begin, end, from, to time.Duration) time.Duration {
	return max(0, min(end, to)-max(begin, from))
}

// mostAtOnce is how many of the intervals [begin, end) there are at one time at
// most, from a time on. The begins must be in order; the ends need not be: not
// every queue is first in, first out.
func mostAtOnce(begins, ends []time.Duration, from time.Duration) (most int) {
	slices.Sort(ends)
	ended := 0
	for i, b := range begins {
		for ended < len(ends) && ends[ended] <= max(b, from) {
			ended++
		}
		most = max(most, i+1-ended)
	}
	return most
}

// points is how many points a series has at most.
const points = 64

// inFlightOf fills what all connections together had in flight.
func (r *Reading) inFlightOf(u *lab.Usage, d lab.Direction, from, to time.Duration) {
	if len(r.Connections) == 0 {
		return // what the packets are of is not known
	}
	var list []change
	for i := range r.Connections {
		if !r.accountable(i) || r.oneSided(i, d) {
			return
		}
		list = append(list, r.newHalf(i, d).changes()...)
	}
	if len(r.Connections) > 1 {
		sortChanges(list)
	}
	l := levels(list)
	most := peak(l, from, to)
	u.InFlightPeak = &most
	u.InFlight = series(l, from, to)
}

// series is what levels are within [from, to]: each where there are few of them,
// else the highest of each of so many equal parts of the time, so that no peak
// is lost. Times count from the time from.
func series(l []level, from, to time.Duration) (out []lab.Level) {
	add := func(at time.Duration, bytes int64) {
		if len(out) == 0 || out[len(out)-1].Bytes != bytes {
			out = append(out, lab.Level{At: (at - from).Seconds(), Bytes: bytes})
		}
	}
	within := within(l, from, to)
	if len(within) <= points {
		for _, x := range within {
			add(max(x.at, from), x.bytes)
		}
		return out
	}
	for i := range time.Duration(points) {
		begin, end := from+(to-from)*i/points, from+(to-from)*(i+1)/points
		add(begin, peak(within, begin, end-1))
	}
	return out
}

// within are the levels of [from, to], with the one that holds at its beginning.
func within(l []level, from, to time.Duration) []level {
	first, last := 0, len(l)
	for first+1 < len(l) && l[first+1].at <= from {
		first++
	}
	for last > first && l[last-1].at > to {
		last--
	}
	return l[first:last]
}

func seconds(v float64) *float64 { return &v }
