package wire

import (
	"cmp"
	"slices"
	"time"
)

// packetThreshold is by how much a QUIC packet number must be behind an
// acknowledged one to be lost (RFC 9002, section 6.1.1).
const packetThreshold = 3

// findGone fills gone: when each packet was acknowledged, or, of QUIC, when its
// sender had to take it for lost.
//
// Properties that an edit must keep:
//   - nothing is gone before it was sent;
//   - TCP's bytes are in flight until they are acknowledged, however often they
//     are sent; a QUIC packet until it is acknowledged itself, or declared lost by
//     RFC 9002, section 6.1 (threshold of packets or of time), or until packets of
//     a later space are acknowledged, whose keys make it void (section 6.4);
//   - each packet is looked at a bounded number of times.
func (h *half) findGone() {
	h.gone = make([]time.Duration, len(h.sent))
	for i := range h.sent {
		h.gone[i] = h.sent[i].Acked
	}
	if !h.quic {
		return
	}
	var spaces [3][]int // indices of sent, by space
	for i := range h.sent {
		s := h.sent[i].Space
		spaces[s] = append(spaces[s], i)
	}
	var lost [3]int // how many of spaces are acknowledged or lost
	var rtt rttEstimate
	newest := [3]int{-1, -1, -1}
	for _, k := range h.learnt {
		s, now := h.sent[k].Space, h.sent[k].Acked
		rtt.sample(now - h.at(k))
		if k <= newest[s] {
			continue
		}
		newest[s] = k
		h.drop(spaces[s], &lost[s], h.sent[k].Number, now, rtt)
		for before := range s {
			for ; lost[before] < len(spaces[before]) && spaces[before][lost[before]] < k; lost[before]++ {
				h.leave(spaces[before][lost[before]], now)
			}
		}
	}
}

// drop declares lost what is packetThreshold behind number, and at the time's
// threshold (RFC 9002, section 6.1.2) what is less far behind.
func (h *half) drop(space []int, lost *int, number uint64, now time.Duration, rtt rttEstimate) {
	for ; *lost < len(space) && h.sent[space[*lost]].Number+packetThreshold <= number; *lost++ {
		h.leave(space[*lost], now)
	}
	for _, i := range space[*lost:min(len(space), *lost+packetThreshold)] {
		if h.sent[i].Number >= number {
			return
		}
		h.leave(i, max(now, h.at(i)+max(rtt.smoothed, rtt.latest)*9/8))
	}
}

func (h *half) leave(i int, at time.Duration) { h.gone[i] = max(min(h.gone[i], at), h.at(i)) }

// change is a change of what is in flight.
type change struct {
	at    time.Duration
	bytes int64
}

// changes returns the changes of what a half has in flight, in order.
func (h *half) changes() []change {
	list := make([]change, 0, 2*len(h.sent))
	for i := range h.sent {
		n := int64(h.bytes(i))
		if n == 0 {
			continue
		}
		list = append(list, change{h.at(i), n})
		if h.gone[i] != Never {
			list = append(list, change{h.gone[i], -n})
		}
	}
	sortChanges(list)
	return list
}

// sortChanges sorts by time. What leaves at a time does so before what is sent
// then: in virtual time the acknowledgement and what it lets out have one time.
func sortChanges(list []change) {
	slices.SortFunc(list, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.bytes, b.bytes))
	})
}

// level is what is in flight from a time on.
type level struct {
	at    time.Duration
	bytes int64
}

// levels adds changes up, one level for each time.
func levels(list []change) (out []level) {
	var sum int64
	for i, c := range list {
		sum += c.bytes
		if i+1 == len(list) || list[i+1].at != c.at {
			out = append(out, level{c.at, sum})
		}
	}
	return out
}

// peak is the highest of levels within [from, to], the one before included.
func peak(l []level, from, to time.Duration) (most int64) {
	k, _ := slices.BinarySearchFunc(l, from, func(l level, t time.Duration) int {
		if l.at <= t {
			return -1
		}
		return 1
	})
	for k = max(k-1, 0); k < len(l) && l[k].at <= to; k++ {
		most = max(most, l[k].bytes)
	}
	return most
}
