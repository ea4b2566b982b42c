package stats

import (
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// What netem dropped was lost by chance, unless the path has a limit: then it
// cannot be told.
func TestWarnLossKnowsNetem(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int
		lost  int
		warns int
	}{
		{"as asked", 0, 1000, 0},
		{"too many", 0, 1400, 1},
		{"none", 0, 0, 1},
		{"with a limit", 50, 1400, 0},
	} {
		c := cell(lab.H3)
		c.Path.Up.Loss.Share, c.Path.Up.Limit = 0.05, tt.limit
		r := record(c, 1, 1, func(r *lab.Record) {
			r.Wire.Up = lab.WireWay{Packets: 20000, Drops: map[string]int{"netem": tt.lost}}
		})
		if got := WarnLoss([]lab.Record{r}); len(got) != tt.warns {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
