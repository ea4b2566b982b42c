package store

import (
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
