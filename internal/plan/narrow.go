package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// Narrow holds the flags that choose a part of a study. The zero value changes
// nothing.
//
// Paths, Loads, Protocols and Sites keep the study's members of those names, in
// the study's order. A name that the study has not, but samewire knows (a
// preset path or load, a protocol, a site), is added after them, so that
// "quick --paths cell-edge" needs no file. A name given twice counts once.
//
// The least number of blocks of reps: auto, where it is left to samewire, is that
// of the part that is left: Build chooses it.
type Narrow struct {
	Paths     []string
	Loads     []string
	Protocols []string
	Sites     []string
	Reps      string  // as in a study: a number, or auto …; empty: the study's
	Seed      *uint64 // nil: the study's
	Timeout   string  // of a run, as in a study; empty: the study's
}

// Apply returns the part of the study that the flags leave. The error is
// Faults: every name that is known to neither the study nor samewire, and every
// value out of range.
func (n Narrow) Apply(s lab.Study) (lab.Study, error) {
	var faults Faults
	s.Paths = choose(&faults, "--paths", n.Paths, s.Paths, presetValues(pathPresets(), renamePath),
		func(p lab.Path) string { return p.Name })
	s.Loads = choose(&faults, "--loads", n.Loads, s.Loads, presetValues(loadPresets(), renameLoad),
		func(l lab.Load) string { return l.Name })
	s.Protocols = choose(&faults, "--protocols", n.Protocols, s.Protocols, lab.Protocols(),
		func(p lab.Protocol) string { return string(p) })
	s.Sites = choose(&faults, "--site", n.Sites, s.Sites, lab.SiteNames(),
		func(s lab.SiteName) string { return string(s) })
	if n.Reps != "" {
		s.Reps, s.Auto = repsFlag(&faults, n.Reps)
	}
	if n.Timeout != "" {
		var err error
		if s.Timeout, err = runTimeout(n.Timeout); err != nil {
			faults = append(faults, Fault{File: "--timeout", Message: err.Error()})
		}
	}
	if n.Seed != nil {
		s.Seed = *n.Seed
	}
	if err := faults.err(); err != nil {
		return lab.Study{}, err
	}
	return s, nil
}

func presetValues[T any](presets []preset[T], rename func(T, string) T) []T {
	out := make([]T, len(presets))
	for i, p := range presets {
		out[i] = rename(p.value, p.name)
	}
	return out
}

func choose[T any](faults *Faults, flag string, wanted []string, have, more []T, name func(T) string) []T {
	if len(wanted) == 0 {
		return have
	}
	all := slices.Clone(have)
	for _, m := range more {
		if !slices.ContainsFunc(have, func(h T) bool { return name(h) == name(m) }) {
			all = append(all, m)
		}
	}
	var out []T
	known := make([]string, len(all))
	for i, v := range all {
		known[i] = name(v)
		if slices.Contains(wanted, known[i]) {
			out = append(out, v)
		}
	}
	for _, w := range wanted {
		if !slices.Contains(known, w) {
			*faults = append(*faults, Fault{File: flag, Message: unknownName(w, known, len(have))})
		}
	}
	return out
}

// unknownName tells the study's own names, which come first, from the others.
func unknownName(name string, known []string, own int) string {
	s := fmt.Sprintf("%q is neither in the study nor known to samewire", clip(name)) + meant(name, known) +
		"in the study: " + strings.Join(known[:own], ", ")
	if own < len(known) {
		s += "; others: " + strings.Join(known[own:], ", ")
	}
	return s
}
