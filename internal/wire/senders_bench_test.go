package wire

import (
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/quic"
)

// BenchmarkSenders has the facts of senders, bursts and usage of a long download,
// about 700,000 packets with a loss in each round trip.
func BenchmarkSenders(b *testing.B) {
	for _, transport := range []string{"tcp", "quic"} {
		r := download(transport)
		b.Run(transport, func(b *testing.B) {
			b.ReportMetric(float64(len(r.Events)), "packets")
			for b.Loop() {
				f := lab.Wire{Conversations: make([]lab.Conversation, 1)}
				r.senders(About{RTT: ms(40)}, &f)
				r.bursts(About{RTT: ms(40)}, &f)
				r.usage(About{RTT: ms(40)}, &f)
			}
		})
	}
}

// download makes a long download, without looking for what was sent before.
func download(transport string) *Reading {
	h := byHand(transport)
	const flight, flights = 1000, 350
	send := func(at float64, n, number int) {
		if transport == "tcp" {
			i := h.event(lab.Down, at, at+20, mss+52, mss)
			h.c.Sent[lab.Down] = append(h.c.Sent[lab.Down], Sent{Event: i, Number: uint64(1 + n*mss), Bytes: mss, New: mss, Acked: ms(at + 40)})
			return
		}
		i := h.event(lab.Down, at, at+20, quicSize+28, quicSize)
		h.events[i].QUIC = []quic.Packet{{
			Kind: quic.OneRTT, Opened: true, Number: uint64(number), Size: quicSize,
			Frames: []quic.Frame{{Kind: quic.Stream, Offset: uint64(n) * 1000, Length: 1000}},
		}}
		h.c.Sent[lab.Down] = append(h.c.Sent[lab.Down], Sent{Event: i, Number: uint64(number), Space: 2, Bytes: quicSize, New: 1000, Acked: ms(at + 40)})
	}
	number := 0
	for k := range flights {
		at := float64(40 * k)
		for n := range flight {
			send(at+float64(n)/50, k*flight+n, number)
			number++
			e := h.event(lab.Up, at+float64(n)/50+20, at+float64(n)/50+40, 60, 0)
			h.c.Acks[lab.Down] = append(h.c.Acks[lab.Down], Acked{Event: e, At: ms(at + float64(n)/50 + 40), Offset: int64(1 + (k*flight+n+1)*mss)})
		}
		send(at+30, k*flight+flight/2, number) // again
		number++
	}
	return h.reading()
}
