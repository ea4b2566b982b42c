package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseRule reads a rule (stand-in).
func ParseRule(s string) (r Rule, err error) {
	f := strings.Fields(s)
	take := func() string {
		if len(f) == 0 {
			return ""
		}
		w := f[0]
		f = f[1:]
		return w
	}
	r.Verb = RuleVerb(take())
	for len(f) > 0 && err == nil {
		switch w := take(); {
		case w == "udp" || w == "tcp":
			r.Transport = Transport(w)
		case slices.Contains([]string{"syn", "initial", "0rtt", "handshake", "retry", "1rtt"}, w):
			r.Kind = PacketKind(w)
		case w == "above":
			var n int64
			n, err = ParseSize(take())
			r.Above = int(n)
		case w == "every":
			n := take()
			if r.Every, err = strconv.Atoi(n); err != nil {
				r.Period, err = parseSpan(n)
			}
		case w == "nth":
			for _, n := range strings.Split(take(), ",") {
				var k int
				if k, err = strconv.Atoi(n); err != nil {
					break
				}
				r.Nth = append(r.Nth, k)
			}
		case w == "from":
			r.From, err = parseTime(take())
		case w == "to":
			r.To, err = parseTime(take())
		case w == "after":
			r.After, err = ParseSize(take())
			if len(f) > 0 && (f[0] == "up" || f[0] == "down") {
				if take() == "down" {
					r.Direction = Down
				}
			}
		case w == "for":
			r.For, err = parseSpan(take())
		case strings.HasSuffix(w, "%"):
			r.Share, err = ParseShare(w)
		default:
			err = fmt.Errorf("%q is not known", w)
		}
	}
	if err == nil && !slices.Contains(RuleVerbs(), r.Verb) {
		err = fmt.Errorf("%q is not known", string(r.Verb))
	}
	return r, err
}

func (r Rule) String() string {
	w := []string{string(r.Verb)}
	add := func(is bool, words ...string) {
		if is {
			w = append(w, words...)
		}
	}
	add(r.Transport != "", string(r.Transport))
	add(r.Kind != "", string(r.Kind))
	add(r.Above != 0, "above", FormatSize(int64(r.Above)))
	add(r.Share != 0, FormatShare(r.Share))
	add(r.Every != 0, "every", strconv.Itoa(r.Every))
	add(r.Period != 0, "every", FormatDuration(r.Period))
	var nth []string
	for _, n := range r.Nth {
		nth = append(nth, strconv.Itoa(n))
	}
	add(len(nth) > 0, "nth", strings.Join(nth, ","))
	add(r.From != 0 || r.To != 0, "from", FormatDuration(r.From))
	add(r.To != 0, "to", FormatDuration(r.To))
	add(r.After != 0, "after", FormatSize(r.After))
	add(r.After != 0 && r.Direction == Down, "down")
	add(r.After != 0 && r.Direction == Up, "up")
	add(r.For != 0, "for", FormatDuration(r.For))
	return strings.Join(w, " ")
}
