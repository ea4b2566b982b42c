package wire

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
)

const (
	leastSilence = 300 * time.Millisecond
	// maxStalls is how many stalls a record describes: the longest.
	maxStalls = 32
)

// silence is a time in which no packet was on its way to its receiver. What the
// link dropped is not heard: a host that sends into a path that is dark does not
// end the silence.
type silence struct {
	from, to time.Duration
	ended    bool // packets came again before the load ended
}

// stalls finds the silences while something was owed, and says of each what, and
// by whom.
//
// A silence counts from max(300 ms, 3 RTT) on. The RTT is the path's without
// queues (About.RTT) or, where that is larger, the largest smoothed round trip
// (RFC 6298, section 2) that any sender had measured when the silence began.
// Silence before the load's first packet, and silence when all that was asked
// for has been delivered, is no stall. That of a server which has a request and
// has not answered is: the response is owed, and the record says by whom.
//
// Of more than 32 stalls the longest are described.
func (r *Reading) stalls(a About, f *lab.Wire) {
	f.Stalls = []lab.Stall{}
	if r.Capture.End <= r.Capture.Start && a.Body > 0 {
		return // a load that took no time
	}
	least := max(leastSilence, 3*a.RTT)
	quiet := r.silences(least)
	sort.SliceStable(quiet, func(i, j int) bool { return quiet[i].to-quiet[i].from > quiet[j].to-quiet[j].from })
	if len(quiet) == 0 {
		return
	}
	marks := r.marks()
	for _, s := range quiet {
		if len(f.Stalls) == maxStalls {
			break
		}
		if stall, ok := r.examine(a, s, marks); ok {
			f.Stalls = append(f.Stalls, stall)
		}
	}
	sort.SliceStable(f.Stalls, func(i, j int) bool { return f.Stalls[i].At < f.Stalls[j].At })
}

// silences returns the times of more than least, between the load's first packet
// and its end, in which no packet was under way that arrived. Packets that were
// still under way at the end are as good as arrived; and where the log has a
// hole nobody knows.
func (r *Reading) silences(least time.Duration) (found []silence) {
	c := r.Capture
	begin := r.began()
	heard, begun := begin, false
	note := func(until time.Duration, ended bool) {
		if begun && until-heard > least {
			found = append(found, silence{heard, until, ended})
		}
	}
	for i := range c.Packets {
		p := &c.Packets[i]
		if p.At >= c.End {
			break
		}
		if i == c.Gap && c.Skipped > 0 {
			heard = max(heard, p.At)
		}
		if !begun && p.At >= begin {
			begun, heard = true, max(heard, p.At)
		}
		if !heardOf(p) {
			continue
		}
		if p.At > heard {
			note(p.At, true)
		}
		heard = max(heard, min(p.Left, c.End))
	}
	if c.Skipped > 0 && c.Gap >= len(c.Packets) {
		return found
	}
	note(c.End, false)
	return found
}

// heardOf says whether a packet was on its way to a host that could read it:
// what was corrupted fails its checksum there.
func heardOf(p *Packet) bool {
	return p.Fate.Drop == lab.NotDropped && (!p.Fate.Corrupted || p.Fate.Duplicated)
}

// came says whether a packet had reached its receiver by a time, as it was sent.
func came(p *Packet, by time.Duration) bool { return p.Left <= by && heardOf(p) }

