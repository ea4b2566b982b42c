package wire

import "sort"

// extents is a set of numbers, as ranges [begin, end) in ascending order that do
// not touch each other.
type extents []extent

type extent struct{ begin, end int64 }

// add puts [begin, end) into the set. What comes in order costs no search.
func (s *extents) add(begin, end int64) {
	if begin >= end {
		return
	}
	n := len(*s)
	if n == 0 || begin > (*s)[n-1].end {
		*s = append(*s, extent{begin, end})
		return
	}
	if last := &(*s)[n-1]; begin >= last.begin {
		last.end = max(last.end, end)
		return
	}
	// All that touch [begin, end) become one.
	from := sort.Search(n, func(i int) bool { return (*s)[i].end >= begin })
	to := from
	for to < n && (*s)[to].begin <= end {
		begin, end = min(begin, (*s)[to].begin), max(end, (*s)[to].end)
		to++
	}
	if to == from {
		*s = append(*s, extent{})
		copy((*s)[from+1:], (*s)[from:])
		(*s)[from] = extent{begin, end}
		return
	}
	(*s)[from] = extent{begin, end}
	*s = append((*s)[:from+1], (*s)[to:]...)
}

// total is how many numbers are in the set.
func (s extents) total() (n int64) {
	for _, r := range s {
		n += r.end - r.begin
	}
	return n
}

// end is the number after the largest.
func (s extents) end() int64 {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].end
}

// has says whether all of [begin, end) is in the set.
func (s extents) has(begin, end int64) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].end >= end })
	return begin >= end || i < len(s) && s[i].begin <= begin
}

// carried says what was carried of each stream of bytes in one direction of a
// connection.
type carried map[channel]*extents

// channel names a stream of bytes.
type channel struct {
	kind channelKind
	id   uint64 // QUIC: the stream's, or the packet number space
}

type channelKind int

const (
	dataStream   channelKind = iota // TCP's only one, or a stream of QUIC
	cryptoStream                    // of QUIC's handshake
	finStream                       // not bytes: {0} of a QUIC stream says that its end was carried
)

// morsel is a part of a stream.
type morsel struct {
	of         channel
	begin, end int64
}

func (c carried) add(p morsel) {
	s := c[p.of]
	if s == nil {
		s = new(extents)
		c[p.of] = s
	}
	s.add(p.begin, p.end)
}

func (c carried) of(s channel) extents {
	if p := c[s]; p != nil {
		return *p
	}
	return nil
}

func (c carried) has(p morsel) bool { return c.of(p.of).has(p.begin, p.end) }

// total is how many bytes there are, of all streams.
func (c carried) total() (n int64) {
	for of, s := range c {
		if of.kind != finStream {
			n += s.total()
		}
	}
	return n
}
