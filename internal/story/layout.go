package story

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// narrow measures text as terminals outside East Asia show it, whatever the
// locale says.
var narrow = &runewidth.Condition{StrictEmojiNeutral: true}

func width(s string) int { return narrow.StringWidth(s) }

func padLeft(s string, n int) string  { return strings.Repeat(" ", max(n-width(s), 0)) + s }
func padRight(s string, n int) string { return s + strings.Repeat(" ", max(n-width(s), 0)) }

// shorten cuts text to n columns, with a mark where it was cut.
func shorten(s string, n int) string {
	if width(s) <= n {
		return s
	}
	return narrow.Truncate(s, n, "…")
}

// wrap breaks text into lines of at most n columns: between words where that can
// be, else within one.
func wrap(text string, n int) []string {
	n = max(n, 8)
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for width(word) > n {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := narrow.Truncate(word, n, "")
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= n:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// painter colours text, or leaves it as it is.
type painter struct{ on bool }

func (p painter) bold(s string) string  { return p.paint("1", s) }
func (p painter) faint(s string) string { return p.paint("2", s) }
func (p painter) bad(s string) string   { return p.paint("31", s) }
func (p painter) warn(s string) string  { return p.paint("33", s) }

func (p painter) paint(code, s string) string {
	if !p.on || strings.TrimSpace(s) == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// grid is a small table: its first row is the head, its first column the labels.
type grid [][]string

func (g grid) widths() (widths []int) {
	for _, row := range g {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(cell))
		}
	}
	return widths
}

func (g grid) write(p *page) {
	widths := g.widths()
	for _, row := range g {
		s := "  "
		for i, cell := range row {
			if i == 0 {
				s += padRight(cell, widths[0])
				continue
			}
			s += "  " + padLeft(cell, widths[i])
		}
		for i, l := range wrapKeep(s, p.width) {
			if i > 0 {
				l = "    " + l
			}
			p.line(l)
		}
	}
}

// wrapKeep leaves a line that fits as it is, with its columns.
func wrapKeep(s string, n int) []string {
	if width(s) <= n {
		return []string{s}
	}
	lines := wrap(s, n-4)
	lines[0] = "  " + lines[0]
	return lines
}
