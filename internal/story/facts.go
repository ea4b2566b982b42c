package story

import (
	"fmt"
	"sort"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// waysTable has what is counted of each direction.
func waysTable(p *page, f *lab.Wire) {
	p.section("The wire")
	g := grid{{"", "up (client sends)", "down (server sends)"}}
	add := func(label string, of func(*lab.WireWay) string) {
		up, down := of(&f.Up), of(&f.Down)
		if up != "" || down != "" {
			g = append(g, []string{label, orElse(up, "–"), orElse(down, "–")})
		}
	}
	add("packets", func(w *lab.WireWay) string { return exact(int64(w.Packets)) })
	add("bytes", func(w *lab.WireWay) string { return exact(w.Bytes) })
	add("payload after TCP's and UDP's headers", func(w *lab.WireWay) string { return exact(w.Payload) })
	add("dropped", dropped)
	add("drops in a row: how often", lossRuns)
	add("sent before", func(w *lab.WireWay) string {
		if w.Retransmitted == nil {
			return "cannot be read"
		}
		return bytesOf(*w.Retransmitted)
	})
	add("also", besides)
	usageRows(add)
	burstRows(add)
	g.write(p)
	if f.GoodputShare != nil {
		p.para("  ", percent(*f.GoodputShare)+" of the bytes on the wire were content.")
	}
}

func dropped(w *lab.WireWay) string { return orElse(drops(w.Drops), "0") }

func lossRuns(w *lab.WireWay) string {
	runs := append([]lab.LossRun(nil), w.LossRuns...)
	sort.Slice(runs, func(i, j int) bool { return runs[i].Length < runs[j].Length })
	var parts []string
	for i, r := range runs {
		if i == 5 {
			parts = append(parts, fmt.Sprintf("up to %d", runs[len(runs)-1].Length))
			break
		}
		parts = append(parts, fmt.Sprintf("%d: %d×", r.Length, r.Count))
	}
	return strings.Join(parts, ", ")
}

func besides(w *lab.WireWay) string {
	var parts []string
	for _, c := range []struct {
		n    int
		name string
	}{
		{w.Duplicated, "duplicated"}, {w.Corrupted, "corrupted"}, {w.Reordered, "reordered"},
		{w.Marked, "marked"}, {w.Router, "of the router"}, {w.Foreign, "foreign"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	return strings.Join(parts, ", ")
}

// table adds a row for each direction's value; none where both are empty.
type table func(label string, of func(*lab.WireWay) string)

func usageRows(add table) {
	usage := func(label string, of func(*lab.Usage) string) {
		add(label, func(w *lab.WireWay) string {
			if w.Usage == nil {
				return ""
			}
			return of(w.Usage)
		})
	}
	usage("busy", func(u *lab.Usage) string { return orNone(u.Busy, percent) })
	usage("longest idle", func(u *lab.Usage) string { return orNone(u.Idle, seconds) })
	usage("queue delay: median, 99 %, most", func(u *lab.Usage) string {
		if u.QueueDelayP50 == nil || u.QueueDelayP99 == nil || u.QueueDelayMax == nil {
			return ""
		}
		return seconds(*u.QueueDelayP50) + ", " + seconds(*u.QueueDelayP99) + ", " + seconds(*u.QueueDelayMax)
	})
	usage("most packets in the queue", func(u *lab.Usage) string {
		if u.QueuePackets == nil {
			return ""
		}
		return exact(int64(*u.QueuePackets))
	})
	usage("most in flight", func(u *lab.Usage) string {
		if u.InFlightPeak == nil {
			return ""
		}
		return bytesOf(*u.InFlightPeak)
	})
}

func burstRows(add table) {
	burst := func(label string, of func(*lab.Bursts) string) {
		add(label, func(w *lab.WireWay) string {
			if w.Bursts == nil {
				return ""
			}
			return of(w.Bursts)
		})
	}
	burst("bursts: number, median, largest", func(b *lab.Bursts) string {
		return fmt.Sprintf("%s, %d, %d packets", exact(int64(b.Count)), b.Median, b.Largest)
	})
	burst("lost of bursts: head, middle, tail, alone", func(b *lab.Bursts) string {
		if b.LostHead+b.LostMiddle+b.LostTail+b.LostAlone == 0 {
			return ""
		}
		return fmt.Sprintf("%d, %d, %d, %d", b.LostHead, b.LostMiddle, b.LostTail, b.LostAlone)
	})
	burst("paced", func(b *lab.Bursts) string {
		switch {
		case b.Paced == nil:
			return ""
		case !*b.Paced:
			return "no: in lumps"
		case b.PacingRate != nil:
			return fmt.Sprintf("yes, %.2f Mbit/s", *b.PacingRate/1e6)
		}
		return "yes"
	})
}

func orNone(v *float64, write func(float64) string) string {
	if v == nil {
		return ""
	}
	return write(*v)
}
