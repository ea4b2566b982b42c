package story

import (
	"fmt"
	"strings"

	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// what says what a packet is, such as "TCP SYN" or "Initial[0] + Handshake[0]",
// and what it carried, in parts.
func what(e *wire.Event, most int) (title string, parts []string) {
	parts = messages(e.Messages, most)
	switch {
	case len(e.QUIC) > 0:
		title, parts = packets(e.QUIC), append(parts, frames(e.QUIC, most)...)
	case e.IP.Proto == ip.ProtoTCP:
		title, parts = protocol(e)+flags(e.IP.TCP.Flags), append(parts, segment(e)...)
	case e.IP.Proto == ip.ProtoUDP:
		title, parts = "UDP", append(parts, fmt.Sprintf("%d B of no known protocol", e.IP.Size))
	case e.IP.Proto == ip.ProtoICMP || e.IP.Proto == ip.ProtoICMPv6:
		title = "ICMP"
	case e.IP.Version != 0:
		title = fmt.Sprintf("IP protocol %d", e.IP.Proto)
	default:
		title = "a packet"
	}
	if e.Again > 0 {
		parts = append(parts, again(e))
	}
	if e.Problem != "" {
		parts = append(parts, "not decodable: "+clean(e.Problem))
	}
	return title, append(parts, fate(e)...)
}

// protocol is the highest one that a segment shows.
func protocol(e *wire.Event) string {
	name := "TCP"
	for _, m := range e.Messages {
		if isHTTP(m.Kind) {
			return "HTTP"
		}
		name = "TLS"
	}
	return name
}

func again(e *wire.Event) string {
	if e.New == 0 {
		return "sent before"
	}
	return bytesOf(int64(e.Again)) + " of it sent before"
}

// fate says what the link did to a packet besides dropping it.
func fate(e *wire.Event) (parts []string) {
	for _, f := range []struct {
		is   bool
		text string
	}{
		{e.Fate.Duplicated, "the link duplicated it"}, {e.Fate.Corrupted, "the link corrupted it"},
		{e.Fate.Reordered, "let pass without its delay"}, {e.Fate.Marked, "marked with congestion experienced"},
	} {
		if f.is {
			parts = append(parts, f.text)
		}
	}
	return parts
}

func flags(f byte) (s string) {
	if f&ip.ACK != 0 && f&(ip.SYN|ip.FIN|ip.RST) == 0 {
		return ""
	}
	for _, n := range []struct {
		flag byte
		name string
	}{{ip.SYN, "SYN"}, {ip.FIN, "FIN"}, {ip.RST, "RST"}, {ip.ACK, "ACK"}} {
		if f&n.flag != 0 {
			s += " " + n.name
		}
	}
	return s
}

// segment says what a TCP header means.
func segment(e *wire.Event) (parts []string) {
	t := e.IP.TCP
	if t.Flags&ip.SYN != 0 && t.MSS > 0 {
		parts = append(parts, fmt.Sprintf("MSS %d", t.MSS))
	}
	if e.IP.Size > 0 {
		parts = append(parts, fmt.Sprintf("data +%d at %d", e.IP.Size, e.Offset))
	}
	if e.AckOffset >= 0 && t.Flags&ip.ACK != 0 && t.Flags&ip.SYN == 0 {
		parts = append(parts, fmt.Sprintf("ACK %d", e.AckOffset))
	}
	if list := sacks(e); len(list) > 0 {
		var blocks []string
		for _, b := range list {
			blocks = append(blocks, fmt.Sprintf("%d–%d", b[0], b[1]))
		}
		parts = append(parts, "SACK "+strings.Join(blocks, ", "))
	}
	if t.Window == 0 && t.Flags&(ip.RST|ip.SYN) == 0 {
		parts = append(parts, "window 0")
	}
	if t.Flags&ip.ECE != 0 && t.Flags&ip.SYN == 0 {
		parts = append(parts, "congestion echoed (ECE)")
	}
	return parts
}

// messages names the messages that a packet completed. Those of one kind in a
// row are one part.
func messages(list []wire.Message, most int) (parts []string) {
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n].Kind == list[i].Kind && list[i].Kind != wire.OtherMessage && isHTTP(list[i].Kind) {
			n++
		}
		if len(parts) == most {
			return append(parts, fmt.Sprintf("and %d messages more", len(list)-i))
		}
		parts = append(parts, message(list[i:i+n]))
		i += n
	}
	return parts
}

func isHTTP(k wire.MessageKind) bool {
	switch k {
	case wire.RequestStart, wire.RequestEnd, wire.ResponseStart, wire.ResponseEnd:
		return true
	}
	return false
}

// message names messages of one kind in a row.
func message(list []wire.Message) string {
	m := list[0]
	text := clean(string(m.Kind))
	switch {
	case isHTTP(m.Kind):
		text = map[wire.MessageKind]string{
			wire.RequestStart: "request %s begins", wire.RequestEnd: "request %s ends",
			wire.ResponseStart: "response %s begins", wire.ResponseEnd: "response %s ends",
		}[m.Kind]
		if len(list) > 1 {
			text = strings.NewReplacer("request ", "requests ", "response ", "responses ", "begins", "begin", "ends", "end").Replace(text)
		}
		text = fmt.Sprintf(text, streams(list))
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

// streams lists the streams of messages, the middle of a long list left out.
func streams(list []wire.Message) string {
	if len(list) > 4 {
		return fmt.Sprintf("%d, %d … %d (%d)", list[0].Stream, list[1].Stream, list[len(list)-1].Stream, len(list))
	}
	var names []string
	for _, m := range list {
		names = append(names, fmt.Sprint(m.Stream))
	}
	return strings.Join(names, ", ")
}

// packets names the QUIC packets of a datagram.
func packets(list []quic.Packet) string {
	var names []string
	for i, p := range list {
		if i == 4 {
			names = append(names, fmt.Sprintf("%d packets more", len(list)-i))
			break
		}
		name := clean(string(p.Kind))
		if p.Opened {
			name += fmt.Sprintf("[%d]", p.Number)
		}
		names = append(names, name)
	}
	return strings.Join(names, " + ")
}
