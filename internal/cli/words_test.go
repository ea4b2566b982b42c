package cli

import "testing"

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 paths", 1: "1 path", 2: "2 paths"} {
		if got := plural(n, "path", "paths"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
