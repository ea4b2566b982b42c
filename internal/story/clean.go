package story

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How many runes of a text are shown to a person: of one that is a packet's own,
// and of a sentence that may quote one.
const (
	longest         = 200
	longestSentence = 4000
)

// clean makes text that came out of a packet safe to show: what is not printable
// (control characters, changes of the writing direction, broken UTF-8) is
// written as Go writes it in a string, and so is the backslash.
func clean(s string) string { return escape(s, longest) }

// sentence is clean for what samewire wrote itself, though it may quote a packet.
func sentence(s string) string { return escape(s, longestSentence) }

func escape(s string, most int) string {
	var b strings.Builder
	for n := 0; len(s) > 0; n++ {
		if n == most {
			fmt.Fprintf(&b, "… (%d bytes more)", len(s))
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\\':
			b.WriteString(`\\`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}

func sentences(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = sentence(s)
	}
	return out
}

func cleanAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(s)
	}
	return out
}

// escapeJSON writes runes that a terminal might obey, and which encoding/json
// leaves as they are, as JSON's \u: the text means the same. Such runes occur in
// strings only.
func escapeJSON(b []byte) []byte {
	if plainJSON(b) {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r >= 0x7f && !strconv.IsPrint(r) && r <= 0xffff {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else if r > 0xffff && !strconv.IsPrint(r) {
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		} else {
			out = append(out, b[:size]...)
		}
		b = b[size:]
	}
	return out
}

func plainJSON(b []byte) bool {
	for _, c := range b {
		if c >= 0x7f {
			return false
		}
	}
	return true
}
