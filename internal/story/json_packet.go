package story

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// Packet is one packet, read.
type Packet struct {
	Number     int      `json:"number"`     // in the run, from 1, both directions together
	Connection *int     `json:"connection"` // index into connections; null: of none
	Direction  string   `json:"direction"`
	Sent       float64  `json:"sent"`     // s since the load's start
	Received   *float64 `json:"received"` // null: not delivered
	Waited     float64  `json:"waited"`   // s in the queue
	Sending    float64  `json:"sending"`  // s that the link transmitted it
	Size       int      `json:"size"`     // bytes of the IP packet
	Kept       int      `json:"kept"`     // of them in the capture
	Drop       *string  `json:"drop"`     // why the link dropped it; null: it did not
	Duplicated bool     `json:"duplicated"`
	Corrupted  bool     `json:"corrupted"`
	Reordered  bool     `json:"reordered"`
	Marked     bool     `json:"marked"`
	ECN        int      `json:"ecn"` // 0 not capable, 1 and 2 capable, 3 congestion experienced
	What       string   `json:"what"`
	Problem    string   `json:"problem"` // what could not be read; empty: nothing
	New        int      `json:"new"`     // payload bytes that came for the first time
	Again      int      `json:"again"`   // that had been sent before

	TCP      *TCP      `json:"tcp"`  // null where it is none
	QUIC     []QUIC    `json:"quic"` // packets of the datagram; null where it has none
	Messages []Message `json:"messages"`
}

// TCP is a segment. Offsets count from its direction's SYN, which has 0.
type TCP struct {
	Flags   []string   `json:"flags"`
	Offset  int64      `json:"offset"`
	Payload int        `json:"payload"` // bytes
	Ack     *int64     `json:"ack"`     // offset of the other direction; null without ACK
	Window  int        `json:"window"`  // not scaled
	SACK    [][2]int64 `json:"sack"`    // offsets [from, to)
}

// Message is a message that the packet completed.
type Message struct {
	Kind   string `json:"kind"`
	Note   string `json:"note"`
	Stream uint64 `json:"stream"`
	Early  bool   `json:"early"`
	First  int    `json:"first"` // index of the packet that carried its first byte
}

// QUIC is one packet of a datagram.
type QUIC struct {
	Kind      string   `json:"kind"`
	Version   string   `json:"version"` // empty for 1-RTT
	DCID      string   `json:"dcid"`    // hexadecimal digits
	SCID      string   `json:"scid"`
	Token     int      `json:"token"`  // bytes
	Size      int      `json:"size"`   // bytes
	Number    *uint64  `json:"number"` // null: not opened
	KeyPhase  bool     `json:"key_phase"`
	Problem   string   `json:"problem"`
	Supported []string `json:"supported"` // versions that a VersionNegotiation names
	Frames    []Frame  `json:"frames"`
}

// Frame is one frame of RFC 9000. Fields that its kind does not have are absent.
type Frame struct {
	Kind     string      `json:"kind"`
	Stream   *uint64     `json:"stream,omitempty"`
	Offset   *uint64     `json:"offset,omitempty"`
	Length   *int        `json:"length,omitempty"`
	Fin      bool        `json:"fin,omitempty"`
	Max      *uint64     `json:"max,omitempty"` // also the final size of RESET_STREAM
	Uni      *bool       `json:"uni,omitempty"`
	Ranges   [][2]uint64 `json:"ranges,omitempty"` // acknowledged, both ends included
	Delay    *uint64     `json:"delay,omitempty"`  // as sent, not scaled
	ECN      *[3]uint64  `json:"ecn,omitempty"`
	Sequence *uint64     `json:"sequence,omitempty"`
	Retire   *uint64     `json:"retire,omitempty"`
	ID       string      `json:"id,omitempty"`
	Error    *uint64     `json:"error,omitempty"`
	App      bool        `json:"app,omitempty"`
	Reason   string      `json:"reason,omitempty"`
}

