package wire

import (
	"slices"
	"sort"
)

// interval is the numbers [begin, end).
type interval struct{ begin, end int64 }

// ranges is a set of numbers: intervals in order that do not touch.
type ranges []interval

// add puts [begin, end) into the set, and returns what of it was not there. What
// is more than maxMoves intervals before the last one is left out.
func (r *ranges) add(begin, end int64) (fresh []interval) {
	if begin >= end {
		return nil
	}
	list := *r
	i := sort.Search(len(list), func(i int) bool { return list[i].end >= begin })
	if len(list)-i > maxMoves {
		return nil
	}
	j, all := i, interval{begin, end}
	for ; j < len(list) && list[j].begin <= end; j++ {
		if begin < list[j].begin {
			fresh = append(fresh, interval{begin, list[j].begin})
		}
		begin = max(begin, list[j].end)
		all = interval{min(all.begin, list[j].begin), max(all.end, list[j].end)}
	}
	if begin < end {
		fresh = append(fresh, interval{begin, end})
	}
	if j == i {
		*r = slices.Insert(list, i, all)
		return fresh
	}
	list[i] = all
	*r = slices.Delete(list, i+1, j)
	return fresh
}

// covers says whether all of [begin, end) is in the set.
func (r ranges) covers(begin, end int64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i].end >= end })
	return begin >= end || i < len(r) && r[i].begin <= begin
}
