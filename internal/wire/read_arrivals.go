package wire

import (
	"cmp"
	"slices"
)

// before says whether what arrived with event i was there when event j was
// offered: the order of the log breaks ties, so that it holds without delays.
func (r *Reading) before(i, j int) bool {
	return i < j && r.Events[i].arrived() && r.Events[i].Left <= r.Events[j].At
}

// arrivals compares two events that arrived by when they did.
func (r *Reading) arrivals(i, j int) int {
	return cmp.Or(cmp.Compare(r.Events[i].Left, r.Events[j].Left), cmp.Compare(i, j))
}

// delivered returns the event with which the last of the bytes [begin, end)
// arrived; not ok where some did not.
func (r *Reading) delivered(s *spans, begin, end int64) (event int, ok bool) {
	list := s.carriers(begin, end)
	list = slices.DeleteFunc(list, func(p span) bool { return !r.Events[p.event].arrived() })
	slices.SortStableFunc(list, func(a, b span) int { return r.arrivals(a.event, b.event) })
	var there spans
	for missing := end - begin; len(list) > 0; list = list[1:] {
		p := list[0]
		if missing -= there.add(p.begin, p.end, p.event); missing <= 0 {
			return p.event, true
		}
	}
	return -1, false
}

// timeline calls send for each event of list that was sent, and hear for each
// that arrived, in the order in which the hosts saw them: what arrived at an
// instant comes before what was sent at it, if it was sent before.
func (r *Reading) timeline(list []int, send, hear func(event int)) {
	there := slices.DeleteFunc(slices.Clone(list), func(i int) bool { return !r.Events[i].arrived() })
	slices.SortStableFunc(there, r.arrivals)
	for _, i := range list {
		for len(there) > 0 && r.before(there[0], i) {
			hear(there[0])
			there = there[1:]
		}
		send(i)
	}
	for _, i := range there {
		hear(i)
	}
}
