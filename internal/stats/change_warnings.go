package stats

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// warnChanges says what has to be known of a comparison as a whole.
func warnChanges(old, fresh *half, both []*pairing) (out []string) {
	if len(old.Records) > 0 && reflect.DeepEqual(old.Records, fresh.Records) {
		out = append(out, "both folders hold the same records")
	}
	if a, b := old.Plan.Samewire, fresh.Plan.Samewire; a != b {
		out = append(out, fmt.Sprintf("samewire %s → %s", a, b))
	}
	for _, h := range []*half{old, fresh} {
		for _, w := range warnMissing(h.Plan, h.Records) {
			out = append(out, h.Name+": "+w)
		}
	}
	if slices.ContainsFunc(both, (*pairing).realTime) {
		for _, s := range old.Machine.settings(fresh.Machine) {
			out = append(out, "the machine's "+s)
		}
		if old.Machine.CPU == "" || fresh.Machine.CPU == "" {
			out = append(out, "whether both folders were measured on one machine is not known")
		}
	}
	out = append(out, warnDiffers(both)...)
	for _, site := range lab.SiteNames()[1:] {
		out = append(out, warnTogether(site, both)...)
	}
	return append(out, warnNoResolution(both)...)
}

func (p *pairing) realTime() bool { return p.then.Site != lab.Virtual }

// warnDiffers says each difference once, with the cells in which it is.
func warnDiffers(both []*pairing) (out []string) {
	where := map[string][]string{}
	var order []string
	for _, p := range both {
		for _, d := range p.change.Differs {
			if where[d] == nil {
				order = append(order, d)
			}
			where[d] = append(where[d], fmt.Sprintf("%s, %s, %s, %s", p.then.Path.Name, p.then.Load.Name, p.then.Protocol, p.then.Site))
		}
	}
	const most = 3
	for _, d := range order {
		places := where[d]
		switch {
		case len(places) == len(both):
			out = append(out, "not the same in both folders: "+d)
		case len(places) > most:
			out = append(out, fmt.Sprintf("not the same in both folders: %s (%s; and %d more)", d, strings.Join(places[:most], "; "), len(places)-most))
		default:
			out = append(out, fmt.Sprintf("not the same in both folders: %s (%s)", d, strings.Join(places, "; ")))
		}
	}
	return out
}

// fewTogether is from how many cells on it says something that all moved the same
// way: with 6 fair coins one in 32 studies has it.
const fewTogether = 6

// warnTogether suspects the machine where all cells of a site in real time moved
// the same way, whatever the protocol: their loads have little in common.
func warnTogether(site lab.SiteName, both []*pairing) []string {
	var shifts []float64
	var protocols []lab.Protocol
	for _, p := range both {
		i := p.find(lab.Duration)
		if p.then.Site != site || i < 0 || math.IsInf(p.tests[i].shift.point, 0) {
			continue
		}
		shifts = append(shifts, p.tests[i].shift.point)
		if !slices.Contains(protocols, p.then.Protocol) {
			protocols = append(protocols, p.then.Protocol)
		}
	}
	slices.Sort(shifts)
	if len(shifts) < fewTogether || len(protocols) < 2 || shifts[0] <= 0 && shifts[len(shifts)-1] >= 0 {
		return nil
	}
	middle := math.Expm1(shifts[len(shifts)/2])
	if math.Abs(middle) < sessions/2 {
		return nil
	}
	return []string{fmt.Sprintf("all %d cells of the site %s moved the same way, by %+.1f %% in the middle: look at the machine before the programs", len(shifts), site, middle*100)}
}

// warnNoResolution counts the cells whose noise nobody measured.
func warnNoResolution(both []*pairing) []string {
	n := 0
	for _, p := range both {
		i := p.find(lab.Duration)
		if i < 0 || p.change.Exact {
			continue
		}
		_, a := p.old.resolutionOf(p.before.Cell, lab.Duration)
		_, b := p.fresh.resolutionOf(p.then.Cell, lab.Duration)
		if !a && !b {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: neither folder has an A/A arm of %d blocks there, so that it is not known what equal series differ by", count(n, "cell"), fewest)}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
