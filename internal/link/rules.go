package link

import (
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// rule is an exact rule at work.
type rule struct {
	lab.Rule
	from stream // of its share

	opened   bool          // the window is open, or was
	since    time.Duration // when it opened
	counted  int           // packets that matched in the window
	multiple int64         // the last multiple of Period that took a packet
}

// newRules makes the rules of direction d. They are texts that have been read
// before: what lab.ParseRules refuses is a fault of the caller.
func newRules(text lab.Rules, key uint64) []*rule {
	parsed, err := lab.ParseRules(text)
	if err != nil {
		panic("link: a path with rules that nobody has read: " + err.Error())
	}
	rules := make([]*rule, len(parsed))
	for i, r := range parsed {
		rules[i] = &rule{Rule: r, from: newStream(key, forRules+purpose(i)), opened: r.After == 0, since: r.From}
	}
	return rules
}

// reads says that the rule must know more of a packet than its size.
func (r *rule) reads() bool { return r.Transport != "" || r.Kind != "" || r.Verb == lab.RuleReject }

// takes says whether the rule takes a packet. It must be called for each packet
// that comes to the rules, even when an earlier rule has taken it.
func (r *rule) takes(now time.Duration, i index, packet []byte, h *headers) bool {
	if !r.within(now) || !r.matches(packet, h) {
		return false
	}
	r.counted++
	switch {
	case r.Share > 0:
		return r.from.uniform(i) < r.Share
	case r.Every > 0:
		return r.counted%r.Every == 0
	case r.Period > 0:
		return r.falls(now)
	case len(r.Nth) > 0:
		_, found := slices.BinarySearch(r.Nth, r.counted)
		return found
	default:
		return true
	}
}

func (r *rule) within(now time.Duration) bool {
	switch {
	case !r.opened || now < r.since:
		return false
	case r.To > 0 && now >= r.To, r.For > 0 && now >= r.since+r.For:
		return false
	default:
		return true
	}
}

func (r *rule) matches(packet []byte, h *headers) bool {
	if len(packet) <= r.Above {
		return false
	}
	if r.Transport != "" && h.transport() != r.Transport {
		return false
	}
	return r.Kind == "" || h.kind(packet) == r.Kind
}

// falls says that the packet is the first since a multiple of the period that
// lies in the window.
func (r *rule) falls(now time.Duration) bool {
	multiple := int64(now / r.Period)
	if multiple <= r.multiple || time.Duration(multiple)*r.Period < r.since {
		return false
	}
	r.multiple = multiple
	return true
}

// reason is why a packet that the rule took was dropped.
func (r *rule) reason() lab.Reason {
	switch r.Verb {
	case lab.RuleReject:
		return lab.DropReject
	case lab.RuleOutage:
		return lab.DropOutage
	default:
		return lab.DropRule
	}
}

// ruled is the reason for which the first rule that takes the packet drops it.
func ruled(rules []*rule, now time.Duration, i index, packet []byte, h *headers) lab.Reason {
	var reason lab.Reason
	for _, r := range rules {
		if r.takes(now, i, packet, h) && reason == lab.NotDropped {
			reason = r.reason()
		}
	}
	return reason
}

// counter counts the bytes offered to a direction, and opens the windows that
// wait for them.
type counter struct {
	bytes   int64
	waiting []*rule // of either direction
}

func (c *counter) add(now time.Duration, size int) {
	c.bytes += int64(size)
	if len(c.waiting) == 0 {
		return
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(r *rule) bool {
		if c.bytes >= r.After {
			r.opened, r.since = true, now
		}
		return r.opened
	})
}
