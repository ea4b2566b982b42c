package plan

import (
	"errors"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// maxInitCwnd is the largest initial window of TCP, in segments.
const maxInitCwnd = 1000

// What a stack may be made of. The congestion controls are the ones that
// samewire can set; whether a site has them is the site's to say.
var (
	programs           = []string{lab.Embedded}
	tlsVersions        = []string{"1.2", "1.3"}
	congestionControls = []string{"bbr", "cubic", "reno"}
	pacings            = []string{defaultPacing, lab.PacingOff}
)

// defaultPacing is what a study calls the pacing that a program has by itself.
const defaultPacing = "default"

func (t *text) stack(n *node) lab.Stack {
	s := lab.DefaultStack
	t.fields(n, "a stack", []field{
		{"server", read(t, "server", oneOf(programs), func(v string) { s.Server = v })},
		{"client", read(t, "client", oneOf(programs), func(v string) { s.Client = v })},
		{"tls", read(t, "tls", oneOf(tlsVersions), func(v string) { s.TLS = v })},
		{"cc", read(t, "cc", oneOf(congestionControls), func(v string) { s.CC = v })},
		{"initcwnd", read(t, "initcwnd", number(1, maxInitCwnd), func(v int) { s.InitCwnd = v })},
		{"pacing", read(t, "pacing", oneOf(pacings), func(v string) { s.Pacing = strings.TrimPrefix(v, defaultPacing) })},
	})
	return s
}

// oneOf makes the parser of a word out of a closed list.
func oneOf[T ~string](words []T) func(string) (T, error) {
	return func(s string) (T, error) {
		if slices.Contains(words, T(s)) {
			return T(s), nil
		}
		return "", errors.New(notKnown(s, texts(words)))
	}
}

func texts[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}
