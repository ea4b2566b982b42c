package cli

import (
	"bytes"
	"testing"

	"github.com/samewire/samewire/internal/stats"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"40 ms │ a\tb\n":          "40 ms │ a\tb\n",
		"\x1b]0;x\x07\r\x08":      `\x1b]0;x\a\r\b`,
		"\u009b31m \u202e \u2028": `\u009b31m \u202e \u2028`,
		"\xff":                    `\xff`,
	} {
		if got := printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// What a terminal would obey does not reach it, in an error or a table.
func TestNoEscapeSequences(t *testing.T) {
	var out, errs bytes.Buffer
	if got := run([]string{"show", "no\x1b[31m"}, streams{nil, &out, &errs}); got != exitFailed {
		t.Errorf("exit status %d", got)
	}
	if err := (loaded{out: stats.Output{Study: "a\x1b]0;x\x07"}}).print(&out, formatText); err != nil {
		t.Fatal(err)
	}
	if b := append(out.Bytes(), errs.Bytes()...); bytes.ContainsAny(b, "\x1b\x07") {
		t.Errorf("%q", b)
	}
}

func TestColoursPass(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[1mbold\x1b[0m":    "\x1b[1mbold\x1b[0m",
		"\x1b[31mred\x1b[2Jx":   `\x1b[31mred\x1b[2Jx`,
		"\x1b[33m\x1b]0;x\x07a": "\x1b[33m" + `\x1b]0;x\aa`,
	} {
		if got := printableColour(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
