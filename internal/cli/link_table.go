package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/samewire/samewire/internal/gauge"
)

// stateWords are the states as the table has them.
var stateWords = map[gauge.State]string{
	gauge.Holds: "ok", gauge.Fails: "FAILS", gauge.Unchecked: "unchecked", gauge.Told: "",
}

// printChecks prints checks as a table.
func printChecks(w io.Writer, checks []gauge.Check) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "check\tway\tasked\tmeasured\t±\tn\t\tnote")
	for _, c := range checks {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", c.Name, c.Direction,
			quantity(c.Asked, c.Unit), quantity(c.Measured, c.Unit), quantity(c.Tolerance, c.Unit), c.N, stateWords[c.State], c.Note)
	}
	_ = t.Flush()
}

// quantity writes a value with its unit; a share in percent.
func quantity(v *float64, unit string) string {
	if v == nil {
		return "–"
	}
	switch unit {
	case "s":
		return fmt.Sprintf("%.3f ms", *v*1e3)
	case "bit/s":
		return fmt.Sprintf("%.4g Mbit/s", *v/1e6)
	case "bool":
		if *v == 0 {
			return "no"
		}
		return "yes"
	case "1":
		return strconv.FormatFloat(math.Round(*v*1e6)/1e4, 'f', -1, 64) + " %"
	default:
		return strconv.FormatFloat(math.Round(*v*100)/100, 'f', -1, 64) + " " + unit
	}
}

// doing returns how to tell a person who waits what is being done, and how to
// take that away. Only a terminal is told.
func doing(w io.Writer) (show func(string), clear func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(string) {}, func() {}
	}
	const width = 60
	line := func(what string) {
		fmt.Fprintf(w, "\r%s\r%s", strings.Repeat(" ", width), what)
	}
	return func(what string) { line("measuring " + what + " …") }, func() { line("") }
}
