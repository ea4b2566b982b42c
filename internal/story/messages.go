package story

import (
	"fmt"
	"strings"

	"github.com/samewire/samewire/internal/wire"
)

// said is one or more messages of the same words in a row.
type said struct {
	message wire.Message
	whole   bool // a request or response that begins and ends here
	streams []uint64
}

// messages names the messages that a packet completed. Requests and responses of
// one kind in a row are one part.
func messages(list []wire.Message, most int) (parts []string) {
	var all []said
	for i := 0; i < len(list); i++ {
		m := list[i]
		s := said{message: m, streams: []uint64{m.Stream}}
		if i+1 < len(list) && wholeOf(m.Kind) == list[i+1].Kind && m.Stream == list[i+1].Stream {
			s.whole = true
			i++
		}
		if n := len(all); n > 0 && isHTTP(m.Kind) && all[n-1].message.Kind == m.Kind && all[n-1].whole == s.whole && all[n-1].message.Early == m.Early {
			all[n-1].streams = append(all[n-1].streams, m.Stream)
			continue
		}
		all = append(all, s)
	}
	for i, s := range all {
		if i == most {
			return append(parts, "and "+plural(len(all)-i, "message more", "messages more"))
		}
		parts = append(parts, s.words())
	}
	return parts
}

// wholeOf is the kind that makes one that begins whole.
func wholeOf(k wire.MessageKind) wire.MessageKind {
	switch k {
	case wire.RequestStart:
		return wire.RequestEnd
	case wire.ResponseStart:
		return wire.ResponseEnd
	}
	return "nothing"
}

func isHTTP(k wire.MessageKind) bool {
	switch k {
	case wire.RequestStart, wire.RequestEnd, wire.ResponseStart, wire.ResponseEnd:
		return true
	}
	return false
}

func (s said) words() string {
	m := s.message
	text := clean(string(m.Kind))
	switch {
	case isHTTP(m.Kind):
		text = s.exchange()
	case m.Kind == wire.OtherMessage:
		text = orElse(clean(m.Note), "a message")
	case m.Kind == wire.ApplicationData:
		text = "encrypted record"
	case m.Note != "" && m.Note != string(m.Kind):
		text += " (" + clean(m.Note) + ")"
	}
	if m.Early {
		text += " as early data"
	}
	return text
}

// exchange names requests or responses: "request 0", "responses 4, 8 begin".
func (s said) exchange() string {
	noun, verb := "request", "begin"
	switch s.message.Kind {
	case wire.ResponseStart, wire.ResponseEnd:
		noun = "response"
	}
	switch s.message.Kind {
	case wire.RequestEnd, wire.ResponseEnd:
		verb = "end"
	}
	if len(s.streams) > 1 {
		noun += "s"
	} else {
		verb += "s"
	}
	if s.whole {
		return noun + " " + streams(s.streams)
	}
	return noun + " " + streams(s.streams) + " " + verb
}

// streams lists the streams of messages, the middle of a long list left out.
func streams(list []uint64) string {
	if len(list) > 4 {
		return fmt.Sprintf("%d, %d … %d (%d)", list[0], list[1], list[len(list)-1], len(list))
	}
	var names []string
	for _, n := range list {
		names = append(names, fmt.Sprint(n))
	}
	return strings.Join(names, ", ")
}
