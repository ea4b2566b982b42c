package keylog

import "testing"

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		logs []string
		want string
	}{
		"nothing":        {nil, ""},
		"both sides":     {[]string{"A 1 2\nB 1 3\n", "B 1 3\nA 1 2\n"}, "A 1 2\nB 1 3\n"},
		"one side more":  {[]string{"A 1 2\n", "A 1 2\nC 1 4\n"}, "A 1 2\nC 1 4\n"},
		"cut at the end": {[]string{"A 1 2\nB 1", "C 1 4\n"}, "A 1 2\nC 1 4\n"},
	} {
		var logs [][]byte
		for _, l := range c.logs {
			logs = append(logs, []byte(l))
		}
		if got := string(Merge(logs...)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
