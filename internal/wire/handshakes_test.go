package wire

import "testing"

// One key update shows in the packets of both hosts.
func TestKeyUpdatesAreOfBothDirections(t *testing.T) {
	for _, c := range []struct{ up, down, want int }{{0, 0, 0}, {1, 1, 1}, {1, 0, 1}, {2, 3, 3}} {
		if got := keyUpdates(c.up, c.down); got != c.want {
			t.Errorf("%d up and %d down: %d, want %d", c.up, c.down, got, c.want)
		}
	}
}