// examine says what was owed in a silence. It is not ok where nothing was, or
// where the silence is short beside the round trips that were measured.
func (r *Reading) examine(a About, s silence, marks [][]int) (lab.Stall, bool) {
	var all []*autopsy
	rtt := a.RTT
	for i, c := range r.Connections {
		if len(c.Events) == 0 || r.Events[c.Events[0]].At > s.from {
			continue
		}
		x := r.autopsy(i, s, marks[i])
		rtt = max(rtt, x.half[lab.Up].rtt.smoothed, x.half[lab.Down].rtt.smoothed)
		all = append(all, x)
	}
	if s.to-s.from <= max(leastSilence, 3*rtt) {
		return lab.Stall{}, false
	}
	stall := lab.Stall{
		At: r.stallTime(s.from), Length: asSeconds(s.to - s.from), Ended: s.ended,
		Owed: []string{}, Timers: []lab.Timer{},
	}
	for _, x := range all {
		stall.Delivered += x.half[lab.Up].arrived.total() + x.half[lab.Down].arrived.total()
	}
	if !r.conclude(a, all, s, &stall) {
		return lab.Stall{}, false
	}
	stall.LastSpoke = r.lastSpoke(s)
	return stall, true
}

// conclude gathers the debts of all connections, their timers, and the sentence
// about the gravest. It is not ok where nothing was owed.
func (r *Reading) conclude(a About, all []*autopsy, s silence, stall *lab.Stall) bool {
	var debts []debt
	for _, x := range all {
		debts = append(debts, x.debts()...)
	}
	debts = append(debts, r.unasked(a, all, debts)...)
	if len(debts) == 0 {
		return false
	}
	// Of what is as grave, what had not arrived comes before what was only not
	// acknowledged.
	slices.SortStableFunc(debts, func(a, b debt) int {
		return cmp.Or(cmp.Compare(b.grave, a.grave), cmp.Compare(b.missing, a.missing), cmp.Compare(b.bytes, a.bytes))
	})
	for _, d := range debts {
		stall.Owed = append(stall.Owed, r.named(d.of)+d.text)
		for _, w := range d.watches {
			stall.Timers = append(stall.Timers, w.timers(r)...)
		}
	}
	stall.ShouldAct = sideOf(debts[0].side)
	stall.Sentence = r.sentence(debts, s)
	return true
}

// lastSpoke names the side of the last packet before the silence's end, heard or
// not.
func (r *Reading) lastSpoke(s silence) string {
	if n := r.offered(s.to - 1); n > 0 {
		return sideOf(r.Events[n-1].Way)
	}
	return ""
}

// offered is how many packets had been offered at a time, itself included.
func (r *Reading) offered(by time.Duration) int {
	return sort.Search(len(r.Events), func(i int) bool { return r.Events[i].At > by })
}

// marks returns, for each connection, its events that carried a message or may
// have ended it: a stall is examined without looking at all the others.
func (r *Reading) marks() [][]int {
	all := make([][]int, len(r.Connections))
	for n, c := range r.Connections {
		for _, i := range c.Events {
			if e := &r.Events[i]; len(e.Messages) > 0 || closes(e) || e.IP.TCP.Flags&ip.FIN != 0 {
				all[n] = append(all[n], i)
			}
		}
	}
	return all
}

// LastSpoken returns the last n events of direction d that were offered before a
// stall began, in order: indices into Events.
func (r *Reading) LastSpoken(s lab.Stall, d lab.Direction, n int) []int {
	// A record's times have passed through seconds.
	began := r.began() + time.Duration(math.Round(s.At*1e9))
	var found []int
	for i := r.offered(began) - 1; i >= 0 && len(found) < n; i-- {
		if r.Events[i].Way == d {
			found = append(found, i)
		}
	}
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	return found
}

// began is when the load began; where it never did, since its warm-up failed, when
// the run did.
func (r *Reading) began() time.Duration {
	if c := r.Capture; c.End > c.Start {
		return c.Start
	}
	return 0
}

// stallTime returns a time of the run in s since the load's start.
func (r *Reading) stallTime(t time.Duration) float64 { return asSeconds(t - r.began()) }

// asSeconds is a duration in s. Dividing integers of nanoseconds, not multiplying,
// gives the nearest number, which is printed as it was meant.
func asSeconds(d time.Duration) float64 { return float64(d) / 1e9 }

// sideOf names the host that sends in direction d.
func sideOf(d lab.Direction) string {
	if d == lab.Up {
		return "client"
	}
	return "server"
}
