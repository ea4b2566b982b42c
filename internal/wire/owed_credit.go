package wire

import (
	"sort"
	"strconv"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// credit is what the receiver of direction d owed the sender: flow-control credit
// that was used up while there was more to send.
func (x *autopsy) credit(d lab.Direction) []debt {
	if x.c.Transport == "tcp" {
		return x.window(d)
	}
	var all []debt
	for _, kind := range []string{"stream", "data", "streams"} {
		blocked, limit := x.blocked(d, kind)
		if len(blocked) == 0 {
			continue
		}
		all = append(all, debt{
			of: x, side: 1 - d, grave: graveCredit, credit: true,
			text: x.blockedText(d, kind, blocked, limit) + "; " + x.raised(d, kind, blocked) + "; " + x.asked(d, kind),
		})
	}
	return all
}

// limits are the newest limits of one kind that reached the sender, by stream.
func (x *autopsy) limits(d lab.Direction, kind string) map[uint64]int64 {
	limits := map[uint64]int64{}
	for _, c := range x.c.Credit[d] {
		if c.At > x.s.from {
			break
		}
		if c.Kind != kind {
			continue
		}
		if old, some := limits[c.Stream]; !some || c.Max > old {
			limits[c.Stream] = c.Max
		}
	}
	return limits
}

// blocked returns, by stream (of data and streams: 0), the limit at which the
// sender of direction d had to stop, and the largest of them.
func (x *autopsy) blocked(d lab.Direction, kind string) (map[uint64]int64, int64) {
	limits, found := x.limits(d, kind), map[uint64]int64{}
	switch limit, some := limits[0]; {
	case kind == "stream":
		x.blockedStreams(d, limits, found)
	case kind == "data" && some && x.used(d) >= limit && x.unfinished(d):
		found[0] = limit
	}
	// What the sender says itself goes for limits that cannot be read, too.
	for _, f := range x.frames(d, x.s.from, blockedFrames[kind]) {
		if id := f.Stream; int64(f.Max) >= limits[id] && !f.Uni && x.still(d, f, kind) {
			found[id] = int64(f.Max)
		}
	}
	most := int64(0)
	for _, limit := range found {
		most = max(most, limit)
	}
	return found, most
}

// blockedStreams finds the streams of direction d that have come to their limit.
// One whose end was sent needs no credit.
func (x *autopsy) blockedStreams(d lab.Direction, limits, found map[uint64]int64) {
	first, given := x.limits(d, "streams at first")[0]
	for of, s := range x.half[d].sent {
		limit, some := limits[of.id]
		if !some && given && of.id%4 == 0 { // what a client opened for a request
			limit, some = first, true
		}
		if of.kind == dataStream && some && s.end() >= limit && !x.over(d, of.id) {
			found[of.id] = limit
		}
	}
}

// still says whether the sender of direction d was still where it said that it was
// blocked.
func (x *autopsy) still(d lab.Direction, f quic.Frame, kind string) bool {
	switch kind {
	case "stream":
		return !x.over(d, f.Stream) && x.half[d].sent.of(channel{dataStream, f.Stream}).end() >= int64(f.Max)
	case "data":
		return x.used(d) >= int64(f.Max)
	default:
		return true
	}
}

// used is how much of a connection's credit the sender of direction d had used.
func (x *autopsy) used(d lab.Direction) (n int64) {
	for of, s := range x.half[d].sent {
		if of.kind == dataStream {
			n += s.end()
		}
	}
	return n
}

// over says whether the end of a stream was sent in direction d.
func (x *autopsy) over(d lab.Direction, id uint64) bool {
	return x.half[d].sent[channel{finStream, id}] != nil
}

// unfinished says whether a stream of direction d has no end yet.
func (x *autopsy) unfinished(d lab.Direction) bool {
	for of := range x.half[d].sent {
		if of.kind == dataStream && !x.over(d, of.id) {
			return true
		}
	}
	return false
}

var (
	blockedFrames = map[string]quic.FrameKind{"stream": quic.StreamDataBlocked, "data": quic.DataBlocked, "streams": quic.StreamsBlocked}
	creditFrames  = map[string]quic.FrameKind{"stream": quic.MaxStreamData, "data": quic.MaxData, "streams": quic.MaxStreams}
)

// frames returns the frames of a kind that were sent in direction d until a time.
func (x *autopsy) frames(d lab.Direction, until time.Duration, kind quic.FrameKind) (all []quic.Frame) {
	for _, s := range x.c.Sent[d] {
		if x.r.Events[s.Event].At > until {
			break
		}
		if p := x.packet(s); p != nil {
			for _, f := range p.Frames {
				if f.Kind == kind {
					all = append(all, f)
				}
			}
		}
	}
	return all
}

func (x *autopsy) blockedText(d lab.Direction, kind string, blocked map[uint64]int64, limit int64) string {
	who := "the " + sideOf(d)
	switch kind {
	case "stream":
		ids := make([]uint64, 0, len(blocked))
		for id := range blocked {
			ids = append(ids, id)
		}
		sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
		return who + " had used up the credit of " + plural(len(ids), "stream") + " (of stream " +
			strconv.FormatUint(ids[0], 10) + ": " + grouped(blocked[ids[0]]) + " B)"
	case "data":
		return who + " had used up the credit of the connection (" + grouped(limit) + " B)"
	default:
		return who + " may open no more streams (limit " + grouped(limit) + ")"
	}
}

// raised says what the receiver had done about it: credit that was sent and did
// not arrive, or none.
func (x *autopsy) raised(d lab.Direction, kind string, blocked map[uint64]int64) string {
	packets, last := 0, time.Duration(0)
	raisedOf := map[uint64]bool{}
	for _, s := range x.c.Sent[1-d] {
		e := &x.r.Events[s.Event]
		if e.At >= x.s.to {
			break
		}
		p := x.packet(s)
		if p == nil || came(e.Packet, x.s.from) {
			continue
		}
		carries := false
		for _, f := range p.Frames {
			id := f.Stream
			if kind != "stream" {
				id = 0
			}
			if limit, is := blocked[id]; is && f.Kind == creditFrames[kind] && !f.Uni && int64(f.Max) > limit {
				carries, raisedOf[id] = true, true
			}
		}
		if carries {
			packets, last = packets+1, e.At
		}
	}
	who := "the " + sideOf(1-d)
	if packets == 0 {
		return who + " had not raised it"
	}
	what := "it"
	if kind == "stream" && len(raisedOf) < len(blocked) {
		what = strconv.Itoa(len(raisedOf)) + " of them"
	}
	return who + " had raised " + what + " in " + plural(packets, "packet") + ", the last at " + x.r.clockTime(last) + ", of which none arrived"
}

// asked says whether the sender had told its receiver that it was blocked (RFC
// 9000, section 4.1), in a packet that arrived.
func (x *autopsy) asked(d lab.Direction, kind string) string {
	name := blockedFrames[kind]
	sent, arrived := 0, 0
	for _, s := range x.c.Sent[d] {
		e := &x.r.Events[s.Event]
		if e.At >= x.s.to {
			break
		}
		if p := x.packet(s); p != nil {
			for _, f := range p.Frames {
				if f.Kind == name {
					sent++
					if came(e.Packet, x.s.from) {
						arrived++
					}
				}
			}
		}
	}
	if sent == 0 {
		return "the " + sideOf(d) + " never asked for more (" + string(name) + ")"
	}
	return "the " + sideOf(d) + " asked for more in " + plural(sent, string(name)+" frame") + ", of which " + strconv.Itoa(arrived) + " arrived"
}

// window is the debt of TCP's receiver of direction d that has closed its window
// while something was to be sent. The sender's window that is too small for a
// segment counts as closed while less is in flight than the window: it waits, to
// avoid silly windows (RFC 9293, section 3.8.6.2).
func (x *autopsy) window(d lab.Direction) []debt {
	limit, since, some := x.newestWindow(d)
	h := &x.half[d]
	left := limit - h.sent.of(channel{}).end()
	if !some || len(h.unacked) > 0 && !x.shut(d) || left > 0 && left >= int64(h.full) || !x.more(d) {
		return nil
	}
	lost := x.lostUpdate(d, limit)
	text := "the " + sideOf(1-d) + " had closed its window at " + x.r.clockTime(since) + ": the " + sideOf(d) + " may send nothing beyond " + grouped(limit-1) + " B"
	if lost > 0 {
		text += "; it had opened it again in " + plural(lost, "packet") + ", of which none arrived"
	} else {
		text += "; it had not opened it again"
	}
	owed := debt{of: x, side: 1 - d, grave: graveCredit, credit: true, text: text}
	persist := x.persist(d, since)
	if due, fired := persist.count(); lost > 0 || fired < due {
		owed.side = d // a window update is not sent again: only the sender's probe finds out
	}
	owed.watches = []*watch{persist}
	return []debt{x.graded(owed)}
}

// shut says whether all that the sender of direction d has in flight is beyond the
// window: probes of one byte, which are the persist timer's.
func (x *autopsy) shut(d lab.Direction) bool {
	limit, _, some := x.newestWindow(d)
	for _, s := range x.half[d].unacked {
		if int64(s.Number) < limit {
			return false
		}
	}
	return some && x.c.Transport == "tcp" && len(x.half[d].unacked) > 0
}

// newestWindow is the offset up to which the sender may send, and since when.
func (x *autopsy) newestWindow(d lab.Direction) (limit int64, since time.Duration, some bool) {
	for _, c := range x.c.Credit[d] {
		if c.At > x.s.from {
			break
		}
		if c.Kind == "window" && (!some || c.Max != limit) {
			limit, since, some = c.Max, c.At, true
		}
	}
	return limit, since, some
}

// more says whether the sender of direction d had more to send, as far as can be
// told: where nothing can be read, a closed window says so.
func (x *autopsy) more(d lab.Direction) bool {
	if !x.c.Decrypted {
		return true
	}
	for _, q := range x.requests {
		if d == lab.Down && q.arrived && !q.ended || d == lab.Up && !q.whole {
			return true
		}
	}
	return false
}

// lostUpdate counts the receiver's packets that would have opened the window and
// did not arrive.
func (x *autopsy) lostUpdate(d lab.Direction, limit int64) (n int) {
	scale := 0
	for _, i := range x.c.Events {
		e := &x.r.Events[i]
		if e.At >= x.s.to {
			break
		}
		if e.Way == d {
			continue
		}
		if e.IP.TCP.Flags&ip.SYN != 0 {
			scale = int(max(e.IP.TCP.WindowScale, 0))
			continue
		}
		if !came(e.Packet, x.s.from) && e.AckOffset >= 0 && e.AckOffset+int64(e.IP.TCP.Window)<<scale > limit {
			n++
		}
	}
	return n
}
