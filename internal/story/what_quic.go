package story

import (
	"fmt"
	"strings"

	"github.com/samewire/samewire/internal/wire/quic"
)

// frames says what the QUIC packets of a datagram carried, at most so many
// frames of each.
func frames(list []quic.Packet, most int) (parts []string) {
	for i := range list {
		own := packet(&list[i], most)
		if len(list) > 1 && len(own) > 0 {
			own[0] = clean(string(list[i].Kind)) + ": " + own[0]
		}
		parts = append(parts, own...)
	}
	return parts
}

func packet(p *quic.Packet, most int) (parts []string) {
	switch p.Kind {
	case quic.VersionNegotiation:
		return []string{versions(p.Supported)}
	case quic.Retry:
		return []string{fmt.Sprintf("token of %d B", p.Token)}
	}
	if p.Kind == quic.Initial && p.Token > 0 {
		parts = append(parts, fmt.Sprintf("token of %d B", p.Token))
	}
	if !p.Opened {
		return append(parts, fmt.Sprintf("%d B, not opened: %s", p.Size, orElse(clean(p.Problem), "no secrets")))
	}
	for i := range p.Frames {
		if i == most {
			parts = append(parts, "and "+plural(len(p.Frames)-i, "frame more", "frames more"))
			break
		}
		parts = append(parts, frame(&p.Frames[i], most))
	}
	if p.Problem != "" {
		parts = append(parts, "not read to its end: "+clean(p.Problem))
	}
	return parts
}

func versions(list []uint32) string {
	var names []string
	for i, v := range list {
		if i == 6 {
			names = append(names, "…")
			break
		}
		names = append(names, version(v))
	}
	return "supported: " + strings.Join(names, ", ")
}

// version writes a version of QUIC as people name it (RFC 9000, RFC 9369).
func version(v uint32) string {
	switch v {
	case 1:
		return "1"
	case 0x6b3343cf:
		return "2"
	}
	return fmt.Sprintf("0x%08x", v)
}

// frame says what a frame means. Data is written as +length, and where it
// stands in its stream unless that is the start.
func frame(f *quic.Frame, most int) string {
	name := clean(string(f.Kind))
	switch f.Kind {
	case quic.Ack:
		return name + " " + ranges(f.Ranges, most) + ecn(f.ECN)
	case quic.Padding:
		return fmt.Sprintf("%s %d", name, f.Length)
	case quic.Crypto:
		return name + " " + extent(f)
	case quic.Stream:
		text := fmt.Sprintf("%s %d %s", name, f.Stream, extent(f))
		if f.Fin {
			text += " FIN"
		}
		return text
	case quic.MaxData, quic.DataBlocked:
		return fmt.Sprintf("%s %s", name, exact(int64(f.Max)))
	case quic.MaxStreamData, quic.StreamDataBlocked:
		return fmt.Sprintf("%s %d: %s", name, f.Stream, exact(int64(f.Max)))
	case quic.MaxStreams, quic.StreamsBlocked:
		return fmt.Sprintf("%s %s %d", name, directions(f.Uni), f.Max)
	case quic.ResetStream:
		return fmt.Sprintf("%s %d error 0x%x, final size %d", name, f.Stream, f.Error, f.Max)
	case quic.StopSending:
		return fmt.Sprintf("%s %d error 0x%x", name, f.Stream, f.Error)
	case quic.NewConnectionID:
		return fmt.Sprintf("%s %d", name, f.Sequence)
	case quic.RetireConnectionID:
		return fmt.Sprintf("%s %d", name, f.Sequence)
	case quic.ConnectionClose:
		return closing(f)
	case quic.NewToken, quic.Datagram:
		return fmt.Sprintf("%s +%d", name, f.Length)
	}
	return name
}

func extent(f *quic.Frame) string {
	if f.Offset == 0 {
		return fmt.Sprintf("+%d", f.Length)
	}
	return fmt.Sprintf("+%d at %d", f.Length, f.Offset)
}

func directions(uni bool) string {
	if uni {
		return "one-way"
	}
	return "two-way"
}

func closing(f *quic.Frame) string {
	text := fmt.Sprintf("%s 0x%x", f.Kind, f.Error)
	if f.App {
		text += " by the application"
	}
	if f.Reason != "" {
		text += ` "` + clean(f.Reason) + `"`
	}
	return text
}

// ranges writes what is acknowledged, the highest first as in the frame.
func ranges(list []quic.Range, most int) string {
	var parts []string
	for i, r := range list {
		if i == most {
			parts = append(parts, "… "+plural(len(list)-i, "range more", "ranges more"))
			break
		}
		if r.Smallest == r.Largest {
			parts = append(parts, fmt.Sprint(r.Largest))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d-%d", r.Smallest, r.Largest))
	}
	return strings.Join(parts, ", ")
}

// ecn names the counts of an ACK that are not 0.
func ecn(counts *[3]uint64) string {
	if counts == nil {
		return ""
	}
	var parts []string
	for i, name := range []string{"ECT(0)", "ECT(1)", "CE"} {
		if counts[i] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[i], name))
		}
	}
	return " (ECN: " + orElse(strings.Join(parts, ", "), "none") + ")"
}
