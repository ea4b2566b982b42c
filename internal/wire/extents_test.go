package wire

import (
	"testing"

	"pgregory.net/rapid"
)

// The set is compared with one that has each number by itself.
func TestExtents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s extents
		model := map[int64]bool{}
		for range rapid.IntRange(0, 20).Draw(t, "adds") {
			begin := rapid.Int64Range(0, 40).Draw(t, "begin")
			end := begin + rapid.Int64Range(0, 8).Draw(t, "length")
			s.add(begin, end)
			for i := begin; i < end; i++ {
				model[i] = true
			}
		}
		if s.total() != int64(len(model)) {
			t.Fatalf("%v has %d numbers, not %d", s, s.total(), len(model))
		}
		for i := range s {
			if s[i].begin >= s[i].end || i > 0 && s[i].begin <= s[i-1].end {
				t.Fatalf("%v is not in order, or touches", s)
			}
		}
		begin := rapid.Int64Range(0, 48).Draw(t, "has begin")
		end := begin + rapid.Int64Range(0, 8).Draw(t, "has length")
		want := true
		for i := begin; i < end; i++ {
			want = want && model[i]
		}
		if s.has(begin, end) != want {
			t.Fatalf("%v has [%d, %d): %v", s, begin, end, !want)
		}
	})
}
