package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hunk is one place of a file that a patch changes.
type hunk struct {
	line     int // of the file as it was, from 1; 0: the file is new
	old, new []string
}

// change is what a patch does to one file.
type change struct {
	file  string
	hunks []hunk
}

// apply applies a unified diff to the files in dir. Each line that the patch leaves
// or takes away must be where the patch has it, or nothing is written to that file
// and there is an error: a patch that fits elsewhere by luck would be worse than none.
func apply(patch, dir string) error {
	changes, err := parse(patch)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := c.apply(filepath.Join(dir, filepath.FromSlash(c.file))); err != nil {
			return fmt.Errorf("%s: %w", c.file, err)
		}
	}
	return nil
}

func (c change) apply(path string) error {
	text, err := os.ReadFile(path)
	fresh := len(c.hunks) == 1 && c.hunks[0].line == 0
	switch {
	case fresh && err == nil:
		return errors.New("there already")
	case !fresh && err != nil:
		return err
	}
	lines, err := c.lines(strings.SplitAfter(string(text), "\n"))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644)
}

// lines returns the lines of the file as the patch has them.
func (c change) lines(was []string) (now []string, err error) {
	at := 0
	for _, h := range c.hunks {
		start := max(h.line-1, 0)
		if start < at || start+len(h.old) > len(was) {
			return nil, fmt.Errorf("line %d: no such place", h.line)
		}
		now = append(now, was[at:start]...)
		for i, want := range h.old {
			if got := was[start+i]; got != want {
				return nil, fmt.Errorf("line %d is %q, want %q", h.line+i, got, want)
			}
		}
		now = append(now, h.new...)
		at = start + len(h.old)
	}
	return append(now, was[at:]...), nil
}

// parse reads a unified diff.
func parse(patch string) (changes []change, err error) {
	var old, added int // lines of the hunk that are still to come
	for n, line := range strings.SplitAfter(patch, "\n") {
		switch {
		case old > 0 || added > 0:
			h := &changes[len(changes)-1].hunks[len(changes[len(changes)-1].hunks)-1]
			if err := h.add(line, &old, &added); err != nil {
				return nil, fmt.Errorf("patch, line %d: %w", n+1, err)
			}
		case strings.HasPrefix(line, "+++ b/"):
			changes = append(changes, change{file: strings.TrimSpace(line[len("+++ b/"):])})
		case strings.HasPrefix(line, "@@ ") && len(changes) > 0:
			var h hunk
			if h.line, old, added, err = place(line); err != nil {
				return nil, fmt.Errorf("patch, line %d: %w", n+1, err)
			}
			c := &changes[len(changes)-1]
			c.hunks = append(c.hunks, h)
		case line != "" && !strings.HasPrefix(line, "--- "):
			return nil, fmt.Errorf("patch, line %d: %q is no part of a unified diff", n+1, line)
		}
	}
	if len(changes) == 0 || old > 0 || added > 0 {
		return nil, errors.New("patch: it is cut short")
	}
	return changes, nil
}

// add takes a line of the patch into the hunk.
func (h *hunk) add(line string, old, added *int) error {
	if line == "" {
		return errors.New("it is cut short")
	}
	kind, text := line[0], line[1:]
	if kind != ' ' && kind != '-' && kind != '+' {
		return fmt.Errorf("%q is no line of a hunk", line)
	}
	if kind != '+' {
		h.old = append(h.old, text)
		*old--
	}
	if kind != '-' {
		h.new = append(h.new, text)
		*added--
	}
	if *old < 0 || *added < 0 {
		return errors.New("more lines than the hunk's head says")
	}
	return nil
}

// place reads the head of a hunk: "@@ -1287,7 +1287,7 @@". Patches here have both
// counts.
func place(head string) (line, old, added int, err error) {
	var to int
	if _, err := fmt.Sscanf(head, "@@ -%d,%d +%d,%d @@", &line, &old, &to, &added); err != nil {
		return 0, 0, 0, fmt.Errorf("%q is no head of a hunk: %w", head, err)
	}
	return line, old, added, nil
}
