package gauge

import (
	"math"
	"slices"
)

// series is a train of datagrams, as it was sent and as it arrived.
type series struct {
	sent     []int64   // ns since 1970, by number; 0: not sent
	arrivals []arrival // in the order in which the receiver's socket got them
	unseen   int       // datagrams that the receiver's socket had no room for
	spoilt   int       // packets that the lab itself lost
	overflow int       // packets that found no room in the path, though the train was to leave room
	marked   int       // arrivals with congestion experienced (RFC 3168)
	altered  int       // arrivals whose content was not what was sent
}

// arrival is one datagram that arrived.
type arrival struct {
	number int
	at     int64 // ns since 1970, by the receiver's kernel
	bytes  int   // IP bytes
	before int   // of the series' datagrams that the socket had no room for until then
}

// count is how many datagrams were sent.
func (s *series) count() (n int) {
	for _, t := range s.sent {
		if t != 0 {
			n++
		}
	}
	return n
}

// delays are the one-way delays of the first arrival of each datagram, in s.
func (s *series) delays() (all []float64) {
	seen := make([]bool, len(s.sent))
	for _, a := range s.arrivals {
		if !seen[a.number] {
			seen[a.number] = true
			all = append(all, float64(a.at-s.sent[a.number])/1e9)
		}
	}
	return all
}

// lost says of each datagram that was sent whether it never arrived.
func (s *series) lost() []bool {
	seen := make([]bool, len(s.sent))
	for _, a := range s.arrivals {
		seen[a.number] = true
	}
	var lost []bool
	for i, t := range s.sent {
		if t != 0 {
			lost = append(lost, !seen[i])
		}
	}
	return lost
}

// duplicates is how many datagrams arrived more than once.
func (s *series) duplicates() (n int) {
	times := make([]int, len(s.sent))
	for _, a := range s.arrivals {
		times[a.number]++
		if times[a.number] == 2 {
			n++
		}
	}
	return n
}

// reordered counts the datagrams that arrived after one that was sent later
// (RFC 4737, 3: the type-P-reordered singleton; a second copy is not counted),
// and those that arrived.
func (s *series) reordered() (late, arrived int) {
	seen := make([]bool, len(s.sent))
	next := 0
	for _, a := range s.arrivals {
		if seen[a.number] {
			continue
		}
		seen[a.number] = true
		arrived++
		if a.number < next {
			late++
		} else {
			next = a.number + 1
		}
	}
	return late, arrived
}

// runs are the lengths of the runs of true. Those at the beginning and the end
// count as they are seen.
func runs(lost []bool) (lengths []int) {
	n := 0
	for _, l := range lost {
		if l {
			n++
			continue
		}
		if n > 0 {
			lengths = append(lengths, n)
		}
		n = 0
	}
	if n > 0 {
		lengths = append(lengths, n)
	}
	return lengths
}

// total sums lengths.
func total(lengths []int) (n int) {
	for _, l := range lengths {
		n += l
	}
	return n
}

// quantile is the value below which a share q of the values lies, between the
// two nearest ones by proportion. The values must be sorted; NaN without any.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func sorted(values []float64) []float64 {
	s := slices.Clone(values)
	slices.Sort(s)
	return s
}

// slope is the least-squares slope of y over x, its standard error if the
// residuals were independent, and how many times that it is where a residual is
// correlated with the one before (by r^lag). NaN with fewer than three points.
func slope(x, y []float64) (slope, se, together float64) {
	n := float64(len(x))
	if n < 3 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	var mx, my, xx, xy float64
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		xy += (x[i] - mx) * (y[i] - my)
	}
	if xx == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	slope = xy / xx
	var rest, next, last float64
	for i := range x {
		r := y[i] - my - slope*(x[i]-mx)
		rest += r * r
		next += r * last
		last = r
	}
	together = 1
	if next > 0 && rest > 0 {
		r := min(next/rest, 1-2/n)
		together = math.Sqrt((1 + r) / (1 - r))
	}
	return slope, math.Sqrt(rest / (n - 2) / xx), together
}
