package store

import (
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// A study is not gone on with on another backend; a plan that names none had
// samewire's own link.
func TestDifferenceOfBackends(t *testing.T) {
	for _, tt := range []struct {
		have, want string
		same       bool
	}{
		{"", "", true}, {"", "tun", true}, {"tun", "tun", true}, {"netem", "netem", true},
		{"tun", "netem", false}, {"", "netem", false}, {"netem", "tun", false},
	} {
		d := difference(lab.Plan{Backend: tt.have}, lab.Plan{Backend: tt.want})
		if (d == "") != tt.same {
			t.Errorf("%q and %q: %q", tt.have, tt.want, d)
		}
	}
}

// Nor is it with another rule by which repetitions end.
func TestDifferenceOfRules(t *testing.T) {
	rule := func(width float64, least int) lab.Plan {
		return lab.Plan{Auto: &lab.Auto{Width: width, Min: least, Max: 9}}
	}
	for _, tt := range []struct {
		have, want lab.Plan
		same       bool
	}{
		{lab.Plan{}, lab.Plan{}, true}, {rule(0.1, 6), rule(0.1, 6), true},
		{lab.Plan{}, rule(0.1, 6), false}, {rule(0.1, 6), rule(0.2, 6), false}, {rule(0.1, 6), rule(0.1, 7), false},
	} {
		d := difference(tt.have, tt.want)
		if (d == "") != tt.same || !tt.same && !strings.Contains(d, "rule of repetitions") {
			t.Errorf("%+v and %+v: %q", tt.have.Auto, tt.want.Auto, d)
		}
	}
}
