package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// printable makes text safe for a terminal, whatever names of a foreign record
// folder or study it quotes: what a terminal might obey is written as Go writes
// it in a string. Lines and tabs stay.
func printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n' || r == '\t' || strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}

// colours are the sequences that a report may have on a terminal.
var colours = []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[33m"}

// printableColour is printable, but lets the report's colours pass. All that a
// foreign name can do with them is to be bold.
func printableColour(s string) string {
	var b strings.Builder
	for s != "" {
		at, colour := len(s), ""
		for _, c := range colours {
			if i := strings.Index(s, c); i >= 0 && i < at {
				at, colour = i, c
			}
		}
		b.WriteString(printable(s[:at]) + colour)
		s = s[at+len(colour):]
	}
	return b.String()
}
