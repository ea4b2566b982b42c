package story

import (
	"testing"

	"github.com/samewire/samewire/internal/wire/quic"
)

// What is left out is counted, one as well as several.
func TestRangesMore(t *testing.T) {
	list := []quic.Range{{Smallest: 9, Largest: 9}, {Smallest: 5, Largest: 7}, {Smallest: 1, Largest: 1}}
	for most, want := range map[int]string{1: "9, … 2 ranges more", 2: "9, 5-7, … 1 range more", 3: "9, 5-7, 1"} {
		if got := ranges(list, most); got != want {
			t.Errorf("at most %d: %q, want %q", most, got, want)
		}
	}
}
