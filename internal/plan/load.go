package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// The most that one load may have.
const (
	maxObjects     = 100_000
	maxConnections = 1000
)

var loadWords = grammar{
	{name: "objects"}, {name: "size"}, {name: "warm", flag: true}, {name: "idle"}, {name: "upload", flag: true},
	{name: "connections"}, {name: "h1"}, {name: "h2"}, {name: "h3"},
}

// load reads a load out of a mapping or a one-line notation such as
// "objects 10 size 8KiB warm connections{h1 6 h2 1}".
func (t *text) load(name string, n *node) lab.Load {
	if n.kind == scalar {
		n = t.notation(n, loadWords)
	}
	before, idle := len(t.faults), place{}
	load := lab.Load{Name: name, Objects: 1}
	t.fields(n, "a load", []field{
		{"objects", read(t, "objects", number(1, maxObjects), func(v int) { load.Objects = v })},
		{"size", read(t, "size", parseObjectSize, func(v int64) { load.Size = v })},
		{"warm", read(t, "warm", parseBool, func(v bool) { load.Warm = v })},
		{"idle", func(n *node) {
			idle = n.at
			read(t, "idle", parseIdle, func(v time.Duration) { load.Idle = v })(n)
		}},
		{"upload", read(t, "upload", parseBool, func(v bool) { load.Upload = v })},
		{"connections", func(n *node) { t.connections(n, &load.Connections) }},
	})
	if load.Size == 0 && len(t.faults) == before {
		t.fault(n.at, "a load needs a size, such as size: 8KiB")
	}
	if load.Idle > 0 && !load.Warm {
		t.fault(idle, "idle: only connections that are open already can rest: say warm, too")
	}
	return load
}

func parseIdle(s string) (time.Duration, error) {
	d, err := lab.ParseDuration(s)
	if err != nil {
		return 0, err
	}
	if d < 0 || d > lab.MaxIdle {
		return 0, fmt.Errorf("duration %q: must be from 0 to %s", s, lab.MaxIdle)
	}
	return d, nil
}

// connections is one number for all protocols, or one for each.
func (t *text) connections(n *node, to *lab.Connections) {
	parse := number(1, maxConnections)
	if n.kind == scalar {
		read(t, "connections", parse, func(v int) { *to = lab.Connections{H1: v, H2: v, H3: v} })(n)
		return
	}
	t.fields(n, "connections", []field{
		{"h1", read(t, "h1", parse, func(v int) { to.H1 = v })},
		{"h2", read(t, "h2", parse, func(v int) { to.H2 = v })},
		{"h3", read(t, "h3", parse, func(v int) { to.H3 = v })},
	})
}

// FormatLoad writes a load, without its name, in the one-line notation that
// studies take.
func FormatLoad(l lab.Load) string {
	words := []string{"objects", strconv.Itoa(l.Objects), "size", lab.FormatSize(l.Size)}
	if l.Warm {
		words = append(words, "warm")
	}
	if l.Idle > 0 {
		words = append(words, "idle", lab.FormatDuration(l.Idle))
	}
	if l.Upload {
		words = append(words, "upload")
	}
	c := l.Connections
	switch {
	case c == lab.Connections{}:
	case c.H1 == c.H2 && c.H2 == c.H3:
		words = append(words, "connections", strconv.Itoa(c.H1))
	default:
		var each []string
		for _, v := range []struct {
			name string
			n    int
		}{{"h1", c.H1}, {"h2", c.H2}, {"h3", c.H3}} {
			if v.n > 0 {
				each = append(each, v.name+" "+strconv.Itoa(v.n))
			}
		}
		words = append(words, "connections{"+strings.Join(each, " ")+"}")
	}
	return strings.Join(words, " ")
}

func parseObjectSize(s string) (int64, error) {
	n, err := lab.ParseSize(s)
	if err != nil {
		return 0, err
	}
	if n < 1 {
		return 0, fmt.Errorf("size %q: must be at least 1B", s)
	}
	return n, nil
}

func parseBool(s string) (bool, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%q: must be true or false", s)
}

// number makes the parser of a whole number in a range.
func number(low, high int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("%q: must be a whole number from %d to %d", s, low, high)
		}
		return n, nil
	}
}
