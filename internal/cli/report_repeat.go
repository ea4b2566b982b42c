package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
	"github.com/samewire/samewire/internal/site/kernel"
	"github.com/samewire/samewire/internal/store"
)

// repeatCommand is the command that carries a plan out again in the study's folder:
// the study's text, with the flags that had made this plan of it. Notes say what
// the command does not have.
func repeatCommand(p lab.Plan, text []byte) (command string, notes []string) {
	study, err := plan.ParseStudy(store.StudyFile, text, nil)
	if err != nil {
		return "", []string{"No command repeats this study as it stands: its text alone is not a whole study, since it names other files or was changed."}
	}
	words := append([]string{"samewire", "run", store.StudyFile}, repeatCells(p, study)...)
	if p.Seed != study.Seed {
		words = append(words, "--seed", strconv.FormatUint(p.Seed, 10))
	}
	if reps := repeatReps(p, study); reps != "" {
		words = append(words, "--reps", quoted(reps))
	}
	if len(p.Runs) > 0 && p.Runs[0].Timeout != study.Timeout {
		words = append(words, "--timeout", lab.FormatDuration(p.Runs[0].Timeout))
	}
	if p.Backend == string(kernel.Netem) {
		words = append(words, "--backend", p.Backend)
	}
	return strings.Join(words, " "), nil
}

// repeatCells are the flags that leave the plan's cells of a study.
func repeatCells(p lab.Plan, study lab.Study) (words []string) {
	var paths []lab.Path
	var loads, protocols, sites []string
	for _, r := range p.Runs {
		c := r.Cell
		paths, loads = with(paths, c.Path), with(loads, c.Load.Name)
		protocols, sites = with(protocols, string(c.Protocol)), with(sites, string(c.Site))
	}
	words = repeatPaths(paths, study.Paths)
	for _, f := range []struct {
		flag        string
		planned, of []string
	}{
		{"--loads", loads, namesOf(study.Loads, func(l lab.Load) string { return l.Name })},
		{"--protocols", protocols, namesOf(study.Protocols, func(p lab.Protocol) string { return string(p) })},
		{"--site", sites, namesOf(study.Sites, func(s lab.SiteName) string { return string(s) })},
	} {
		slices.Sort(f.planned)
		slices.Sort(f.of)
		if !slices.Equal(f.planned, f.of) {
			words = append(words, f.flag, quoted(strings.Join(f.planned, ",")))
		}
	}
	return words
}

// repeatPaths are --paths with the names of the study's paths where all are of it,
// else a --path for each.
func repeatPaths(planned, of []lab.Path) (words []string) {
	if slices.ContainsFunc(planned, func(p lab.Path) bool { return !slices.Contains(of, p) }) {
		for _, p := range planned {
			words = append(words, "--path", quoted(plan.FormatPath(p)))
		}
		return words
	}
	if len(planned) == len(of) {
		return nil
	}
	names := namesOf(planned, func(p lab.Path) string { return p.Name })
	slices.Sort(names)
	return []string{"--paths", quoted(strings.Join(names, ","))}
}

// repeatReps is the value of --reps; empty where the study says the same. The least
// number of blocks is left out: it follows from the study.
func repeatReps(p lab.Plan, study lab.Study) string {
	switch {
	case p.Auto == nil && (study.Auto != nil || p.Reps != study.Reps):
		return strconv.Itoa(p.Reps)
	case p.Auto == nil:
		return ""
	case study.Auto != nil && study.Auto.Width == p.Auto.Width && study.Auto.Max == p.Auto.Max && study.Auto.Budget == p.Auto.Budget:
		return ""
	}
	s := fmt.Sprintf("auto width %g%% max %d", 100*p.Auto.Width, p.Auto.Max)
	if p.Auto.Budget > 0 {
		s += " budget " + lab.FormatDuration(p.Auto.Budget)
	}
	return s
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.,:/%+", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func namesOf[T any](list []T, of func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

func with[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
