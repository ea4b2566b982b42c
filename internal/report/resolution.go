package report

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// resolutions says of each site how far apart two series of the same cell were:
// what the A/A arms showed.
func resolutions(list []stats.Resolution) (out []string) {
	for _, site := range lab.SiteNames() {
		var worst stats.Resolution
		n, most := 0, 0.0
		for _, r := range list {
			if r.Site != site || r.Low == nil || r.High == nil || *r.Low <= 0 {
				continue
			}
			n++
			if reach := max(*r.High, 1 / *r.Low); reach > most {
				most, worst = reach, r
			}
		}
		if n == 0 {
			continue
		}
		out = append(out, fmt.Sprintf("%s: the same cell measured twice differs by at most %s (widest of %s: %s, %s, %s, interval %s to %s); smaller differences are not claimed there",
			site, share(most), plural(n, "comparison", "comparisons"), worst.Path, worst.Load, worst.Protocol, share(*worst.Low), share(*worst.High)))
	}
	return out
}

// agreements says how well the time here agrees with protocol time.
func agreements(list []stats.Agreement) (out []string) {
	for _, a := range list {
		if a.Median == nil || a.Worst == nil {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %d of %s within %.0f %% of protocol time; median %s, worst %s (%s)",
			a.Site, a.Within, plural(a.Cells, "cell", "cells"), a.Limit*100, share(1+*a.Median), share(1+*a.Worst), a.Where))
	}
	return out
}

// interval writes the 95 % interval of a median behind it; nothing where there is
// none, or where it is no wider than what is shown.
func interval(s stats.Statistic) string {
	if s.Median == nil || s.Low == nil {
		return ""
	}
	low, high := seconds(*s.Low), "…"
	if s.High != nil {
		high = seconds(*s.High)
	}
	if low == seconds(*s.Median) && low == high {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", low, high)
}
