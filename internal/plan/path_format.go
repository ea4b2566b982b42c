package plan

import (
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// FormatPath writes a path, without its name, as ParsePath reads it. What is
// the same in both directions stands outside up{…} and down{…}. A handover is
// written out.
func FormatPath(p lab.Path) string {
	var both, up, down []string
	delay := p.Up.Delay != p.RTT()/2
	if !delay {
		both = append(both, rttWord+" "+lab.FormatDuration(p.RTT()))
	}
	add := func(u, d string) {
		if u == d {
			both = join(both, u)
			return
		}
		up, down = join(up, u), join(down, d)
	}
	for _, w := range lab.Words() {
		if w.Name != "delay" {
			add(phrase(w, p.Up), phrase(w, p.Down))
		} else if delay {
			up = append(up, "delay "+lab.FormatDuration(p.Up.Delay))
			down = append(down, "delay "+lab.FormatDuration(p.Down.Delay))
		}
	}
	add(tracePhrase(p.Up), tracePhrase(p.Down))
	add(strings.Join(p.Up.Rules.List(), " "), strings.Join(p.Down.Rules.List(), " "))
	if p.Family == lab.IPv6 {
		both = append(both, familyWord+" "+string(p.Family))
	}
	if p.Rebind != (lab.Rebind{}) {
		both = append(both, rebindWord+" "+p.Rebind.String())
	}
	if len(up) > 0 {
		both = append(both, "up{"+strings.Join(up, " ")+"}")
	}
	if len(down) > 0 {
		both = append(both, "down{"+strings.Join(down, " ")+"}")
	}
	return strings.Join(both, " ")
}

func join(words []string, phrase string) []string {
	if phrase == "" {
		return words
	}
	return append(words, phrase)
}

// phrase writes a word with its value; nothing where the way has none.
func phrase(w lab.Word, way lab.Way) string {
	switch text := w.Text(way); {
	case text == "":
		return ""
	case w.Flag:
		return w.Name
	default:
		return w.Name + " " + text
	}
}

func tracePhrase(w lab.Way) string {
	if w.Trace == (lab.Trace{}) {
		return ""
	}
	return traceWord + " " + w.Trace.Name
}
