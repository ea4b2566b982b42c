package lab

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func content(n int) []byte {
	b := make([]byte, n)
	FillContent(b, 0)
	return b
}

// The definition, word by word.
func TestContentIsDefined(t *testing.T) {
	b := content(8 * 1000)
	seen := map[uint64]bool{}
	for k := range uint64(1000) {
		word := binary.LittleEndian.Uint64(b[8*k:])
		if word != Mix64(k+1) || seen[word] {
			t.Fatalf("word %d is %x, want %x", k, word, Mix64(k+1))
		}
		seen[word] = true
	}
	// Of splitmix64's published finaliser.
	if got := Mix64(0x9e3779b97f4a7c15); got != 0xe220a8397b1dcdaf {
		t.Errorf("Mix64 is %x", got)
	}
}

func TestContentFromAnyOffset(t *testing.T) {
	whole := content(4096)
	rapid.Check(t, func(t *rapid.T) {
		off := rapid.IntRange(0, 4000).Draw(t, "offset")
		n := rapid.IntRange(0, 4096-off).Draw(t, "length")
		got := make([]byte, n)
		FillContent(got, int64(off))
		if !bytes.Equal(got, whole[off:off+n]) {
			t.Fatalf("%d bytes from %d are not the content's", n, off)
		}
	})
}

func TestContentReader(t *testing.T) {
	for _, n := range []int64{0, 1, 7, 8, 9, 1000} {
		if err := iotest.TestReader(&ContentReader{Size: n}, content(int(n))); err != nil {
			t.Errorf("size %d: %v", n, err)
		}
	}
	r := &ContentReader{Size: 10}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("a place before the start was accepted")
	}
}

func TestContentCheck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := content(rapid.IntRange(1, 3000).Draw(t, "length"))
		pieces := func(b []byte) *ContentCheck {
			var c ContentCheck
			for len(b) > 0 {
				n := rapid.IntRange(1, len(b)).Draw(t, "piece")
				if m, err := c.Write(b[:n]); m != n || err != nil {
					t.Fatalf("write: %d of %d, %v", m, n, err)
				}
				b = b[n:]
			}
			return &c
		}
		if c := pieces(b); c.Corrupt || c.N != int64(len(b)) {
			t.Fatalf("the content itself: %d bytes, corrupt %v", c.N, c.Corrupt)
		}
		bad := bytes.Clone(b)
		bad[rapid.IntRange(0, len(b)-1).Draw(t, "place")] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		if !pieces(bad).Corrupt {
			t.Fatal("a changed byte was not seen")
		}
	})
}

// Lost, repeated and swapped pieces show, also when they are of whole words.
func TestContentCheckSeesShifts(t *testing.T) {
	b := content(64)
	for name, bad := range map[string][]byte{
		"lost":     append(bytes.Clone(b[:16]), b[24:]...),
		"repeated": append(bytes.Clone(b[:24]), b[16:]...),
		"swapped":  append(append(bytes.Clone(b[:16]), b[24:32]...), append(bytes.Clone(b[16:24]), b[32:]...)...),
	} {
		var c ContentCheck
		if _, err := c.Write(bad); err != nil || !c.Corrupt {
			t.Errorf("%s: not seen, %v", name, err)
		}
	}
}