func packetOf(e *wire.Event, start time.Duration) Packet {
	title, parts := what(e, allParts)
	p := Packet{
		Number: e.N, Direction: e.Way.String(), Sent: (e.At - start).Seconds(), Received: when(e.Left, start),
		Waited: e.Waited.Seconds(), Sending: e.Sending.Seconds(), Size: e.Size, Kept: min(len(e.Data), e.Size),
		Duplicated: e.Fate.Duplicated, Corrupted: e.Fate.Corrupted, Reordered: e.Fate.Reordered, Marked: e.Fate.Marked,
		ECN: int(e.IP.ECN), What: row{title: title, parts: parts}.text(), Problem: e.Problem, New: e.New, Again: e.Again,
		TCP: tcpOf(e), QUIC: quicOf(e.QUIC), Messages: []Message{},
	}
	if e.Conn >= 0 {
		p.Connection = &e.Conn
	}
	if e.Fate.Drop != lab.NotDropped {
		reason := string(e.Fate.Drop)
		p.Drop = &reason
	}
	for _, m := range e.Messages {
		p.Messages = append(p.Messages, Message{string(m.Kind), m.Note, m.Stream, m.Early, m.First})
	}
	return p
}

func tcpOf(e *wire.Event) *TCP {
	if e.IP.Proto != ip.ProtoTCP {
		return nil
	}
	h := e.IP.TCP
	t := &TCP{Flags: []string{}, Offset: e.Offset, Payload: e.IP.Size, Window: int(h.Window), SACK: [][2]int64{}}
	for i, name := range []string{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"} {
		if h.Flags&(1<<i) != 0 {
			t.Flags = append(t.Flags, name)
		}
	}
	if h.Flags&ip.ACK != 0 && e.AckOffset >= 0 {
		t.Ack = &e.AckOffset
		t.SACK = append(t.SACK, sacks(e)...)
	}
	return t
}

// sacks are the blocks of SACK as offsets.
func sacks(e *wire.Event) (list [][2]int64) {
	t := e.IP.TCP
	for _, b := range t.SACK[:min(t.SACKs, len(t.SACK))] {
		left := e.AckOffset + int64(int32(b.Left-t.Ack))
		list = append(list, [2]int64{left, left + int64(b.Right-b.Left)})
	}
	return list
}

func quicOf(list []quic.Packet) []QUIC {
	var out []QUIC
	for i := range list {
		p := &list[i]
		q := QUIC{
			Kind: string(p.Kind), DCID: hex.EncodeToString(p.DCID), SCID: hex.EncodeToString(p.SCID), Token: p.Token,
			Size: p.Size, KeyPhase: p.KeyPhase, Problem: p.Problem, Supported: []string{}, Frames: []Frame{},
		}
		if p.Version != 0 {
			q.Version = version(p.Version)
		}
		for _, v := range p.Supported {
			q.Supported = append(q.Supported, version(v))
		}
		if p.Opened {
			q.Number = &p.Number
		}
		for j := range p.Frames {
			q.Frames = append(q.Frames, frameOf(&p.Frames[j]))
		}
		out = append(out, q)
	}
	return out
}

func frameOf(f *quic.Frame) Frame {
	out := Frame{Kind: string(f.Kind)}
	switch f.Kind {
	case quic.Ack:
		out.Delay, out.ECN = &f.Delay, f.ECN
		for _, r := range f.Ranges {
			out.Ranges = append(out.Ranges, [2]uint64{r.Smallest, r.Largest})
		}
	case quic.Stream:
		out.Stream, out.Offset, out.Length, out.Fin = &f.Stream, &f.Offset, &f.Length, f.Fin
	case quic.Crypto:
		out.Offset, out.Length = &f.Offset, &f.Length
	case quic.Padding, quic.NewToken, quic.Datagram:
		out.Length = &f.Length
	case quic.MaxData, quic.DataBlocked:
		out.Max = &f.Max
	case quic.MaxStreamData, quic.StreamDataBlocked:
		out.Stream, out.Max = &f.Stream, &f.Max
	case quic.MaxStreams, quic.StreamsBlocked:
		out.Max, out.Uni = &f.Max, &f.Uni
	case quic.ResetStream:
		out.Stream, out.Error, out.Max = &f.Stream, &f.Error, &f.Max
	case quic.StopSending:
		out.Stream, out.Error = &f.Stream, &f.Error
	case quic.NewConnectionID:
		out.Sequence, out.Retire, out.ID = &f.Sequence, &f.Retire, hex.EncodeToString(f.ID)
	case quic.RetireConnectionID:
		out.Sequence = &f.Sequence
	case quic.ConnectionClose:
		out.Error, out.App, out.Reason = &f.Error, f.App, strings.ToValidUTF8(f.Reason, "\uFFFD")
	}
	return out
}
