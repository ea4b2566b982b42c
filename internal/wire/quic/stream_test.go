package quic

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// In whatever pieces, overlaps and order data comes, it is read once, in order.
func TestStreamPutsDataInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "whole")
		var s stream
		var got []byte
		read := func(b []byte) { got = append(got, b...) }
		for range rapid.IntRange(0, 30).Draw(t, "pieces") {
			from := rapid.IntRange(0, len(whole)).Draw(t, "from")
			to := rapid.IntRange(from, len(whole)).Draw(t, "to")
			if !s.add(uint64(from), whole[from:to], read) {
				t.Fatal("no room")
			}
			if !bytes.Equal(got, whole[:len(got)]) || uint64(len(got)) != s.next {
				t.Fatalf("read %x of %x, next is %d", got, whole, s.next)
			}
		}
		for i := range whole {
			s.add(uint64(i), whole[i:i+1], read)
		}
		if !bytes.Equal(got, whole) || len(s.held) > 0 || s.size != 0 {
			t.Fatalf("read %x of %x; holds %d pieces, %d bytes", got, whole, len(s.held), s.size)
		}
	})
}

func TestStreamIsBounded(t *testing.T) {
	var s stream
	refused := 0
	for i := range 5000 {
		if !s.add(uint64(1<<40+i*5000), make([]byte, 1000), func([]byte) { t.Fatal("read beyond a gap") }) {
			refused++
		}
	}
	if s.size > maxHeld || len(s.held) > maxPieces || refused == 0 {
		t.Errorf("holds %d bytes in %d pieces; %d refused", s.size, len(s.held), refused)
	}
}
