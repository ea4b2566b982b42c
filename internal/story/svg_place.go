package story

import (
	"slices"
	"time"
)

// spot is where a row stands: from the top of the diagram, in pixels.
type spot struct {
	start, end float64
	lines      []string
}

func (s *spot) move(y float64) { s.start, s.end = s.start+y, s.end+y }

// point is one end of a row in time.
type point struct {
	at   time.Duration
	row  int
	end  bool
	side int // whose lifeline: 0 the client's, 1 the server's; 2 both
}

// How far rows stand apart, in pixels.
const (
	oneWayHeight = 46 // of a packet on an empty path
	mostGap      = 70 // between points, however long nothing happened
	leastSlant   = 7
	crossSlant   = 12 // of a packet that did not arrive
	boxPadding   = 14
)

// place finds the spots of the rows. Properties that an edit must keep: what is
// later never stands higher, an arrow points downwards, and labels of one side
// do not overlap.
func place(t *timeline, rows []row) []spot {
	spots := make([]spot, len(rows))
	points := pointsOf(t, rows, spots)
	perSecond := 0.0
	if t.rtt > 0 {
		perSecond = oneWayHeight / (t.rtt.Seconds() / 2)
	}
	y, free := 0.0, [2]float64{}
	for i, p := range points {
		if i > 0 {
			y += min((p.at-points[i-1].at).Seconds()*perSecond, gapBefore(rows[p.row], p))
		}
		s := &spots[p.row]
		if p.end {
			y = max(y, s.start+leastHeight(rows[p.row], s))
			s.end = y
			if isBox(rows[p.row]) {
				y += 4
			}
			continue
		}
		if isBox(rows[p.row]) && i > 0 {
			y += 8
		}
		for side := range free {
			if p.side == side || p.side == 2 {
				y = max(y, free[side])
			}
		}
		s.start, s.end = y, y
		for side := range free {
			if p.side == side || p.side == 2 && side == 1 {
				free[side] = y + float64(len(s.lines)*lineHeight) + 3
			}
		}
	}
	return spots
}

// gapBefore is the most that time may take before a point.
func gapBefore(r row, p point) float64 {
	if p.end && r.kind == silenceRow {
		return 0 // its box has its own height
	}
	return mostGap
}

func isBox(r row) bool { return r.kind == foldRow || r.kind == silenceRow }

func leastHeight(r row, s *spot) float64 {
	switch r.kind {
	case packetRow:
		if r.till == r.at {
			return crossSlant
		}
		return leastSlant
	case markRow:
		return 0
	}
	return float64(len(s.lines)*lineHeight) + boxPadding
}

func pointsOf(t *timeline, rows []row, spots []spot) []point {
	var points []point
	for i, r := range rows {
		side := 2
		if r.kind == packetRow {
			side = int(t.r.Events[r.event].Way)
			spots[i].lines = few(wrap(r.text(), labelWidth), 2)
		} else {
			spots[i].lines = few(wrap(r.text(), boxWidth), 5)
		}
		points = append(points, point{at: r.at, row: i, side: side}, point{at: r.till, row: i, end: true, side: side})
	}
	slices.SortStableFunc(points, func(a, b point) int {
		switch {
		case a.at != b.at:
			return int(max(min(a.at-b.at, 1), -1))
		case a.row != b.row:
			return a.row - b.row
		case a.end == b.end:
			return 0
		case a.end:
			return 1
		}
		return -1
	})
	return points
}

// few keeps at most n lines, and marks where more were.
func few(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	lines = slices.Clone(lines[:n])
	lines[n-1] += " …"
	return lines
}
