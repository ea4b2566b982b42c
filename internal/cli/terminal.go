package cli

import (
	"os"

	"golang.org/x/term"
)

// terminalWidth is a terminal's number of columns; not ok where file is none.
func terminalWidth(file *os.File) (columns int, ok bool) {
	fd := int(file.Fd())
	if !term.IsTerminal(fd) {
		return 0, false
	}
	columns, _, err := term.GetSize(fd)
	if err != nil || columns <= 0 {
		return 80, true
	}
	return columns, true
}
