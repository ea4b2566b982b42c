package wire

import (
	"slices"
	"time"
)

// fewest is how many full packets a round trip must have for their spacing to
// say something.
const fewest = 8

// shot is a packet with payload that was sent.
type shot struct {
	at   time.Duration
	size int
	lost bool
}

// spacing gathers how full packets are spaced within round trips.
type spacing struct {
	even, lumpy     int // round trips
	timed, prompted int // groups of packets that came after a pause, by what began them
	rates           []float64
}

// add looks at the full packets of one connection. heard are the times at which
// something reached their sender, in order. Packets less than gap apart are a
// group.
//
// Properties that an edit must keep:
//   - a round trip is even where no group has more than a quarter of its packets,
//     and lumpy where one has half or more; between them it says nothing;
//   - a group that begins within gap after something was heard may be prompted by
//     that: then the link spaced the acknowledgements, and no pacing is needed for
//     packets to look even.
func (s *spacing) add(full []shot, heard []time.Duration, gap, rtt time.Duration) {
	if rtt <= 2*gap {
		return
	}
	for len(full) > 0 {
		n, _ := slices.BinarySearchFunc(full, full[0].at+rtt, func(x shot, t time.Duration) int { return int(x.at - t) })
		if n = max(n, 1); n >= fewest {
			s.round(full[:n], heard, gap)
		}
		full = full[n:]
	}
}

// round looks at one round trip.
func (s *spacing) round(full []shot, heard []time.Duration, gap time.Duration) {
	largest, size, bytes, last := 0, 0, 0, full[0].at
	for i, x := range full {
		if i > 0 && x.at-full[i-1].at >= gap {
			size, last = 0, x.at
			if prompted(heard, x.at, gap) {
				s.prompted++
			} else {
				s.timed++
			}
		}
		size++
		largest = max(largest, size)
	}
	switch {
	case 2*largest >= len(full):
		s.lumpy++
	case 4*largest <= len(full):
		s.even++
		for _, x := range full {
			if x.at < last {
				bytes += x.size // sent from the first group on, until the last began
			}
		}
		s.rates = append(s.rates, float64(bytes)*8/(last-full[0].at).Seconds())
	}
}

// prompted says whether something was heard within gap before at.
func prompted(heard []time.Duration, at, gap time.Duration) bool {
	k, exact := slices.BinarySearch(heard, at)
	return exact || k > 0 && at-heard[k-1] < gap
}

// verdict says whether the sender paces, and how fast.
func (s *spacing) verdict() (paced *bool, rate *float64) {
	yes := s.even > s.lumpy
	if s.even+s.lumpy == 0 || s.even == s.lumpy || yes && s.timed <= s.prompted {
		return nil, nil
	}
	if yes {
		slices.Sort(s.rates)
		rate = &s.rates[len(s.rates)/2]
	}
	return &yes, rate
}
