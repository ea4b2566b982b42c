package wire

import (
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
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

// spacing counts round trips by how full packets are spaced within them.
type spacing struct {
	timed, prompted int // even ones, by what began most of their groups
	lumpy           int
	rates           []float64 // of the timed ones
}

// add looks at the full packets of one connection. heard are the times at which
// something reached their sender, in order. Packets closer than burstGap are a
// group.
//
// Properties that an edit must keep:
//   - a round trip is even where no group has more than a third of its packets (a
//     pacer may let some go at once: RFC 9002, section 7.7), and lumpy where one has
//     half or more; between them it says nothing;
//   - a group that begins right after something was heard may be prompted by that:
//     then the link spaced the acknowledgements, and no pacing is needed for
//     packets to look even. Only a timer begins a group at another time.
func (s *spacing) add(full []shot, heard []time.Duration, a About, d lab.Direction) {
	gap, rtt, reacts := burstGap(a, d), a.RTT, reaction
	if a.Run.Cell.Site == lab.Virtual {
		reacts = time.Microsecond // there a host reacts at once
	}
	if rtt <= 2*gap {
		return
	}
	for len(full) > 0 {
		n, _ := slices.BinarySearchFunc(full, full[0].at+rtt, func(x shot, t time.Duration) int { return int(x.at - t) })
		if n = max(n, 1); n >= fewest {
			s.round(full[:n], heard, gap, reacts)
		}
		full = full[n:]
	}
}

// round looks at one round trip.
func (s *spacing) round(full []shot, heard []time.Duration, gap, reacts time.Duration) {
	largest, size, groups, timed, last := 0, 0, 0, 0, full[0].at
	for i, x := range full {
		if i > 0 && x.at-full[i-1].at >= gap {
			size, last = 0, x.at
			groups++
			if !prompted(heard, x.at, reacts) {
				timed++
			}
		}
		size++
		largest = max(largest, size)
	}
	switch {
	case 2*largest >= len(full):
		s.lumpy++
	case 3*largest > len(full):
	case 2*timed <= groups:
		s.prompted++
	default:
		s.timed++
		s.rates = append(s.rates, rateUntil(full, last))
	}
}

// rateUntil is the rate at which packets were sent from the first one on, until
// the last group began, in bit/s.
func rateUntil(full []shot, last time.Duration) float64 {
	bytes := 0
	for _, x := range full {
		if x.at < last {
			bytes += x.size
		}
	}
	return float64(bytes) * 8 / (last - full[0].at).Seconds()
}

// prompted says whether something was heard right before at, within the time in
// which a host reacts.
func prompted(heard []time.Duration, at, reacts time.Duration) bool {
	k, exact := slices.BinarySearch(heard, at)
	return exact || k > 0 && at-heard[k-1] < reacts
}

// timedRounds is how many round trips must show a timer at work, or lumps: one
// alone may be a recovery's, or the first flight, which pacers let go at once.
const timedRounds = 2

// verdict says whether the sender paces, and how fast. Pacing shows only where it
// is slower than acknowledgements come, so that few round trips are enough to say
// that it is there; where all follow acknowledgements it stays open. A program
// that writes by a timer of its own looks the same as a pacer.
func (s *spacing) verdict() (paced *bool, rate *float64) {
	yes := s.timed >= timedRounds && s.timed > s.lumpy
	switch {
	case yes:
		slices.Sort(s.rates)
		return &yes, &s.rates[len(s.rates)/2]
	case s.lumpy >= timedRounds && s.lumpy > s.timed+s.prompted:
		return &yes, nil
	default:
		return nil, nil
	}
}
