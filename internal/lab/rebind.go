package lab

import (
	"fmt"
	"strings"
	"time"
)

// String writes the rebinding as ParseRebind reads it; the zero Rebind is empty.
func (r Rebind) String() string {
	if r == (Rebind{}) {
		return ""
	}
	var words []string
	if r.Address {
		words = append(words, "address")
	}
	if r.Transport != "" {
		words = append(words, string(r.Transport))
	}
	for _, t := range []struct{ word, text string }{{"at", positive(r.At)}, {"every", positive(r.Every)}, {"idle", positive(r.Idle)}} {
		if t.text != "" {
			words = append(words, t.word, t.text)
		}
	}
	return strings.Join(words, " ")
}

// MarshalText is String.
func (r Rebind) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is ParseRebind.
func (r *Rebind) UnmarshalText(b []byte) (err error) {
	*r, err = ParseRebind(string(b))
	return err
}

// ParseRebind reads [port|address] [udp|tcp] [at TIME] [every TIME] [idle TIME],
// with one time at least. The error is a *ValueError.
func ParseRebind(s string) (r Rebind, err error) {
	v := newValues(s)
	if !v.word("port") {
		r.Address = v.word("address")
	}
	r.Transport = readTransport(v)
	for {
		v.tried = nil
		switch {
		case r.At == 0 && v.word("at"):
			r.At = next(v, "a time such as 5s", parseSpan)
		case r.Every == 0 && v.word("every"):
			r.Every = next(v, "a time such as 5s", parseSpan)
		case r.Idle == 0 && v.word("idle"):
			r.Idle = next(v, "a time such as 30s", parseSpan)
		default:
			if r.At+r.Every+r.Idle == 0 && len(v.parts) == 0 {
				v.fail("when is missing: want at, every or idle, each with a time")
			}
			return r, v.end()
		}
	}
}

// RebindInside are the words that can stand inside a rebinding.
func RebindInside() []string { return []string{"port", "address", "udp", "tcp", "at", "every", "idle"} }

// Handover is an outage of both directions after which the client has another
// address, as when a mobile host changes its network.
type Handover struct {
	At  time.Duration
	For time.Duration
}

// ParseHandover reads at TIME for TIME. The error is a *ValueError.
func ParseHandover(s string) (h Handover, err error) {
	v := newValues(s)
	if !v.word("at") {
		v.fail("want at TIME for TIME, such as at 5s for 300ms")
	}
	h.At = next(v, "a time such as 5s", parseTime)
	if !v.word("for") {
		v.fail("want for and a time, such as for 300ms")
	}
	h.For = next(v, "a time such as 300ms", parseSpan)
	if v.err == nil && h.At+h.For > MaxTime {
		v.err = &ValueError{v.last, fmt.Sprintf("%s: the handover must be over within %s", FormatDuration(h.At+h.For), FormatDuration(MaxTime))}
	}
	return h, v.end()
}

// HandoverInside are the words that can stand inside a handover.
func HandoverInside() []string { return []string{"at", "for"} }
