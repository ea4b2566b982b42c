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
		if isHTTP(m.Kind) || m.Kind == wire.OtherMessage && isFrame(m.Note) {
			return "HTTP"
		}
		name = "TLS"
	}
	return name
}

// isFrame says whether a note is of HTTP/2: a frame's name, such as "SETTINGS
// ack", or the client's preface. TLS's messages have small letters, too.
func isFrame(note string) bool {
	word, _, _ := strings.Cut(note, " ")
	return word == "preface" || word != "" && word == strings.ToUpper(word)
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

// packets names the QUIC packets of a datagram.
func packets(list []quic.Packet) string {
	var names []string
	for i, p := range list {
		if i == 4 {
			names = append(names, plural(len(list)-i, "packet more", "packets more"))
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
