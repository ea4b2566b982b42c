package inproc

import (
	"fmt"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// InitCwnd is the initial window of this program's TCP, in segments.
func InitCwnd() int { return initCwnd }

// Pacing says whether this program's QUIC paces, as in lab.Stack.
func Pacing() string {
	if isPaced {
		return ""
	}
	return lab.PacingOff
}

// programName adds to a program's name what was changed in it, where it was rebuilt.
func programName(program string) string {
	if !isRebuilt || program == "" {
		return program
	}
	return program + " rebuilt: " + changes(initCwnd, isPaced)
}

// stockCwnd is the initial window of netstack as published.
const stockCwnd = 10

func changes(window int, paced bool) string {
	var list []string
	if window != stockCwnd {
		list = append(list, fmt.Sprintf("initial window %d", window))
	}
	if !paced {
		list = append(list, "without pacing")
	}
	if len(list) == 0 {
		return "nothing changed"
	}
	return strings.Join(list, ", ")
}
