package wire

import (
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"pgregory.net/rapid"
)

// Whatever is sent and acknowledged: what is in flight is never negative, and no
// more than was sent; each lost packet is counted once; there are no more
// recoveries than packets; a series is short and in order.
func TestSenderProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		transport := rapid.SampledFrom([]string{"tcp", "quic"}).Draw(t, "transport")
		h := byHand(transport)
		h.event(lab.Up, 0, 0, 60, 0) // both sides were captured
		at, lost, sent, bytes := 0.0, 0, 0, int64(0)
		for number := range rapid.IntRange(1, 120).Draw(t, "packets") {
			at += rapid.SampledFrom([]float64{0, 0, 0.01, 1, 40, 300}).Draw(t, "pause")
			n := rapid.IntRange(max(0, number-6), number+1).Draw(t, "segment")
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				h.ack(at, rapid.IntRange(0, n).Draw(t, "cumulative"), rapid.SliceOfN(rapid.IntRange(0, number), 0, 4).Draw(t, "others")...)
				continue
			}
			if transport == "tcp" {
				h.segment(at, n)
			} else {
				h.packet(at, number, n)
			}
			sent, bytes = sent+1, bytes+quicSize
			if rapid.IntRange(0, 4).Draw(t, "lost") == 0 {
				h.drop()
				lost++
			}
		}
		h.to = at + 1
		a := About{RTT: ms(40)}
		f := lab.Wire{Conversations: make([]lab.Conversation, 1)}
		r := h.reading()
		r.senders(a, &f)
		r.bursts(a, &f)
		r.usage(a, &f)
		if sent == 0 {
			return
		}
		b, u, s := f.Down.Bursts, f.Down.Usage, f.Conversations[0].Down
		if got := b.LostHead + b.LostMiddle + b.LostTail + b.LostAlone; got != lost || b.Share < 0 || b.Share > 1 {
			t.Fatalf("%d losses in bursts, want %d: %+v", got, lost, b)
		}
		if n := *s.Recoveries; n.Fast+n.RTO+n.TLP+n.PTO > sent || transport == "tcp" && n.PTO > 0 || transport == "quic" && n.RTO+n.TLP > 0 {
			t.Fatalf("%+v of %d packets of %s", n, sent, transport)
		}
		if *u.InFlightPeak > bytes || len(u.InFlight) > points {
			t.Fatalf("%d in flight of %d, %d points", *u.InFlightPeak, bytes, len(u.InFlight))
		}
		for i, l := range u.InFlight {
			if l.Bytes < 0 || l.Bytes > *u.InFlightPeak || i > 0 && l.At <= u.InFlight[i-1].At {
				t.Fatalf("%+v", u.InFlight)
			}
		}
	})
}
