package story

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What was cleaned is printable, whatever it was; what was printable stays as it
// is, but for the backslash.
func TestCleanIsPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		for _, r := range clean(string(b)) {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q has %U", b, r)
			}
		}
		s := rapid.StringMatching(`[ -\[\]-~éß€]{0,100}`).Draw(t, "text")
		if clean(s) != s {
			t.Fatalf("%q became %q", s, clean(s))
		}
	})
}

func TestCleanIsBounded(t *testing.T) {
	got := clean(strings.Repeat("x", 5000))
	if want := strings.Repeat("x", longest) + "… (4800 bytes more)"; got != want {
		t.Errorf("%s", got)
	}
}

// Escaping JSON keeps its meaning.
func TestEscapeJSONKeepsMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		escaped := escapeJSON(b)
		for _, r := range string(escaped) {
			if !unicode.IsPrint(r) && r != utf8.RuneError {
				t.Fatalf("%q has %U", escaped, r)
			}
		}
		var got string
		if err := json.Unmarshal(escaped, &got); err != nil || got != s {
			t.Fatalf("%q became %q, %v", s, got, err)
		}
	})
}

// Lines keep to the width, and lose nothing but spaces.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-z世界 ]{0,200}`).Draw(t, "text")
		n := rapid.IntRange(8, 80).Draw(t, "width")
		lines := wrap(s, n)
		for _, l := range lines {
			if width(l) > n {
				t.Fatalf("%q has %d columns, want %d", l, width(l), n)
			}
		}
		if got, want := strings.ReplaceAll(strings.Join(lines, ""), " ", ""), strings.ReplaceAll(s, " ", ""); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}
